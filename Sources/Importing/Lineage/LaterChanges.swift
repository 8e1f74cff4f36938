// A row whose values are as a job has left them may have been changed twice since, there and back, or be another row with the
// same number. What jobs have recorded since tells: their lists are read once, and the numbers of their rows are kept as bits. Only
// for rows among these is it found out which jobs changed them, and whether those have been taken back.

import Foundation
import ManagedObjects

/// Which rows other jobs have changed since one. Belongs to the thread of the undo.
final class LaterChanges {
  private static let page = 16
  /// Words of 64 rows that are kept. Beyond that the lists are read for each save.
  private static let capacity = 1 << 20

  private struct Link {
    let number: Int64
    let undoes: Int64
  }

  private let context: ManagedObjectContext
  private let job: String
  private var rows: [String: [Int64: UInt64]] = [:]
  private var words = 0
  private var last: ManagedObjectID?
  /// Jobs by their names; nil for one that isn't known.
  private var links: [String: Link?] = [:]

  /// - Parameter job: names the job whose rows are looked at.
  init(_ context: ManagedObjectContext, job: String) {
    self.context = context
    self.job = job
  }

  /// What a job did to a row.
  private struct Events {
    var count: Int64 = 0
    /// Whether the row then had other values. Members of its sets don't count.
    var differ = false
  }

  /// The rows that jobs have changed after a save, and that haven't been taken back.
  /// - Parameters:
  ///   - fingerprints: those of the rows, after that save and now.
  ///   - segment: the last list of that save.
  func changed(
    _ fingerprints: [Int64: UInt32], of entity: String, after segment: ManagedObjectID
  ) throws -> Set<Int64> {
    let candidates = fingerprints.keys
    try readOn(from: segment)
    let known = rows[entity] ?? [:]
    let suspects = words >= Self.capacity ? Array(candidates) : candidates.filter { Self.has($0, in: known) }
    guard let first = suspects.min(), let end = suspects.max() else { return [] }
    let wanted = Set(suspects)
    var events: [Int64: [String: Events]] = [:]
    let covers: FetchPredicate =
      .equal("entity", .string(entity)) && .comparison(.path("firstRow"), .lessOrEqual, .constant(.int(end)))
      && .comparison(.path("lastRow"), .greaterOrEqual, .constant(.int(first)))
    try each(covers, after: segment) { name, list, event, _ in
      try LineageEntries.each(list, of: event) { entry in
        guard wanted.contains(entry.row) else { return }
        events[entry.row, default: [:]][name, default: Events()].count += 1
        if entry.fingerprint != fingerprints[entry.row] { events[entry.row]?[name]?.differ = true }
      }
    }
    return Set(try events.filter { try isChange($0.value) }.keys)
  }

  private static func has(_ row: Int64, in words: [Int64: UInt64]) -> Bool {
    words[row >> 6].map { $0 & (1 << UInt64(row & 63)) != 0 } ?? false
  }

  /// Reads the lists that were saved since the last call.
  /// - Parameter segment: where to begin, the first time: of the job's last save.
  private func readOn(from segment: ManagedObjectID) throws {
    let start = try last ?? firstList() ?? segment
    var end = start
    try each(nil, after: start) { _, list, event, object in
      end = object.objectID
      if self.words >= Self.capacity { return }
      let entity = object.text("entity")
      var words = self.rows.removeValue(forKey: entity) ?? [:]
      let before = words.count
      try LineageEntries.each(list, of: event) { entry in
        words[entry.row >> 6, default: 0] |= 1 << UInt64(entry.row & 63)
      }
      self.words += words.count - before
      self.rows[entity] = words
    }
    last = end
  }

  private func firstList() throws -> ManagedObjectID? {
    try context.fetchIDs(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.lineageEntity, predicate: .equal("job", .string(job)),
        sortDescriptors: [FetchSortDescriptor("objectID")], fetchLimit: 1, includesPendingChanges: false)
    ).first
  }

  /// Calls `body` for the lists of other jobs. Those of jobs that have taken this one back are left out, and of jobs that have
  /// taken back these.
  private func each(
    _ predicate: FetchPredicate?, after start: ManagedObjectID,
    _ body: (_ job: String, _ list: Data, RowEvent, ManagedObject) throws -> Void
  ) throws {
    var last = start
    while true {
      let isLater = FetchPredicate.comparison(.path("SELF"), .greater, .constant(.object(last)))
      let found = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.lineageEntity,
          predicate: .and([predicate, isLater, .notEqual("job", .string(job))].compactMap { $0 }),
          sortDescriptors: [FetchSortDescriptor("objectID")], fetchLimit: Self.page, includesPendingChanges: false))
      for object in found {
        let name = object.text("job")
        guard let event = RowEvent(rawValue: object.number("event")) else { throw LineageError.damaged }
        if try !takesBackOwn(name) { try body(name, object.data("rows"), event, object) }
      }
      guard found.count == Self.page, let end = found.last else { return }
      last = end.objectID
      // A list may have a megabyte.
      for object in found { context.refresh(object, mergeChanges: false) }
    }
  }

  // MARK: Jobs that take back others

  private func link(_ name: String) throws -> Link? {
    if let known = links[name] { return known }
    let object = try LineageRecorder.find(name, "", in: context)
    let link = object.map { Link(number: $0.number("number"), undoes: $0.number("undoes")) }
    links.updateValue(link, forKey: name)
    return link
  }

  /// The jobs that one stands for: itself, the one that it took back, the one that that took back, and so on.
  private func chain(_ name: String) throws -> [String] {
    var chain = [name]
    while let last = chain.last, let link = try link(last), link.undoes != 0 {
      let next = LineageRecorder.name(of: link.undoes, beside: job)
      if chain.contains(next) { break }
      chain.append(next)
    }
    return chain
  }

  private func takesBackOwn(_ name: String) throws -> Bool { try chain(name).contains(job) }

  /// Whether jobs have changed a row, and others haven't taken that back.
  private func isChange(_ events: [String: Events]) throws -> Bool {
    var sums: [String: Events] = [:]
    for (name, each) in events {
      let chain = try chain(name)
      let root = chain.last ?? name
      sums[root, default: Events()].count += chain.count % 2 == 1 ? each.count : -each.count
      if each.differ { sums[root]?.differ = true }
    }
    return sums.values.contains { $0.count > 0 && $0.differ }
  }
}
