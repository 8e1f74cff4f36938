// The spool's five directories. Their invariant: everything in `active/`, `done/` and `corrupt/` was put there by the daemon,
// under a name that the daemon made; only `incoming/` and `tmp/` are open to the spool's group. So a path is trusted within the
// first three, and never within the other two, where every operation goes through a descriptor (see `DirectoryHandle`).
//
// The way of an entry: tmp/x.csv (written by a submitter) → incoming/gtfs/x.csv → active/17-x.csv → done/17-x.csv
//                                                            └─ refused → corrupt/x.csv and corrupt/x.csv.reason

import CLinux
import Dispatch
import Glibc
import Synchronization

/// The spool: a root and its five directories, created if missing and held open.
///
/// Methods without `async` block on the file system: call them on a thread or queue that may block.
package final class SpoolDirectories: Sendable {
  enum Folder: String, CaseIterable, Sendable {
    case incoming, active, done, corrupt, tmp

    /// The group writes to the directories for handing over. What it creates there belongs to the group (setgid), and only its
    /// owner and the daemon may rename or remove it (sticky). In the others it may read.
    var mode: mode_t {
      switch self {
      case .incoming, .tmp: 0o3770
      case .active, .done, .corrupt: 0o750
      }
    }
  }

  /// The root's path, as it was given.
  package let path: String
  /// A folder of several hosts in place of `incoming/`, which their daemons take entries from together; nil if there is none.
  package let sharedIncoming: String?
  /// The daemon's own files, which can't be imported.
  let protected: ProtectedPaths
  /// Asynchronous methods run on this queue: the file system is slow, and the cooperative pool has few threads.
  private let queue = DispatchQueue(label: "lade.spool.directories", qos: .userInitiated)
  private let held: Mutex<Held>
  /// The names in `active/` of the copies in progress, for the intake, a submitter or a schedule. Other files with such names
  /// were left by a kill.
  private let copies = Mutex<Set<FileName>>([])
  private let finishing = Mutex<[FinishedFile]>([])

  private struct Held {
    var root: DirectoryHandle
    var folders: [Folder: DirectoryHandle] = [:]
  }

  /// Opens the spool at `path`, and creates the root (with missing parents) and the five directories if they don't exist.
  /// Blocks. Throws `SpoolError`.
  /// - Parameters:
  ///   - sharedIncoming: a folder of several hosts in place of `incoming/`. It isn't created, for what is missing may be a
  ///     mount; it need not be there yet.
  ///   - protected: files and folders outside the spool that belong to the daemon; of a store, its main file.
  ///   - companionEndings: what is appended to a store's path for the files that belong to it.
  package init(
    path: String, sharedIncoming: String? = nil, protected: [String] = [], companionEndings: [String] = []
  ) throws {
    self.path = path
    self.sharedIncoming = sharedIncoming
    try SpoolDirectories.makePath(path)
    held = Mutex(Held(root: try DirectoryHandle(trustedPath: path)))
    self.protected = ProtectedPaths(
      [Folder.active, .done, .corrupt].map { path + "/" + $0.rawValue } + protected, companionEndings: companionEndings)
    try refresh()
  }

  // MARK: Handles

  /// The handle of a directory. ``refresh(makesIncoming:)`` replaces it if the directory was replaced.
  func handle(_ folder: Folder) throws -> DirectoryHandle {
    if let handle = held.withLock({ $0.folders[folder] }) { return handle }
    return try open(folder, in: root)
  }

  /// Where entries are handed over, for messages.
  var incomingPath: String { sharedIncoming ?? path + "/" + Folder.incoming.rawValue }

  /// The handle of the directory that contains the five.
  var root: DirectoryHandle { held.withLock { $0.root } }

  /// Checks that each directory is still the one that is held open, and reopens it if not. Creates missing ones, but not the
  /// root, whose owner and mode the administrator chose.
  /// - Parameter makesIncoming: whether `incoming/` is created, too.
  /// - Returns: whether `incoming/` exists.
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
      if folder == .incoming, let sharedIncoming {
        hasIncoming = try refreshShared(sharedIncoming)
        continue
      }
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

  /// - Returns: whether it is there.
  private func refreshShared(_ path: String) throws -> Bool {
    let there: DirectoryHandle
    do {
      there = try DirectoryHandle(trustedPath: path)
    } catch let error as SpoolError where error.code == ENOENT {
      held.withLock { $0.folders[.incoming] = nil }
      return false
    }
    let handle = held.withLock { $0.folders[.incoming] }
    if let handle, try handle.status().isSameFile(as: there.status()) { return true }
    held.withLock { $0.folders[.incoming] = there }
    return true
  }

  private func open(_ folder: Folder, in root: DirectoryHandle) throws -> DirectoryHandle {
    if folder == .incoming, let sharedIncoming {
      throw SpoolError.system(call: "open", path: sharedIncoming, code: ENOENT)
    }
    let handle = try root.directory(FileName(folder.rawValue), creatingWith: folder.mode)
    held.withLock { $0.folders[folder] = handle }
    return handle
  }

  /// Like `mkdir -p`, and durable. Doesn't change a directory that exists.
  private static func makePath(_ path: String) throws {
    let answer = lade_make_folders(path, 0o755)
    guard answer == 0 else { throw SpoolError.system(call: "mkdir", path: path, code: -answer) }
  }

  /// Runs work on the file system on the spool's own queue.
  package func onQueue<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  // MARK: Names in active/

  /// The name of a job's file in `active/`: the job's number, a hyphen, and the file's own name without unsafe characters.
  /// It depends on its arguments only, so the daemon can store it with the job.
  package static func activeName(job: Int64, originalName: String) -> String {
    "\(job)-\(FileName(originalName).sanitised)"
  }

  /// The name of a job's ticket in `active/`.
  package static func ticketName(job: Int64) -> String {
    "\(job).job"
  }

  /// The job whose file or ticket has this name in `active/`, or nil if it isn't such a name.
  package static func job(ofActiveName name: String) -> Int64? {
    let digits = name.prefix { ("0"..."9").contains($0) }
    guard let job = Int64(digits), job >= 0, String(job) == digits else { return nil }
    let rest = name.dropFirst(digits.count)
    guard !rest.contains("/"), !rest.contains("\0") else { return nil }
    return rest == ".job" || (rest.hasPrefix("-") && rest.count > 1) ? job : nil
  }

  // MARK: Files in active/

  /// Calls `body` with the name and the job of everything in `active/`, files and tickets, in no order. Blocks.
  package func forEachActive(_ body: (_ name: String, _ job: Int64) throws -> Void) throws {
    try handle(.active).forEach { name, _ in
      if let text = name.text, let job = SpoolDirectories.job(ofActiveName: text) { try body(text, job) }
    }
  }

  /// Whether a file is in `active/`, that is, whether its hand-over is complete. Blocks.
  package func isActive(_ name: String) throws -> Bool {
    _ = try Self.checkedJob(ofActiveName: name)
    return try handle(.active).status(of: FileName(name)) != nil
  }

  /// Moves the ticket of a job from `incoming/` to `active/`, if it is still there. The move is durable on return. Blocks.
  /// - Parameter identity: that of the job's entry; see ``SpoolEntry/identity``.
  package func takeTicket(_ identity: String, of job: Int64) throws {
    guard let incoming = held.withLock({ $0.folders[.incoming] }),
      let name = try SpoolEntry.ticketName(identity: identity, in: incoming)
    else { return }
    let (active, target) = (try handle(.active), FileName(Self.ticketName(job: job)))
    if let there = try active.status(of: target) {
      // A file system without a journal may keep both names of one file.
      guard let here = try incoming.status(of: name), here.isSameFile(as: there) else { return }
      try incoming.remove(name)
    } else {
      do {
        try incoming.rename(name, to: active, target)
      } catch let error as SpoolError where error.code == ENOENT && sharedIncoming != nil {
        // Another daemon has taken the entry over.
        return
      }
    }
    try active.synchronise()
    try incoming.synchronise()
  }

  /// Runs `body`, which copies to this name in `active/`.
  func withCopy(in name: FileName, _ body: () throws -> Void) throws {
    copies.withLock { _ = $0.insert(name) }
    defer { copies.withLock { _ = $0.remove(name) } }
    try body()
  }

  /// Removes an incomplete copy that no one in this process is making. Under the lock, so that no copy begins at the same time.
  func removeAbandonedCopy(_ name: FileName, in active: DirectoryHandle) throws {
    try copies.withLock { copies in
      if copies.contains(name) { return }
      try Self.removeCopy(name, in: active)
    }
  }

  /// Makes a new copy in `active/` durable, or removes it, so that a failed hand-over can be tried again.
  func synchroniseCopy(_ name: FileName, in active: DirectoryHandle) throws {
    do {
      try active.synchronise()
    } catch {
      try Self.removeCopy(name, in: active)
      throw error
    }
  }

  private static func removeCopy(_ name: FileName, in active: DirectoryHandle) throws {
    if try active.status(of: name)?.kind == .directory {
      try active.removeFolder(name)
    } else {
      try active.remove(name)
    }
  }

  /// Moves the file of an ended job that is retried from `corrupt/` or `done/` back to `active/`, and removes its reason. As
  /// everywhere, nothing is overwritten, and only a plain file with one name is moved, or a folder of the daemon's own: only
  /// the daemon put such a file there.
  /// The move is durable on return. Blocks.
  /// - Parameter activeName: its name in `active/`.
  /// - Returns: whether the file is in `active/` now; true also if it was there already.
  package func reclaim(_ activeName: String) throws -> Bool {
    _ = try Self.checkedJob(ofActiveName: activeName)
    let name = FileName(activeName)
    let active = try handle(.active)
    if try active.status(of: name) != nil { return true }
    for folder in [Folder.corrupt, .done] {
      let directory = try handle(folder)
      guard let status = try directory.status(of: name) else { continue }
      let isOwnFolder = try status.kind == .directory && directory.directory(name)?.isOwn() == true
      guard isOwnFolder || status.kind == .regular && status.links == 1 else { continue }
      try directory.rename(name, to: active, name)
      try active.synchronise()
      try directory.remove(FileName(activeName + ".reason"))
      try directory.synchronise()
      return true
    }
    return false
  }

  private static func checkedJob(ofActiveName name: String) throws -> Int64 {
    guard let job = job(ofActiveName: name) else { throw SpoolError.notAnActiveName(name) }
    return job
  }

  // MARK: Finishing

  /// A file that waits to leave `active/`.
  private struct FinishedFile: Sendable {
    let job: Int64
    let activeName: String
    let outcome: SpoolOutcome
    let continuation: CheckedContinuation<String?, any Error>
  }

  /// Moves a job's file from `active/` to `done/` or `corrupt/`, or removes it, and moves its ticket, if it has one.
  /// The move is durable on return. Returns the name in the new directory, which has a number appended if the name
  /// was taken, or nil if the file isn't in `active/`: that is no error, because an earlier call may have moved it before the
  /// daemon was killed. Blocks; in a task, use the `async` form.
  package func finish(activeName: String, as outcome: SpoolOutcome) throws -> String? {
    let moved = try move(Self.checkedJob(ofActiveName: activeName), activeName, outcome)
    try synchronise(moved.isAny ? [outcome.folder] : [])
    return moved.name
  }

  /// The same on the spool's own queue. Files that arrive while others are being moved are moved together, and share the
  /// flushes of the disk.
  package func finish(activeName: String, as outcome: SpoolOutcome) async throws -> String? {
    let job = try Self.checkedJob(ofActiveName: activeName)
    return try await withCheckedThrowingContinuation { continuation in
      let isFirst = finishing.withLock { line in
        line.append(FinishedFile(job: job, activeName: activeName, outcome: outcome, continuation: continuation))
        return line.count == 1
      }
      if isFirst { queue.async { self.finishAll() } }
    }
  }

  private func finishAll() {
    let line = finishing.withLock { line in
      defer { line = [] }
      return line
    }
    let moves = line.map { file in Result { try move(file.job, file.activeName, file.outcome) } }
    let isOnDisk = Result {
      let folders = zip(line, moves).compactMap { file, moved in
        if case .success((_, true)) = moved { file.outcome.folder } else { nil as Folder? }
      }
      try synchronise(Set(folders))
    }
    for (file, moved) in zip(line, moves) {
      file.continuation.resume(with: moved.flatMap { moved in isOnDisk.map { moved.name } })
    }
  }

  /// Makes the moves from `active/` to these folders durable.
  private func synchronise(_ folders: Set<Folder>) throws {
    if folders.isEmpty { return }
    for folder in folders { try handle(folder).synchronise() }
    try handle(.active).synchronise()
  }

  /// - Returns: the file's new name, or nil if it wasn't in `active/`, and whether anything was moved.
  private func move(_ job: Int64, _ activeName: String, _ outcome: SpoolOutcome) throws -> (name: String?, isAny: Bool)
  {
    let active = try handle(.active)
    // The ticket first: alone in `active/`, it would mean an incomplete hand-over (see `HandOverRecovery`).
    let ticket = SpoolDirectories.ticketName(job: job)
    let isTicketMoved =
      try ticket != activeName && move(FileName(ticket), out: active, to: outcome.folder, reason: nil) != nil
    let name = try move(
      FileName(activeName), out: active, to: outcome.folder, reason: outcome.reason, keepsFile: outcome.keepsFile)
    return (name, isTicketMoved || name != nil)
  }

  private func move(
    _ name: FileName, out active: DirectoryHandle, to folder: Folder, reason: String?, keepsFile: Bool = true
  ) throws -> String? {
    guard let status = try active.status(of: name) else { return nil }
    let text = reason.map {
      SpoolReason(place: "active/" + name.shown, status: status, code: "corrupt", reason: $0).text
    }
    let directory = try handle(folder)
    return try directory.put(like: name.sanitised, reason: text) { free in
      if keepsFile {
        try active.rename(name, to: directory, free)
      } else if status.kind == .directory {
        try active.removeFolder(name)
      } else {
        try active.remove(name)
      }
    }
  }
}
