// An export writes one state of its store while others save: its context is pinned to a query generation. Rows are read one by
// one and written through a buffer, so the memory doesn't grow with them; rows with to-many relationships are read by the
// batch. The file appears complete or not at all. There is no checkpoint: a killed export starts again with the state that the
// store has then.

import Foundation
import Importing
package import ManagedObjects

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
    let entity = try entity(submission.entity, of: model)
    let request = try ExportPlan(try ExportOptions.read(submission), entity).request
    _ = try request.predicate?.resolved(in: entity)
    for sort in request.sortDescriptors { _ = try sort.resolved(in: entity) }
  }

  package override func perform() throws -> JobOutcome {
    let options = try ExportOptions.read(job.options)
    let coordinator = try namedStore().coordinator
    let entity = try objectEntity(in: coordinator)
    let plan = try ExportPlan(options, entity)
    let file = try AtomicFile(
      folder: environment.exportsDirectory.path, name: options.fileName(entity: entity.name, job: job.id),
      hiddenName: ".job-\(job.id).tmp")
    let writer = try options.format.writer(into: file, plan.layout, compression: options.compression)
    let context = try context()
    try context.setQueryGenerationFrom(.current)
    expected = Int64(try context.count(for: plan.request))
    do {
      if plan.collections.isEmpty {
        try context.eachDictionary(plan.request) { row in
          if plan.sharesColumns {
            var merged = row
            try plan.merge(&merged)
            try writer.write(merged, [])
          } else {
            try writer.write(row, [])
          }
          try step(file)
        }
      } else {
        try write(plan, to: writer, file, in: context)
      }
    } catch is Stopped {
      return isCancelled ? .cancelled(progress) : .interrupted(progress)
    }
    try writer.finish()
    try file.commit()
    (progress.bytesDone, progress.bytesTotal) = (file.length, file.length)
    report(progress)
    let path = environment.exportsDirectory.appendingPathComponent(file.name).path
    let note = ["\(progress.records) \(entity.name) in \(path), \(Quantity.bytes(Double(file.length)))"] + plan.notes
    return .completed(progress, note: note.joined(separator: "; "))
  }

  /// Writes rows with what their to-many relationships lead to.
  private func write(
    _ plan: ExportPlan, to writer: any RecordWriter, _ file: AtomicFile, in context: ManagedObjectContext
  ) throws {
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
        try writer.write(row, found.map { $0[id] ?? [] })
        try step(file)
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

  /// A row has been written.
  private func step(_ file: AtomicFile) throws {
    progress.records += 1
    guard progress.records % Int64(Self.batch) == 0 else { return }
    if isCancelled || isDraining { throw Stopped() }
    guard progress.records % Self.reportEvery == 0 else { return }
    progress.bytesDone = file.length
    // The size of the rest is estimated from the rows so far.
    progress.bytesTotal = max(file.length, file.length * max(expected, 1) / progress.records)
    report(progress)
  }
}
