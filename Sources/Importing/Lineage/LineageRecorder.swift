// Rules 3 and 4 (ARCHITECTURE.md) for where rows come from: what a save inserts, changes and deletes is recorded by the same save.
// A job that is killed and runs again has recorded exactly what its commits did.
//
// Rows that are inserted without objects are noted by the writer of the batch. Everything else is found in the context just before
// it is saved, whatever has changed it: records, delete rules, the ends of relationships.

import Foundation
package import ManagedObjects

/// Records what the saves of one job do. Belongs to the job's thread.
package final class LineageRecorder {
  /// Former values beyond this are continued in another object.
  private static let imageSize = 4 << 20

  /// The entries of one entity and event that the next save is to record.
  private struct Segment {
    let event: RowEvent
    let entity: EntityDescription
    var entries = LineageEntries()
    var images: [(first: Int, images: BeforeImages)] = []

    init(_ event: RowEvent, _ entity: EntityDescription) {
      self.event = event
      self.entity = entity
    }

    /// The number of rows; negative if there are sets of inserted rows.
    var count: Int64 {
      let count = Int64(entries.count)
      return event == .inserted && !images.isEmpty ? -count : count
    }

    mutating func append(_ values: [BeforeValue]) {
      if images.last.map({ $0.images.size >= LineageRecorder.imageSize }) ?? true {
        images.append((entries.count, BeforeImages()))
      }
      images[images.count - 1].images.append(values)
    }

    /// Notes the sets of an inserted row, once one has any.
    mutating func append(joined values: [BeforeValue]) {
      if values.isEmpty, images.isEmpty { return }
      if images.isEmpty {
        images.append((0, BeforeImages()))
        for _ in 0..<entries.count { images[0].images.append([]) }
      }
      append(values)
    }
  }

  private struct Noted {
    /// Retained, so that no other object has its identity.
    let object: ManagedObject
    let place: RecordPlace
  }

  private let context: ManagedObjectContext
  private let scope: LineageScope
  private let job: String
  private let member: String
  private let origin: LineageOrigin
  private let source: LineageSource
  /// Rows without objects that the next save inserts.
  private var inserted: [Segment] = []
  private var noted: [ObjectIdentifier: Noted] = [:]
  /// The objects that hold what is recorded, until they are saved.
  private var made: [ManagedObject] = []
  /// The object of the job, with the number of that save.
  private var counted: ManagedObject?
  private var fingerprints: [ObjectIdentifier: RowFingerprint] = [:]
  /// The attributes whose former values aren't kept, since masks replace them.
  private let masked: MaskedAttributes?

  /// - Parameter job: names the job in its checkpoint; the part after `#` is a member of its file.
  init(
    _ context: ManagedObjectContext, job: String, _ origin: LineageOrigin, _ source: LineageSource,
    _ scope: LineageScope, masked: MaskedAttributes? = nil
  ) {
    self.masked = masked
    self.context = context
    self.scope = scope
    self.origin = origin
    self.source = source
    (self.job, member) = Self.parts(of: job)
  }

  /// For a job without a file.
  package convenience init(
    _ context: ManagedObjectContext, job: String, _ origin: LineageOrigin, entity: String, _ scope: LineageScope
  ) {
    self.init(context, job: job, origin, LineageSource(entity: entity), scope)
  }

  /// A job's name without its member, and the member.
  static func parts(of job: String) -> (job: String, member: String) {
    let parts = job.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }

  /// The name of a job of the same queue.
  /// - Parameter job: the name of one of its jobs.
  static func name(of number: Int64, beside job: String) -> String { "\(queue(of: job))\(number)" }

  /// What the names of a queue's jobs begin with.
  static func queue(of job: String) -> String { job.lastIndex(of: "/").map { String(job[...$0]) } ?? "" }

  /// Whether rows of an entity are recorded.
  func contains(_ entity: EntityDescription) -> Bool { scope.contains(entity) }

  /// What tells whether a row of an entity has changed.
  func hash(of entity: EntityDescription) -> RowFingerprint {
    if let known = fingerprints[ObjectIdentifier(entity)] { return known }
    let new = RowFingerprint(entity)
    fingerprints[ObjectIdentifier(entity)] = new
    return new
  }

  // MARK: Noting

  /// Forgets what was noted for a save that hasn't happened. To be called before each attempt of a save.
  package func begin() {
    inserted.removeAll()
    noted.removeAll(keepingCapacity: true)
    takeBack()
  }

  /// Removes what was to record a save that hasn't happened.
  private func takeBack() {
    for object in made where object.managedObjectContext === context { context.delete(object) }
    made.removeAll()
    if let counted, counted.managedObjectContext === context, !counted.objectID.isTemporaryID {
      context.refresh(counted, mergeChanges: false)
    }
    counted = nil
  }

  /// Notes which record has changed an object.
  func note(_ object: ManagedObject, _ place: RecordPlace) {
    noted[ObjectIdentifier(object)] = Noted(object: object, place: place)
  }

  /// Notes rows that the next save inserts without objects.
  /// - Parameters:
  ///   - numbers: the numbers that they will have.
  ///   - sums: what their attributes add to their fingerprints, where that is known.
  ///   - place: the record of each.
  @inline(__always)
  func noteInserted(
    _ rows: NewRows, numbers: [Int64], sums: (Int) -> UInt64?, place: (Int) -> RecordPlace
  ) {
    guard rows.count > 0, scope.contains(rows.entity) else { return }
    let hash = hash(of: rows.entity)
    var segment = Segment(.inserted, rows.entity)
    segment.entries.reserve(rows.count)
    for row in 0..<rows.count {
      let sum = (sums(row) ?? hash.attributes(of: rows, row)) &+ hash.references(of: rows, row)
      segment.entries.append(numbers[row], place(row), RowFingerprint.folded(sum))
    }
    inserted.append(segment)
  }

  // MARK: Recording

  /// Adds objects to the next save that record what it does. To be called when everything else is done.
  package func record() throws {
    takeBack()
    context.processPendingChanges()
    try clearLooseReferences()
    let segments = try inserted + changes()
    if segments.isEmpty { return }
    let save = try nextSave(segments)
    let saved = Date()
    for (part, segment) in segments.enumerated() {
      let object = try make(ImportModel.lineageEntity)
      try object.set(["job": job, "member": member, "entity": segment.entity.name])
      try object.set([
        "save": save, "part": Int64(part), "event": segment.event.rawValue, "count": segment.count,
        "firstRow": segment.entries.firstRow, "lastRow": segment.entries.lastRow,
      ])
      try object.setValue(.data(segment.entries.data), forKey: "rows")
      for image in segment.images where origin.keepsBefore {
        let object = try make(ImportModel.beforeEntity)
        try object.set(["job": job])
        // What was inserted can be taken back without: then the numbers are negative, and don't count as former values.
        let first = segment.event == .inserted ? -1 - Int64(image.first) : Int64(image.first)
        try object.set(["save": save, "part": Int64(part), "first": first])
        try object.setValue(.date(saved), forKey: "saved")
        try object.setValue(.data(image.images.data), forKey: "images")
      }
    }
  }

  private func make(_ entity: String) throws -> ManagedObject {
    let object = try context.insert(entity)
    made.append(object)
    return object
  }

  /// Clears what refers to deleted objects and would be cleared by the store, so that it is recorded as a change.
  private func clearLooseReferences() throws {
    let deleted = context.deletedObjects.filter {
      $0.isDeleted && !$0.entity.looseReferences.isEmpty && scope.contains($0.entity) && !$0.objectID.isTemporaryID
    }
    if deleted.isEmpty { return }
    for (entity, objects) in Dictionary(grouping: deleted, by: \.entity) {
      let ids = Set(objects.map(\.objectID))
      for reference in entity.looseReferences
      where scope.contains(reference.entity) && (reference.isToMany || reference.isOptional) {
        for holder in try LooseReference(reference).holders(of: ids, in: context) where !holder.isDeleted {
          LooseReference(reference).clear(ids, in: holder)
        }
      }
    }
    context.processPendingChanges()
  }

  /// What the context's objects show of the next save.
  private func changes() throws -> [Segment] {
    var segments: [Segment] = []
    func append(
      _ event: RowEvent, _ object: ManagedObject, _ fingerprint: UInt32?, _ before: [BeforeValue]? = nil
    ) {
      let entity = object.entity
      let place = noted[ObjectIdentifier(object)]?.place ?? .unknown
      var index = segments.count - 1
      while index >= 0, segments[index].event != event || segments[index].entity !== entity { index -= 1 }
      if index < 0 {
        segments.append(Segment(event, entity))
        index = segments.count - 1
      }
      if let before { segments[index].append(before) }
      if event == .inserted { segments[index].append(joined: BeforeValue.ofInsertion(object)) }
      segments[index].entries.append(object.objectID.number, place, fingerprint)
    }
    let new = context.insertedObjects.filter { !ImportModel.entities.contains($0.entity.name) }
    try context.obtainPermanentIDs(for: new)
    for object in context.deletedObjects
    where object.isDeleted && scope.contains(object.entity) && !object.objectID.isTemporaryID {
      append(.deleted, object, nil, BeforeValue.ofDeletion(object))
    }
    for object in context.updatedObjects where scope.contains(object.entity) {
      let before = BeforeValue.ofChange(object, masked: masked?.slots(of: object.entity) ?? [])
      if !before.isEmpty { append(.updated, object, hash(of: object.entity).of(object.slots), before) }
    }
    for object in new where scope.contains(object.entity) && !object.objectID.isTemporaryID {
      append(.inserted, object, hash(of: object.entity).of(object.slots))
    }
    return segments
  }

  /// The number of the next save of the job, noted in the object of the job, which is made the first time.
  private func nextSave(_ segments: [Segment]) throws -> Int64 {
    if !member.isEmpty, try Self.find(job, member, in: context) == nil {
      _ = try makeJob(member, source)
    }
    let feed = LineageSource(name: source.name, entity: member.isEmpty ? source.entity : ImportRequest.feed)
    let object = try Self.find(job, "", in: context) ?? makeJob("", member.isEmpty ? source : feed)
    counted = object
    let undo = object.number("undoneBy")
    if undo < 0, try JobStanding.isUnderWay(Self.name(of: -undo, beside: job), in: context) {
      throw LineageError.undoUnderWay(by: -undo)
    }
    // It does more than what was taken back.
    if undo != 0 { try object.set(["undoneBy": 0]) }
    let save = object.number("saves") + 1
    let images = segments.lazy.filter { $0.event != .inserted }.count
    try object.set([
      "saves": save, "events": object.number("events") + segments.reduce(0) { $0 + Int64($1.entries.count) },
      "before": object.number("before") + Int64(images),
    ])
    return save
  }

  private func makeJob(_ member: String, _ source: LineageSource) throws -> ManagedObject {
    let object = try make(ImportModel.jobEntity)
    try object.set([
      "job": job, "member": member, "kind": origin.kind, "name": source.name, "inside": source.inside,
      "recipe": origin.recipe, "submitter": origin.submitter, "entity": source.entity,
    ])
    try object.set(["number": origin.number, "undoes": origin.undoes])
    try object.setValue(.date(origin.submitted), forKey: "submitted")
    return object
  }

  /// The object of a job or member; nil if nothing is recorded of it.
  static func find(_ job: String, _ member: String, in context: ManagedObjectContext) throws -> ManagedObject? {
    try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.jobEntity, predicate: .equal("job", .string(job)) && .equal("member", .string(member)),
        fetchLimit: 1, includesPendingChanges: false)
    ).first
  }

  /// Notes, with the context's next save, that the job has ended.
  /// - Parameter digest: of its file.
  package func finish(digest: String? = nil) throws { try Self.finish(job, digest: digest, in: context) }

  static func finish(_ job: String, digest: String?, in context: ManagedObjectContext) throws {
    guard let object = try find(job, "", in: context) else { return }
    try object.setValue(.date(Date()), forKey: "ended")
    if let digest { try object.set(["digest": digest]) }
  }
}
