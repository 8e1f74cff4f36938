// Files in the queue's store, in rows of a piece each, so that memory is that of a piece however long a file is. A row is written
// by a save of its own: what makes a file one is the job that names it, in a later transaction. Rows that no job names are those
// of a file that was being written when its daemon was killed, and are replaced when it is written again.

import Foundation
import ManagedObjects
import Synchronization

/// The files of jobs in the store of a shared queue. Safe from any thread; everything blocks.
final class FileParts: Sendable {
  /// The name of a job's own file among its files.
  static let source = ""

  private let coordinator: PersistentStoreCoordinator
  private let membership: QueueMembership
  /// Kept once it is known: a daemon that others have found gone doesn't find it any more, and may not write without it.
  private let fence = Mutex<SaveFence?>(nil)

  /// - Parameter coordinator: of the queue's store. An import waits for what is written here while it has a transaction in its data
  ///   store, and the ledger may wait for that store in a turn: so it has to be another than the ledger's.
  init(_ coordinator: PersistentStoreCoordinator, _ membership: QueueMembership) {
    self.coordinator = coordinator
    self.membership = membership
  }

  /// Writes a piece of a file, which ends after it.
  /// - Parameter isOfRun: whether only a daemon that runs the job may: one whose lease others have found over can't any more.
  func write(
    _ bytes: Data, of job: Int64, _ name: String, at start: Int64, closing: Data? = nil, isOfRun: Bool
  ) throws {
    let context = try writer(isOfRun: isOfRun)
    try delete(from: start, of: job, name, in: context)
    let part = try context.insert(FilePartRecord.self)
    part.job = job
    part.name = name
    part.start = start
    part.bytes = bytes
    part.closing = closing
    try context.save()
  }

  /// Removes all of a file from an offset on, where a piece begins.
  func cut(_ job: Int64, _ name: String, to length: Int64, isOfRun: Bool) throws {
    let context = try writer(isOfRun: isOfRun)
    try delete(from: length, of: job, name, in: context)
  }

  /// Calls `body` with the pieces of a file, up to an offset or to its end.
  /// - Returns: the length of what was read.
  @discardableResult
  func read(
    _ job: Int64, _ name: String, to length: Int64 = .max, _ body: (_ bytes: Data, _ closing: Data?) throws -> Void
  ) throws -> Int64 {
    let context = reader()
    var place: Int64 = 0
    while place < length {
      guard let part = try context.fetch(Self.parts(of: job, name, from: place)).first, part.start == place,
        !part.bytes.isEmpty
      else { break }
      try body(part.bytes, part.closing)
      place += Int64(part.bytes.count)
      context.reset()
    }
    return place
  }

  /// The names of a job's reject files.
  func rejectFiles(of job: Int64) throws -> [String] {
    let context = reader()
    var names: [String] = []
    while true {
      let next = try context.fetch(
        FetchRequest<FilePartRecord>(
          entityName: QueueModel.filePart,
          predicate: .equal(FilePartRecord.Key.job.name, .int(job))
            && .comparison(
              .path(FilePartRecord.Key.name.name), .greater, .constant(.string(names.last ?? Self.source))),
          sortDescriptors: [FetchSortDescriptor(FilePartRecord.Key.name.name)], fetchLimit: 1)
      ).first?.name
      context.reset()
      guard let next else { return names }
      names.append(next)
    }
  }

  /// From the end on, one piece in memory at a time. Usually there is none.
  private func delete(from start: Int64, of job: Int64, _ name: String, in context: ManagedObjectContext) throws {
    while let last = try context.fetch(Self.parts(of: job, name, from: start, isAscending: false)).first {
      context.delete(last)
      try context.save()
      context.reset()
    }
  }

  /// A request for the first piece of a file from an offset on, or the last.
  private static func parts(
    of job: Int64, _ name: String, from start: Int64, isAscending: Bool = true
  ) -> FetchRequest<FilePartRecord> {
    FetchRequest(
      entityName: QueueModel.filePart,
      predicate: .equal(FilePartRecord.Key.job.name, .int(job)) && .equal(FilePartRecord.Key.name.name, .string(name))
        && .comparison(.path(FilePartRecord.Key.start.name), .greaterOrEqual, .constant(.int(start))),
      sortDescriptors: [FetchSortDescriptor(FilePartRecord.Key.start.name, ascending: isAscending)], fetchLimit: 1)
  }

  private func reader() -> ManagedObjectContext {
    ManagedObjectContext(.confinement, coordinator: coordinator, name: "jobs.files")
  }

  private func writer(isOfRun: Bool) throws -> ManagedObjectContext {
    let context = reader()
    context.fence = try fence.withLock { known in
      if known == nil { known = try membership.fence(in: context) }
      return known
    }
    // A file may arrive before the daemon has its place among the others.
    guard context.fence != nil || !isOfRun else { throw QueueMembership.LeaseOver() }
    return context
  }
}

extension LedgerTurn {
  /// Removes a job's own file from the store, or all of its files.
  func deleteFiles(of job: Int64, onlySource: Bool) throws {
    var wanted = FetchPredicate.equal(FilePartRecord.Key.job.name, .int(job))
    if onlySource { wanted = wanted && .equal(FilePartRecord.Key.name.name, .string(FileParts.source)) }
    // Without reading their bytes.
    try context.execute(
      BatchDeleteRequest(
        fetchRequest: FetchRequest<FilePartRecord>(entityName: QueueModel.filePart, predicate: wanted)))
  }
}
