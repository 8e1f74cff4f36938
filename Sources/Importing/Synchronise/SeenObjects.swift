// Rules 3, 4 and 9 (ARCHITECTURE.md) for the objects that a source was about: they are marked in the store and saved with
// the batch that was about them, in objects of `lade_seen` for 8,192 rows each. A batch in the order of the store's rows
// touches one or two of these, and a killed job that continues knows what it had marked.
//
// What the marks mean for an object that the store had before a `replace`:
//
//   marks               | references | a record may   | a record may take    | at the end of the file
//                       | find it    | take its place | its unique values    |
//   none                | no         | yes            | yes                  | deleted
//   kept                | yes        | yes            | yes                  | stays as it was
//   described           | yes        | no: duplicate  | no: duplicate        | is what its record says
//   yielded             | no         | yes            | yes                  | deleted
//   kept + yielded      | yes        | yes            | yes                  | lacks a value: the file is read again
//   described + yielded | yes        | no: duplicate  | no: duplicate        | is what its record says
//
// If a rejected record doesn't say what it is about, nothing is deleted: at the end, references find every object, and one
// without marks counts as kept. ProtectedObjects says how a file is read again.

import ManagedObjects

/// The store's objects that a job's records were about, by row number.
struct SeenObjects {
  /// What is known of an object.
  enum Mark: CaseIterable {
    /// A record was applied to it, or this import made it.
    case described
    /// It stays though no record may describe it: a rejected record was about it, or others refer to it.
    case kept
    /// Another record has taken a unique value from it.
    case yielded
    /// It has a further record, which was rejected because the first one was applied.
    case repeated
  }

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
    let rejected = rows.rejectedKeys()
    tally.unidentified = rejected.unidentified
    tally.unidentifiedLine = rejected.firstLine
    try mark(rows.appliedNumbers(), as: .described)
    try mark(rows.numbers(of: rejected), as: .kept)
    try mark(rows.yieldedNumbers, as: .yielded)
    try mark(rows.repeatedNumbers.sorted(), as: .repeated)
    try mark(referred: rows.referred())
    return tally
  }

  /// Marks objects that references would create if they didn't exist, for the context's next save: a reference to an object
  /// protects it like a rejected record.
  func mark(referred ids: [ManagedObjectID]) throws {
    let own = ids.filter { $0.entity.rootEntity === entity.rootEntity }
    if own.isEmpty { return }
    let new = own.filter(\.isTemporaryID).map { context.object(with: $0) }
    try context.obtainPermanentIDs(for: new)
    try mark(new.compactMap(Self.number(of:)).sorted(), as: .described)
    try mark(own.filter { !$0.isTemporaryID }.map(\.number).sorted(), as: .kept)
  }

  /// The objects that references don't find any more.
  func hidden(among ids: [ManagedObjectID]) throws -> Set<ManagedObjectID> {
    guard hidesOthers else { return [] }
    let own = ids.filter { $0.entity === entity }
    return own.isEmpty ? [] : Set(try absent(among: own))
  }

  /// The number of an object's row; nil as long as it has none.
  static func number(of object: ManagedObject) -> Int64? {
    if let key = object.entity.primaryKey, case .int(let number) = object.value(at: key.slot) { return number }
    return object.objectID.isTemporaryID ? nil : object.objectID.number
  }

  /// Marks rows, for the context's next save.
  func mark(_ numbers: [Int64], as mark: Mark) throws {
    if numbers.isEmpty { return }
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
    chunks[chunk] = rows
    var known: [Int64: ManagedObject] = [:]
    for object in try objects([mark], of: Array(chunks.keys)) { known[Self.chunk(object)] = object }
    for (chunk, rows) in chunks.sorted(by: { $0.key < $1.key }) {
      if let object = known[chunk] {
        let kept = Self.rows(object)
        let both = kept.union(rows)
        if both != kept { try object.setValue(.data(both.data), forKey: "rows") }
      } else {
        let object = try context.insert(ImportModel.seenEntity)
        try object.setValue(name(of: mark), forKey: "job")
        try object.setValue(.int(chunk), forKey: "chunk")
        try object.setValue(.data(rows.data), forKey: "rows")
      }
    }
  }

  /// The objects that no record was about, not even a rejected one.
  func absent(among ids: [ManagedObjectID]) throws -> [ManagedObjectID] {
    try without([.described, .kept], ids)
  }

  /// The objects that no record was applied to.
  func undescribed(among ids: [ManagedObjectID]) throws -> [ManagedObjectID] { try without([.described], ids) }

  /// Those of the rows that a record was applied to.
  func described(among numbers: [Int64]) throws -> Set<Int64> {
    try marked(.described, among: numbers)
  }

  /// Those of the rows that their only record was applied to.
  func describedOnce(among numbers: [Int64]) throws -> Set<Int64> {
    try marked(.described, among: numbers).subtracting(marked(.repeated, among: numbers))
  }

  private func marked(_ mark: Mark, among numbers: [Int64]) throws -> Set<Int64> {
    if numbers.isEmpty { return [] }
    let chunks = try rows([mark], of: Array(Set(numbers.map(SeenRows.chunk))))
    return Set(numbers.filter { chunks[SeenRows.chunk(of: $0)]?.contains($0) == true })
  }

  /// Objects that stay and have lost a unique value to another record, by row number.
  /// - Parameter isEachKept: whether nothing is deleted, so that objects without marks stay, too.
  func incomplete(isEachKept: Bool) throws -> [Int64] {
    var numbers: [Int64] = []
    var last: Int64?
    while true {
      let rest = last.map { FetchPredicate.comparison(.path("chunk"), .greater, .constant(.int($0))) }
      let some = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.seenEntity,
          predicate: .and([.equal("job", name(of: .yielded)), rest].compactMap { $0 }),
          sortDescriptors: [FetchSortDescriptor("chunk")], fetchLimit: 1_000))
      guard let end = some.last else { return numbers }
      let described = try rows([.described], of: some.map(Self.chunk))
      let kept = try rows([.kept], of: some.map(Self.chunk))
      for object in some {
        let chunk = Self.chunk(object)
        var left = Self.rows(object).subtracting(described[chunk] ?? SeenRows())
        if !isEachKept { left = left.intersection(kept[chunk] ?? SeenRows()) }
        numbers += left.numbers(in: chunk)
      }
      last = Self.chunk(end)
      context.reset()
    }
  }

  /// Deletes the marks of a job.
  static func removeAll(of job: String, in context: ManagedObjectContext) throws {
    while true {
      let some = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.seenEntity, predicate: .isIn("job", Mark.allCases.map { name(of: $0, job) }),
          fetchLimit: 5_000))
      if some.isEmpty { return }
      for object in some { context.delete(object) }
      try context.save()
      context.reset()
    }
  }

  // MARK: The objects of `lade_seen`

  /// What stands in the place of the job's name, so that each kind of mark has objects of its own.
  private static func name(of mark: Mark, _ job: String) -> Value {
    switch mark {
    case .described: .string(job)
    case .kept: .string(job + "\u{1F}kept")
    case .yielded: .string(job + "\u{1F}yielded")
    case .repeated: .string(job + "\u{1F}repeated")
    }
  }

  private func name(of mark: Mark) -> Value { Self.name(of: mark, job) }

  private func without(_ marks: [Mark], _ ids: [ManagedObjectID]) throws -> [ManagedObjectID] {
    let chunks = try rows(marks, of: Array(Set(ids.map { SeenRows.chunk(of: $0.number) })))
    return ids.filter { chunks[SeenRows.chunk(of: $0.number)]?.contains($0.number) != true }
  }

  /// The rows with one of the marks, by chunk.
  private func rows(_ marks: [Mark], of chunks: [Int64]) throws -> [Int64: SeenRows] {
    var found: [Int64: SeenRows] = [:]
    for object in try objects(marks, of: chunks) {
      let rows = Self.rows(object)
      let chunk = Self.chunk(object)
      found[chunk] = found[chunk]?.union(rows) ?? rows
    }
    return found
  }

  private func objects(_ marks: [Mark], of chunks: [Int64]) throws -> [ManagedObject] {
    try chunks.parts(of: 10_000).flatMap { part in
      try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.seenEntity,
          predicate: .isIn("job", marks.map(name)) && .isIn("chunk", part.map { .int($0) })))
    }
  }

  private static func chunk(_ object: ManagedObject) -> Int64 {
    if case .int(let chunk)? = object.value(forKey: "chunk") { return chunk }
    return 0
  }

  private static func rows(_ object: ManagedObject) -> SeenRows {
    if case .data(let data)? = object.value(forKey: "rows") { return SeenRows(data) }
    return SeenRows()
  }
}
