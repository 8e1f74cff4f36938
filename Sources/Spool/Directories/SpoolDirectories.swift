// The spool's five directories. Their invariant: what stands in `active/`, `done/` and `corrupt/` was put there by
// the daemon and by nobody else, under a name that the daemon made; only `incoming/` and `tmp/` are open to the
// spool's group. So a path is trusted within the first three, and never within the other two, where every operation
// goes through a descriptor (see `DirectoryHandle`).
//
// An entry's way: tmp/x.csv (a writer's) → incoming/gtfs/x.csv → active/17-x.csv → done/17-x.csv
//                                                   └─ refused → corrupt/x.csv and corrupt/x.csv.reason

import Dispatch
import Glibc
import Synchronization

/// The spool: a root and its five directories, created where missing and held open.
///
/// Methods without `async` block on the file system: call them on a thread or queue that may.
package final class SpoolDirectories: Sendable {
  enum Folder: String, CaseIterable, Sendable {
    case incoming, active, done, corrupt, tmp

    /// The group writes where it hands over, and what it makes there belongs to the group; elsewhere it may look.
    var mode: mode_t {
      switch self {
      case .incoming, .tmp: 0o2770
      case .active, .done, .corrupt: 0o750
      }
    }
  }

  /// The root's path, as it was given.
  package let path: String
  let root: DirectoryHandle
  /// The file system is slow, and the cooperative pool has few threads: what is async here runs on this queue.
  let queue = DispatchQueue(label: "lade.spool.directories", qos: .userInitiated)
  private let handles: Mutex<[Folder: DirectoryHandle]>

  /// Opens the spool at `path`, creating the root (and what is missing above it) and the five directories.
  /// Blocks. Throws `SpoolError`.
  package init(path: String) throws {
    self.path = path
    try SpoolDirectories.makePath(path)
    root = try DirectoryHandle(trustedPath: path)
    handles = Mutex([:])
    try ensure()
  }

  /// The handle of a directory. It is replaced when the directory was.
  func handle(_ folder: Folder) throws -> DirectoryHandle {
    if let handle = handles.withLock({ $0[folder] }) { return handle }
    return try open(folder)
  }

  /// Looks whether each directory is still the one that is held open, and opens or creates it anew if it isn't.
  func ensure() throws {
    for folder in Folder.allCases {
      let held = handles.withLock { $0[folder] }
      if let held, let there = try root.status(of: FileName(folder.rawValue)),
        there.isSameFile(as: try held.status())
      {
        continue
      }
      _ = try open(folder)
    }
  }

  private func open(_ folder: Folder) throws -> DirectoryHandle {
    let handle = try root.directory(FileName(folder.rawValue), creatingWith: folder.mode)
    handles.withLock { $0[folder] = handle }
    return handle
  }

  /// As `mkdir -p`. A directory that is there already is left as it is.
  private static func makePath(_ path: String) throws {
    var made = path.hasPrefix("/") ? "/" : ""
    for component in path.split(separator: "/") {
      made += component
      if mkdir(made, 0o755) != 0, errno != EEXIST {
        let code = errno
        var status = stat()
        // On a read-only file system mkdir says so before it says that the directory exists.
        guard stat(made, &status) == 0 else { throw SpoolError.system(call: "mkdir", path: made, code: code) }
      }
      made += "/"
    }
  }
}
