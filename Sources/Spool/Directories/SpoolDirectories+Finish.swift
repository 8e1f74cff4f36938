import Foundation
import Glibc

/// How a job's file leaves `active/`.
package enum SpoolOutcome: Sendable, Equatable {
  /// The job was done: to `done/`.
  case done
  /// The job can't be done with this file: to `corrupt/`, with the reason beside it. The reason says what happened
  /// and what to do.
  case corrupt(reason: String)
}

extension SpoolDirectories {
  /// Moves a job's file from `active/` to `done/` or `corrupt/`, and its ticket, if it has one, with it.
  /// On return the move is on disk. Returns the name in the new directory, which has a number appended if the name
  /// was taken. A file that isn't in `active/` (an earlier call moved it, and the daemon was then killed) is no error:
  /// the answer is nil. Blocks; on a task, use the `async` form.
  package func finish(activeName: String, as outcome: SpoolOutcome) throws -> String? {
    guard let job = SpoolDirectories.job(ofActiveName: activeName) else {
      throw SpoolError.notAnActiveName(activeName)
    }
    let moved = try move(job, activeName, outcome)
    try synchronise(moved.isAny ? [outcome.folder] : [])
    return moved.name
  }

  /// Moves a job's file from `active/` to `done/` or `corrupt/`, and its ticket with it, on the spool's own queue. Those that
  /// come while others are moved are moved together, and share what waits for the disk.
  package func finish(activeName: String, as outcome: SpoolOutcome) async throws -> String? {
    guard let job = SpoolDirectories.job(ofActiveName: activeName) else {
      throw SpoolError.notAnActiveName(activeName)
    }
    return try await withCheckedThrowingContinuation { continuation in
      let isFirst = finishing.withLock { line in
        line.append(Finish(job: job, activeName: activeName, outcome: outcome, continuation: continuation))
        return line.count == 1
      }
      if isFirst { queue.async { self.finishAll() } }
    }
  }

  /// What waits to be put away.
  struct Finish: Sendable {
    let job: Int64
    let activeName: String
    let outcome: SpoolOutcome
    let continuation: CheckedContinuation<String?, any Error>
  }

  private func finishAll() {
    let line = finishing.withLock { line in
      defer { line = [] }
      return line
    }
    let moves = line.map { finish in Result { try move(finish.job, finish.activeName, finish.outcome) } }
    let isOnDisk = Result {
      let folders = zip(line, moves).compactMap { finish, moved in
        if case .success((_, true)) = moved { finish.outcome.folder } else { nil as Folder? }
      }
      try synchronise(Set(folders))
    }
    for (finish, moved) in zip(line, moves) {
      finish.continuation.resume(with: moved.flatMap { moved in isOnDisk.map { moved.name } })
    }
  }

  /// Puts on disk what went from `active/` to these.
  private func synchronise(_ folders: Set<Folder>) throws {
    if folders.isEmpty { return }
    for folder in folders { try handle(folder).synchronise() }
    try handle(.active).synchronise()
  }

  /// - Returns: what the file is called now, or nil if it wasn't in `active/`, and whether anything was moved.
  private func move(_ job: Int64, _ activeName: String, _ outcome: SpoolOutcome) throws -> (name: String?, isAny: Bool)
  {
    let active = try handle(.active)
    // The ticket first: alone in `active/`, it means a hand-over that isn't complete (see `SpoolIntake+HandOver`).
    let ticket = SpoolDirectories.ticketName(job: job)
    let isTicketMoved =
      try ticket != activeName && leave(active, FileName(ticket), to: outcome.folder, reason: nil) != nil
    let name = try leave(active, FileName(activeName), to: outcome.folder, reason: outcome.reason)
    return (name, isTicketMoved || name != nil)
  }

  private func leave(
    _ active: DirectoryHandle, _ name: FileName, to folder: Folder, reason: String?
  ) throws -> String? {
    guard let status = try active.status(of: name) else { return nil }
    let text = reason.map {
      SpoolReason(place: "active/" + name.shown, status: status, code: "corrupt", reason: $0).text
    }
    return try put(try handle(folder), like: name.sanitised, withReason: text) { directory, free in
      try active.rename(name, to: directory, free)
    }
  }

  /// Finds a free name in `directory`, writes the reason beside it first (so that nothing is ever there without one),
  /// and lets `move` bring the entry. Returns the name.
  func put(
    _ directory: DirectoryHandle, like name: String, withReason reason: String?,
    move: (DirectoryHandle, FileName) throws -> Void
  ) throws -> String {
    func isTaken(_ number: Int) throws -> Bool {
      let free = FreeName.numbered(name, number)
      return try directory.status(of: FileName(free)) != nil
        || directory.status(of: FileName(free + ".reason")) != nil
    }
    while true {
      let free = FreeName.numbered(name, try FreeName.number(isTaken: isTaken))
      let reasonName = FileName(free + ".reason")
      do {
        if let reason { try write(reason, to: directory, reasonName) }
      } catch let error as SpoolError where error.code == EEXIST {
        continue
      }
      do {
        try move(directory, FileName(free))
        return free
      } catch {
        if reason != nil { try directory.remove(reasonName) }
        guard let error = error as? SpoolError, error.code == EEXIST else { throw error }
      }
    }
  }

  private func write(_ text: String, to directory: DirectoryHandle, _ name: FileName) throws {
    let file = try directory.create(name, mode: 0o640)
    do {
      var text = text
      try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0), at: 0, path: directory.place(name)) }
      try file.synchronise(path: directory.place(name))
    } catch {
      try directory.remove(name)
      throw error
    }
  }
}

extension SpoolOutcome {
  var folder: SpoolDirectories.Folder {
    switch self {
    case .done: .done
    case .corrupt: .corrupt
    }
  }

  var reason: String? {
    switch self {
    case .done: nil
    case .corrupt(let reason): reason
    }
  }
}

/// What stands in a `.reason` file.
struct SpoolReason {
  let place: String
  let status: FileStatus
  let code: String
  let reason: String

  var text: String {
    """
    time: \(Date.now.formatted(.iso8601))
    entry: \(place)
    size: \(status.size)
    owner: \(status.owner)
    group: \(status.group)
    code: \(code)
    reason: \(reason)

    """
  }
}
