import Glibc

/// A failure of the spool itself, as opposed to a fault of one entry (a `SpoolRefusal`).
package enum SpoolError: Error, Equatable, CustomStringConvertible {
  /// A system call failed on a path of the spool or of an allowed folder.
  case system(call: String, path: String, code: Int32)
  /// Something other than a directory is in the place of one of the spool's directories.
  case notADirectory(path: String)
  /// Not a name that `SpoolDirectories.activeName` or `ticketName` makes.
  case notAnActiveName(String)
  /// A recipe's name is also the name of its hot folder, and this one can't be.
  case unusableRecipeName(String)
  /// A file was written to while it was copied.
  case changed(path: String)
  /// A file must be copied, and there isn't enough room.
  case noRoom(path: String, bytes: Int64, room: Int64)
  /// `corrupt/` has reached its limit of entries.
  case corruptIsFull(limit: Int)
  /// More files wait for the rest of their sets than are looked at.
  case tooManyMembers(path: String, limit: Int)
  /// Only absolute paths can be allowed folders.
  case allowedFolderNotAbsolute(String)
  /// `SpoolIntake.run()` was called while it was running.
  case alreadyRunning

  /// What happened, where, and what to do.
  package var description: String {
    switch self {
    case .system(let call, let path, let code):
      "\(call) on \(path) failed: \(String(cString: strerror(code))) (errno \(code)).\(SpoolError.advice(code))"
    case .notADirectory(let path):
      "\(path) is not a directory (a link to one doesn't count). Move it away; the daemon then creates the directory."
    case .notAnActiveName(let name):
      "“\(name)” is not the name of a file in active/: such a name is a job's number, a hyphen and the file's name."
    case .unusableRecipeName(let name):
      "The recipe “\(name)” can't have a hot folder: use up to 200 letters, digits, “-” and “_”, no dot at the start."
    case .changed(let path):
      "\(path) was written to while it was copied. The daemon examines it again."
    case .noRoom(let path, let bytes, let room):
      "\(path) takes \(bytes) bytes, and active/ has room for \(room). Free some space; the daemon then continues by itself."
    case .corruptIsFull(let limit):
      "corrupt/ has \(limit) entries, the limit set by corrupt_limit. Further refused entries stay where they are. Check "
        + "corrupt/ and remove what you don't need."
    case .tooManyMembers(let path, let limit):
      "\(path) has more than \(limit) files that wait for the rest of their sets; further ones are left alone. Remove what "
        + "won't be completed."
    case .allowedFolderNotAbsolute(let path):
      "The allowed folder “\(path)” is not an absolute path. Write it from “/”, without “..”."
    case .alreadyRunning:
      "The spool intake is already running. Start it only once."
    }
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case EACCES, EPERM: " Check the owner and mode: the daemon's user must be able to read and write there."
    case ENOSPC, EDQUOT: " Free some space; the daemon then continues by itself."
    case EROFS: " The file system is read-only. The daemon continues by itself when it becomes writable."
    case EMFILE, ENFILE: " Raise the limit on open files."
    default: ""
    }
  }

  /// Whether the cause isn't the current entry: the next one would fail, too.
  var concernsAll: Bool {
    guard let code else { return false }
    return [ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, ENOMEM, ESTALE, ENOTCONN].contains(code)
  }

  /// Whether there is no room on the disk.
  package var isFullDisk: Bool {
    if case .noRoom = self { return true }
    return code == ENOSPC || code == EDQUOT
  }

  /// The errno value, if a system call failed.
  var code: Int32? {
    if case .system(_, _, let code) = self { code } else { nil }
  }
}
