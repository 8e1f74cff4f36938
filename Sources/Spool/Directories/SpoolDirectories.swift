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
  /// What of the disk is the daemon's own, so that nobody can have it imported.
  let own: OwnPlaces
  /// The file system is slow, and the cooperative pool has few threads: what is async here runs on this queue.
  let queue = DispatchQueue(label: "lade.spool.directories", qos: .userInitiated)
  private let held: Mutex<Held>
  /// Names in `active/` of copies that are being made, by the intake, for a submitter or for a schedule: others of their kind
  /// are what a kill left.
  let copying = Mutex<Set<FileName>>([])
  /// What waits to be put away.
  let finishing = Mutex<[Finish]>([])

  private struct Held {
    var root: DirectoryHandle
    var folders: [Folder: DirectoryHandle] = [:]
  }

  /// Opens the spool at `path`, creating the root (and what is missing above it) and the five directories.
  /// Blocks. Throws `SpoolError`.
  /// - Parameter own: files and folders besides the spool that the daemon keeps for itself; of databases, the file.
  package init(path: String, own: [String] = []) throws {
    self.path = path
    try SpoolDirectories.makePath(path)
    held = Mutex(Held(root: try DirectoryHandle(trustedPath: path)))
    self.own = OwnPlaces([Folder.active, .done, .corrupt].map { path + "/" + $0.rawValue } + own)
    try refresh()
  }

  /// The handle of a directory. It is replaced when the directory was.
  func handle(_ folder: Folder) throws -> DirectoryHandle {
    if let handle = held.withLock({ $0.folders[folder] }) { return handle }
    return try open(folder, in: root)
  }

  /// The handle of the directory that the five are in.
  var root: DirectoryHandle { held.withLock { $0.root } }

  /// Looks whether each directory is still the one that is held open, and opens it anew if it isn't. One that is missing
  /// is made; but not the root, whose owner and mode were the administrator's.
  /// - Parameter makesIncoming: whether `incoming/` is made, too.
  /// - Returns: whether there is an `incoming/`.
  @discardableResult
  func refresh(makesIncoming: Bool = true) throws -> Bool {
    var root = root
    let there = try DirectoryHandle(trustedPath: path)
    if try !there.status().isSameFile(as: root.status()) {
      root = there
      held.withLock { $0 = Held(root: there) }
    }
    var hasIncoming = true
    for folder in Folder.allCases {
      let found = try root.status(of: FileName(folder.rawValue))
      if let found, let handle = held.withLock({ $0.folders[folder] }), found.isSameFile(as: try handle.status()) {
        continue
      }
      if folder == .incoming, found == nil, !makesIncoming {
        hasIncoming = false
        held.withLock { $0.folders[folder] = nil }
        continue
      }
      _ = try open(folder, in: root)
    }
    return hasIncoming
  }

  private func open(_ folder: Folder, in root: DirectoryHandle) throws -> DirectoryHandle {
    let handle = try root.directory(FileName(folder.rawValue), creatingWith: folder.mode)
    held.withLock { $0.folders[folder] = handle }
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
