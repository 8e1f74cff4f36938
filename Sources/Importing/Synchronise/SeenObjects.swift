// Rules 3, 4 and 9 of the design for what a source was about: it is noted in the store, saved with the batch that was
// about it, in objects of `lade_seen` of 8,192 rows each. A batch in the order of the store's rows touches one or two of
// them, and a job that is killed and gone on with knows what it knew.

import ManagedObjects

/// The objects of the store that a job's records were about, by the numbers of their rows.
struct SeenObjects {
  let context: ManagedObjectContext
  let job: String
  /// The entity imported.
  let entity: EntityDescription
  /// Whether its other objects are as good as gone: references don't find them.
  let hidesOthers: Bool
  /// Whether a record that is rejected is about its object all the same.
  let countsRejected: Bool

  /// Notes what a batch was about, for the context's next save.
  /// - Returns: the batch's tally, with the rejected records of which that can't be told.
  func mark(_ rows: RowApplier) throws -> Tally {
    var tally = rows.tally
    var numbers = try rows.appliedNumbers()
    if countsRejected {
      let rejected = rows.rejectedKeys()
      numbers += rows.numbers(of: rejected)
      tally.unidentified = rejected.unidentified
      tally.unidentifiedLine = rejected.firstLine
    }
    try mark(numbers)
    try mark(referred: rows.referred())
    return tally
  }

  /// Notes objects that are made on the way when there are none, for the context's next save: what refers to them says
  /// that they are to be there.
  func mark(referred ids: [ManagedObjectID]) throws {
    let own = ids.filter { $0.entity.rootEntity === entity.rootEntity }
    if own.isEmpty { return }
    let new = own.filter(\.isTemporaryID).map { context.object(with: $0) }
    try context.obtainPermanentIDs(for: new)
    try mark((own.filter { !$0.isTemporaryID }.map(\.number) + new.compactMap(Self.number(of:))).sorted())
  }

  /// Those of the objects that references don't find any more.
  func hidden(among ids: [ManagedObjectID]) throws -> Set<ManagedObjectID> {
    guard hidesOthers else { return [] }
    let own = ids.filter { $0.entity === entity }
    return own.isEmpty ? [] : Set(try unseen(among: own))
  }

  /// The number of an object's row; nil while it has none.
  static func number(of object: ManagedObject) -> Int64? {
    if let key = object.entity.primaryKey, case .int(let number) = object.value(at: key.slot) { return number }
    return object.objectID.isTemporaryID ? nil : object.objectID.number
  }

  /// Notes rows, for the context's next save.
  func mark(_ numbers: [Int64]) throws {
    var chunks: [Int64: SeenRows] = [:]
    var (chunk, rows) = (Int64.min, SeenRows())
    for number in numbers {
      if SeenRows.chunk(of: number) != chunk {
        if chunk != .min { chunks[chunk] = rows }
        chunk = SeenRows.chunk(of: number)
        rows = chunks[chunk] ?? SeenRows()
      }
      rows.insert(number)
    }
    if chunk != .min { chunks[chunk] = rows }
    let known = try objects(of: Array(chunks.keys))
    for (chunk, rows) in chunks.sorted(by: { $0.key < $1.key }) {
      if let object = known[chunk] {
        let kept = Self.rows(object)
        let both = kept.union(rows)
        if both != kept { try object.setValue(.data(both.data), forKey: "rows") }
      } else {
        let object = try context.insert(ImportModel.seenEntity)
        try object.setValue(.string(job), forKey: "job")
        try object.setValue(.int(chunk), forKey: "chunk")
        try object.setValue(.data(rows.data), forKey: "rows")
      }
    }
  }

  /// Those of the objects that no record was about.
  func unseen(among ids: [ManagedObjectID]) throws -> [ManagedObjectID] {
    let chunks = try objects(of: Array(Set(ids.map { SeenRows.chunk(of: $0.number) }))).mapValues(Self.rows)
    return ids.filter { chunks[SeenRows.chunk(of: $0.number)]?.contains($0.number) != true }
  }

  /// Takes away what is noted for a job.
  static func removeAll(of job: String, in context: ManagedObjectContext) throws {
    while true {
      let some = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.seenEntity, predicate: .equal("job", .string(job)), fetchLimit: 5_000))
      if some.isEmpty { return }
      for object in some { context.delete(object) }
      try context.save()
      context.reset()
    }
  }

  private func objects(of chunks: [Int64]) throws -> [Int64: ManagedObject] {
    var found: [Int64: ManagedObject] = [:]
    for part in chunks.parts(of: 10_000) {
      let request = FetchRequest<ManagedObject>(
        entityName: ImportModel.seenEntity,
        predicate: .equal("job", .string(job)) && .isIn("chunk", part.map { .int($0) }))
      for object in try context.fetch(request) {
        if case .int(let chunk)? = object.value(forKey: "chunk") { found[chunk] = object }
      }
    }
    return found
  }

  private static func rows(_ object: ManagedObject) -> SeenRows {
    if case .data(let data)? = object.value(forKey: "rows") { return SeenRows(data) }
    return SeenRows()
  }
}
