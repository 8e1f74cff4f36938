// Rules 3, 4 and 9 (ARCHITECTURE.md) for the objects that a source was about: they are marked in the store and saved with
// the batch that was about them, in objects of `lade_seen` for 8,192 rows each. A batch in the order of the store's rows
// touches one or two of these, and a killed job that continues knows what it had marked.

import ManagedObjects

/// The store's objects that a job's records were about, by row number.
struct SeenObjects {
  let job: String
  private let context: ManagedObjectContext
  /// The imported entity.
  private let entity: EntityDescription
  /// Whether references don't find its other objects, which will be deleted.
  private let hidesOthers: Bool

  init(
    context: ManagedObjectContext, job: String, entity: EntityDescription, hidesOthers: Bool
  ) {
    self.context = context
    self.job = job
    self.entity = entity
    self.hidesOthers = hidesOthers
  }

  /// Marks what a batch was about, for the context's next save. A rejected record protects its object from deletion, too.
  /// - Returns: the batch's tally, with the rejected records that don't say what they are about.
  func mark(_ rows: RowApplier) throws -> Tally {
    var tally = rows.tally
    var numbers = try rows.appliedNumbers()
    let rejected = rows.rejectedKeys()
    numbers += rows.numbers(of: rejected)
    tally.unidentified = rejected.unidentified
    tally.unidentifiedLine = rejected.firstLine
    try mark(numbers)
    try mark(referred: rows.referred())
    return tally
  }

  /// Marks objects that references would create if they didn't exist, for the context's next save: a reference to an object
  /// protects it like a record.
  func mark(referred ids: [ManagedObjectID]) throws {
    let own = ids.filter { $0.entity.rootEntity === entity.rootEntity }
    if own.isEmpty { return }
    let new = own.filter(\.isTemporaryID).map { context.object(with: $0) }
    try context.obtainPermanentIDs(for: new)
    try mark((own.filter { !$0.isTemporaryID }.map(\.number) + new.compactMap(Self.number(of:))).sorted())
  }

  /// The objects that references don't find any more.
  func hidden(among ids: [ManagedObjectID]) throws -> Set<ManagedObjectID> {
    guard hidesOthers else { return [] }
    let own = ids.filter { $0.entity === entity }
    return own.isEmpty ? [] : Set(try unseen(among: own))
  }

  /// The number of an object's row; nil as long as it has none.
  static func number(of object: ManagedObject) -> Int64? {
    if let key = object.entity.primaryKey, case .int(let number) = object.value(at: key.slot) { return number }
    return object.objectID.isTemporaryID ? nil : object.objectID.number
  }

  /// Marks rows, for the context's next save.
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

  /// The objects that no record was about.
  func unseen(among ids: [ManagedObjectID]) throws -> [ManagedObjectID] {
    let chunks = try objects(of: Array(Set(ids.map { SeenRows.chunk(of: $0.number) }))).mapValues(Self.rows)
    return ids.filter { chunks[SeenRows.chunk(of: $0.number)]?.contains($0.number) != true }
  }

  /// Those of the rows that a record was about.
  func marked(among numbers: [Int64]) throws -> Set<Int64> {
    if numbers.isEmpty { return [] }
    let chunks = try objects(of: Array(Set(numbers.map(SeenRows.chunk)))).mapValues(Self.rows)
    return Set(numbers.filter { chunks[SeenRows.chunk(of: $0)]?.contains($0) == true })
  }

  /// Deletes the marks of a job.
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
