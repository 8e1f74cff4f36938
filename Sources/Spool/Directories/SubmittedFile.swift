// Files that are submitted by path over the control socket. The daemon may read files that the submitter may not, so it opens
// the file first, without following a link at its end, and then decides by what it has opened (rule 8, ARCHITECTURE.md).

import CLinux
import Glibc

/// A file that was opened for a submitter, before its job is made.
package struct SubmittedFile: Sendable {
  let file: OpenFile
  /// The file's own name.
  package let name: String
  /// Its size in bytes.
  package var size: Int64 { file.status.size }
  /// The user whom it belongs to.
  package var owner: UInt32 { file.status.owner }
  /// Its real path, whatever links the given path went through; nil if that isn't UTF-8, or the file has no name any more.
  package let realPath: String?
  /// A descriptor of it, open as long as this value exists.
  package var descriptor: Int32 { file.descriptor.number }

  /// Opens a path.
  /// - Parameters:
  ///   - user: the submitter: the file's owner, root, or the daemon itself.
  ///   - allowedFolders: folders whose files any user may submit.
  ///   - protected: the daemon's own files, which no other user may submit.
  /// - Throws: ``SubmissionRefusal``.
  init(_ path: String, for user: UInt32, allowedFolders: [String], protected: ProtectedPaths) throws {
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw SubmissionRefusal.notAbsolute(path) }
    let number = try Self.openRegular(path)
    let descriptor = OwnedDescriptor(number)
    let status = try DirectoryHandle.status(of: descriptor, path: path)
    guard status.kind == .regular, lade_is_pseudo_file_system(number) != 1 else {
      throw SubmissionRefusal.notARegularFile(path)
    }
    let real = try ProtectedPaths.path(of: number, path)
    if user != 0, user != geteuid(), status.owner != user {
      // The real path counts, whatever links the given path went through. A file with a second name may have been linked into
      // the folder by a user who can't read it. Paths are compared byte for byte, because two names that look alike may be
      // different folders.
      guard status.links == 1, !protected.contain(real),
        allowedFolders.contains(where: { real.starts(with: ($0.hasSuffix("/") ? $0 : $0 + "/").utf8) })
      else {
        throw SubmissionRefusal.notTheSubmitters(path: path, owner: status.owner, allowed: allowedFolders)
      }
    }
    realPath = status.links > 0 ? String(validating: real, as: UTF8.self) : nil
    name = path.split(separator: "/").last.map(String.init) ?? "file"
    file = OpenFile(descriptor: descriptor, status: status)
  }

  /// Opens a path if it is a regular file, and affects nothing else: merely opening a device can have effects.
  private static func openRegular(_ path: String) throws -> Int32 {
    func failure() -> SubmissionRefusal {
      .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    let place = open(path, AllowedFolder.pathOnly | O_NOFOLLOW | O_CLOEXEC)
    guard place >= 0 else { throw failure() }
    let held = OwnedDescriptor(place)
    switch try DirectoryHandle.status(of: held, path: path).kind {
    case .regular: break
    case .symbolicLink: throw SubmissionRefusal.cannotOpen(path: path, reason: "it is a symbolic link")
    case .directory, .fifo, .socket, .characterDevice, .blockDevice: throw SubmissionRefusal.notARegularFile(path)
    }
    let number = open("/proc/self/fd/\(place)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { throw failure() }
    return number
  }
}

/// Why a file that was submitted by path is refused.
package enum SubmissionRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  case notAbsolute(String)
  case cannotOpen(path: String, reason: String)
  case notARegularFile(String)
  case notTheSubmitters(path: String, owner: UInt32, allowed: [String])
  /// The name of a file of a set, which it keeps.
  case badName(path: String, reason: String)

  package var description: String {
    switch self {
    case .notAbsolute(let path): return "\(path) isn't an absolute path"
    case .cannotOpen(let path, let reason): return "the daemon can't open \(path): \(reason)"
    case .notARegularFile(let path): return "\(path) isn't a regular file"
    case .badName(let path, let reason): return "\(path) can't be one of a set's files: \(reason)"
    case .notTheSubmitters(let path, let owner, let allowed):
      let folders = allowed.isEmpty ? "none are configured" : allowed.joined(separator: ", ")
      return
        "\(path) belongs to user \(owner), not to you, and isn't in an allowed folder (\(folders)): "
        + "copy it into the spool, or ask for its folder to be added to allowed_folders"
    }
  }
}

extension SpoolDirectories {
  /// Opens a file by a submitter's path. Blocks; in a task, call it through ``onQueue(_:)``.
  ///
  /// - Parameters:
  ///   - user: the submitter: the file's owner, root, or the daemon itself.
  ///   - allowedFolders: folders whose files any user may submit.
  /// - Throws: ``SubmissionRefusal``.
  package func openSubmitted(_ path: String, for user: UInt32, allowedFolders: [String]) throws -> SubmittedFile {
    try SubmittedFile(path, for: user, allowedFolders: allowedFolders, protected: protected)
  }

  /// Copies a submitted file to `active/`, whole and durable when this returns. When it throws, what it has copied is removed. Blocks.
  /// - Parameter made: if the file may have been copied for its job before (``hasCopy(_:forJobMade:)``), when the job was made, in
  ///   seconds since 1970. Such a copy is kept.
  /// - Parameter complete: adds to the copy what belongs to it and is elsewhere, before it has its name. It gets a descriptor of it.
  package func adopt(
    _ submitted: SubmittedFile, as activeName: String, forJobMade made: Double? = nil,
    complete: ((_ copy: Int32) throws -> Void)? = nil
  ) throws {
    let (active, name) = (try handle(.active), FileName(activeName))
    if let made, try hasCopy(activeName, forJobMade: made) { return try active.synchronise() }
    try HandOver(directories: self).copy(submitted.file, to: activeName, complete: complete)
    try synchroniseCopy(name, in: active)
  }

  /// Whether a file in `active/` was copied for a job, and was left there by a kill before the job was updated. One that is older
  /// than the job belongs to an earlier queue. Blocks.
  /// - Parameter made: when the job was made, in seconds since 1970.
  package func hasCopy(_ activeName: String, forJobMade made: Double) throws -> Bool {
    guard let there = try handle(.active).status(of: FileName(activeName)) else { return false }
    // The clock that stamps files is some milliseconds behind.
    return Double(there.changed) / 1e9 > made - 1
  }
}
