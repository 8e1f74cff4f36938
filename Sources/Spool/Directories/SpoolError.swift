import Glibc

/// What went wrong with the spool itself, as opposed to an entry of it (that is a `SpoolRefusal`).
package enum SpoolError: Error, Equatable, CustomStringConvertible {
  /// A call of the system failed on a path of the spool, or of an allowed folder.
  case system(call: String, path: String, code: Int32)
  /// Something else stands where a directory of the spool must be.
  case notADirectory(path: String)
  /// A file of that name is there already, and isn't overwritten.
  case occupied(path: String)
  /// The name isn't one that `SpoolDirectories.activeName` made.
  case notAnActiveName(String)
  /// A recipe's name is also its folder's name, and this one can't be.
  case unusableRecipeName(String)
  /// Somebody wrote to a file while it was copied.
  case changed(path: String)
  /// A file has to be copied, and there is less room than it takes.
  case noRoom(path: String, bytes: Int64, room: Int64)
  /// `corrupt/` has as many entries as it may have.
  case corruptIsFull(limit: Int)
  /// Only absolute paths can be allowed folders.
  case allowedFolderNotAbsolute(String)
  /// `SpoolIntake.run()` was called while it runs.
  case alreadyRunning

  /// What happened, where, and what to do.
  package var description: String {
    switch self {
    case .system(let call, let path, let code):
      "\(call) on \(path) failed: \(String(cString: strerror(code))) (errno \(code)).\(SpoolError.advice(code))"
    case .notADirectory(let path):
      "\(path) is not a directory (a link to one doesn't count). Move it away; the daemon then creates the directory."
    case .occupied(let path):
      "\(path) is there already and is not overwritten. Find out whose it is, and move it away."
    case .notAnActiveName(let name):
      "“\(name)” is not the name of a file in active/: those are a job's number, a hyphen and the file's name."
    case .unusableRecipeName(let name):
      "The recipe “\(name)” can't have a hot folder: use up to 200 letters, digits, “-” and “_”, no dot at the start."
    case .changed(let path):
      "\(path) was written to while it was copied. It is looked at again."
    case .noRoom(let path, let bytes, let room):
      "\(path) takes \(bytes) bytes, and active/ has room for \(room). Free some space; the spool goes on by itself."
    case .corruptIsFull(let limit):
      "corrupt/ has \(limit) entries, as many as corrupt_limit allows; what would be refused stays where it is. Look "
        + "through corrupt/ and remove what nobody needs."
    case .allowedFolderNotAbsolute(let path):
      "The allowed folder “\(path)” is not an absolute path. Write it from “/”, without “..”."
    case .alreadyRunning:
      "The spool intake is running already. Start it once."
    }
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case EACCES, EPERM: " Check owner and mode: the daemon's user needs to read and write there."
    case ENOSPC, EDQUOT: " Free some space; the spool goes on by itself."
    case EROFS: " Its file system is read-only; the spool goes on by itself when it isn't any more."
    case EMFILE, ENFILE: " Raise the limit of open files."
    default: ""
    }
  }

  /// Whether it isn't the entry at hand that fails: the next would, too.
  var concernsAll: Bool {
    guard let code else { return false }
    return [ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, ENOMEM, ESTALE, ENOTCONN].contains(code)
  }

  /// The system's code, if a call of the system failed.
  var code: Int32? {
    if case .system(_, _, let code) = self { code } else { nil }
  }
}
