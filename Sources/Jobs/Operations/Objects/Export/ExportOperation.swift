// An export writes one state of its store while others save: its context is pinned to a query generation. Rows are read one by
// one and written through a buffer, so the memory doesn't grow with them; rows with to-many relationships are read by the
// batch. The file appears complete or not at all. There is no checkpoint: a killed export starts again with the state that the
// store has then.

import Foundation
import Importing
import LadeTypes
package import ManagedObjects
import Synchronization

/// Writes objects of an entity to a file in the folder of exports: kind `export`. See ``ExportOptions``.
package final class ExportOperation: JobOperation, @unchecked Sendable {
  // Sendable: what it adds is touched by `perform` alone.

  /// The kind of job that it does.
  package static let kind = "export"
  package override class var access: StoreAccess { .shared }
  /// The number of rows after which it checks whether to stop, and of rows that are read together with to-many relationships.
  private static let batch = 500
  private static let reportEvery: Int64 = 5000

  private var progress = JobProgress()
  /// How many rows there are to be, and how far the file is.
  private var expected: Int64 = 0

  /// How it was asked to end.
  private struct Stopped: Error {}

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    let options = try ExportOptions.read(submission)
    if let template = options.template {
      guard submission.entity == nil else {
        throw ExportOptions.bad("a Core Data store has all entities: leave out \(submission.entity ?? "")")
      }
      _ = try CoreDataExportPlan(template, model)
      return
    }
    let entity = try entity(submission.entity, of: model)
    let request = try ExportPlan(options, entity).request
    _ = try request.predicate?.resolved(in: entity)
    for sort in request.sortDescriptors { _ = try sort.resolved(in: entity) }
  }

  package override func perform() throws -> JobOutcome {
    let options = try ExportOptions.read(job.options)
    let (store, coordinator) = try namedStore()
    guard let format = options.format.written else { return try writeStore(store, coordinator, options) }
    let entity = try objectEntity(in: coordinator)
    let plan = try ExportPlan(options, entity)
    let file = try newFile(options.fileName(entity: entity.name, job: job.id))
    let writer = try format.writer(into: file, plan.layout, compression: options.compression)
    let context = try readingContext()
    try context.setQueryGenerationFrom(.current)
    let patience = ExportPatience(pause: environment.exportPause?())
    return try limited(patience) {
      expected = Int64(try context.count(for: plan.request))
      try writer.expect(expected)
      if writer.needsSurvey {
        var surveyed = 0
        try each(plan, in: context) { row, collected in
          try writer.survey(row, collected)
          surveyed += 1
          try pulse(surveyed, patience)
        }
      }
      try each(plan, in: context) { row, collected in
        try writer.write(row, collected)
        try step(file, patience)
      }
      try writer.finish()
    } ending: {
      try committed(file, of: entity.name, plan.notes, file.commit)
    }
  }

  /// Writes the whole store as one of Core Data's.
  private func writeStore(
    _ name: String, _ coordinator: PersistentStoreCoordinator, _ options: ExportOptions
  ) throws -> JobOutcome {
    guard let template = options.template else { throw ExportOptions.bad("there is no template") }
    let plan = try CoreDataExportPlan(template, coordinator.model)
    let context = try readingContext()
    try context.setQueryGenerationFrom(.current)
    let file = try newFile(options.fileName(entity: name, job: job.id))
    let patience = ExportPatience(pause: environment.exportPause?())
    let export = try CoreDataExport(plan, context, into: file)
    return try limited(patience) {
      expected = try export.count()
      try export.run {
        try step(file, patience)
      } pulse: {
        patience.noteRecord()
        if isCancelled || isDraining { throw Stopped() }
      }
    } ending: {
      try committed(file, of: "objects", plan.notes, export.commit)
    }
  }

  private func newFile(_ name: String) throws -> AtomicFile {
    try AtomicFile(folder: environment.exportsDirectory.path, name: name, hiddenName: ".job-\(job.id).tmp")
  }

  /// Runs what reads and writes, which ends early when the operation is to stop or a record takes too long.
  private func limited(
    _ patience: ExportPatience, _ body: () throws -> Void, ending: () throws -> JobOutcome
  ) throws -> JobOutcome {
    let interruption = Interruption { [unowned self] in
      isCancelled || isDraining ? .cancelled : patience.isAtEnd ? .timedOut : nil
    }
    do {
      try interruption.limit(body)
    } catch is Stopped {
      return isCancelled ? .cancelled(progress) : .interrupted(progress)
    } catch let error as Interrupted where error.cause == .timedOut {
      throw JobFailure(
        code: "time_limit",
        message: "the next record took longer than \(patience.pause?.text ?? "allowed"), the limit of exports: narrow "
          + "them by where, sort by an attribute with an index, or raise queries.exports in the configuration",
        isRetryable: false)
    }
    return try ending()
  }

  /// The file appears.
  private func committed(
    _ file: AtomicFile, of what: String, _ notes: [String], _ commit: () throws -> Void
  ) throws -> JobOutcome {
    try commit()
    (progress.bytesDone, progress.bytesTotal) = (file.length, file.length)
    report(progress)
    let path = environment.exportsDirectory.appendingPathComponent(file.name).path
    let note = ["\(progress.records) \(what) in \(path), \(Quantity.bytes(Double(file.length)))"] + notes
    return .completed(progress, note: note.joined(separator: "; "))
  }

  /// Reads the rows of the state that the context is pinned to, with what their to-many relationships lead to.
  private func each(
    _ plan: ExportPlan, in context: ManagedObjectContext,
    _ body: (ContiguousArray<Value>, [[ContiguousArray<Value>]]) throws -> Void
  ) throws {
    guard !plan.collections.isEmpty else {
      return try context.eachDictionary(plan.request) { row in
        guard plan.sharesColumns else { return try body(row, []) }
        var merged = row
        try plan.merge(&merged)
        try body(merged, [])
      }
    }
    var rows: [ContiguousArray<Value>] = []
    func flush() throws {
      let ids = rows.compactMap { row -> ManagedObjectID? in
        if case .object(let id)? = row.last { id } else { nil }
      }
      let found = try plan.collections.map { collection in
        var byOwner: [ManagedObjectID: [ContiguousArray<Value>]] = [:]
        for related in try context.relatedRows(of: ids, collection.relationship) {
          byOwner[related.owner, default: []].append(ContiguousArray(collection.slots.map { related.row.values[$0] }))
        }
        return byOwner
      }
      for (row, id) in zip(rows, ids) {
        try body(row, found.map { $0[id] ?? [] })
      }
      rows.removeAll(keepingCapacity: true)
    }
    try context.eachDictionary(plan.request) { row in
      rows.append(row)
      try plan.merge(&rows[rows.count - 1])
      if rows.count == Self.batch { try flush() }
    }
    try flush()
  }

  /// A row of the given total has been read.
  private func pulse(_ rows: Int, _ patience: ExportPatience) throws {
    patience.noteRecord()
    if rows % Self.batch == 0, isCancelled || isDraining { throw Stopped() }
  }

  /// A row has been written.
  private func step(_ file: AtomicFile, _ patience: ExportPatience) throws {
    progress.records += 1
    try pulse(Int(progress.records), patience)
    guard progress.records % Self.reportEvery == 0 else { return }
    progress.bytesDone = file.length
    // The size of the rest is estimated from the rows so far.
    progress.bytesTotal = max(file.length, file.length * max(expected, 1) / progress.records)
    report(progress)
  }
}

/// How long an export waits for its next record.
private final class ExportPatience: Sendable {
  let pause: Duration?
  private let records = Atomic<Int64>(0)
  /// The number of records at the last look, and since when it has been that.
  private let last = Mutex<(records: Int64, since: ContinuousClock.Instant)>((0, .now))

  /// - Parameter pause: nil for as long as it takes.
  init(pause: Duration?) { self.pause = pause }

  func noteRecord() { records.wrappingAdd(1, ordering: .relaxed) }

  /// Whether the next record has taken too long.
  var isAtEnd: Bool {
    guard let pause else { return false }
    let records = records.load(ordering: .relaxed)
    return last.withLock { last in
      if last.records != records { last = (records, .now) }
      return last.since.duration(to: .now) > pause
    }
  }
}
