import ManagedObjects

/// A batch of records converted into rows: what the reading thread hands to the writing thread.
///
/// Handed over whole; afterwards the record batch behind it goes back to the reader.
final class ConvertedBatch: @unchecked Sendable {
  // Sendable: made by the reading thread, and used by the writing thread alone after it has been handed over.

  /// A record's row.
  struct Row {
    let record: Int
    let values: ContiguousArray<Value>
    /// The key of each to-one relationship of the mapping: `.null` where the record says that it is empty, `.unresolved`
    /// where it says nothing.
    let keys: [Value]
    /// The keys of each to-many relationship of the mapping, each once; nil where the record says nothing.
    var lists: [[Value]?] = []
    /// The nested objects that the record gives for relationships.
    var nested: [Nested] = []
    /// What was kept of a deferred record. It isn't in the batch's source.
    var deferred: DeferredRow?
  }

  /// What a record gives for a relationship as nested objects, and the link made of it.
  struct Nested {
    let value: NestedValue
    let link: NestedLink
  }

  let source: RecordBatch
  let mapping: RecordMapping
  private let mode: ImportMode
  /// Bytes of the source read so far.
  let bytesRead: Int64
  /// Whether every row becomes a new object and has been validated before it is one.
  let isChecked: Bool
  private(set) var rejections: [Rejection]
  /// How many records the filter left out.
  let skipped: Int64
  /// What the rejected records are about, in a mode that needs to know.
  let rejectedKeys: RejectedKeys
  /// How many values were left out because they don't fit, by attribute.
  let leftOut: [String: Int64]
  /// Why the import can't go on with this batch.
  let refusal: MappingError?
  /// The rows that become objects.
  private(set) var rows: ContiguousArray<Row>
  /// The rows as flat memory, where objects may not be needed for them.
  private var flat: FlatRows?

  init(
    _ source: RecordBatch, _ mapping: RecordMapping, _ mode: ImportMode, bytesRead: Int64, isChecked: Bool,
    rows: ContiguousArray<Row>, flat: FlatRows?, rejections: [Rejection], skipped: Int64, rejectedKeys: RejectedKeys,
    leftOut: [String: Int64] = [:], refusal: MappingError? = nil
  ) {
    self.source = source
    self.mapping = mapping
    self.mode = mode
    self.bytesRead = bytesRead
    self.isChecked = isChecked
    self.rows = rows
    self.flat = flat
    self.rejections = rejections
    self.skipped = skipped
    self.rejectedKeys = rejectedKeys
    self.leftOut = leftOut
    self.refusal = refusal
  }

  /// A batch of deferred records.
  convenience init(_ deferred: [DeferredRow], of mapping: RecordMapping, mode: ImportMode) throws {
    var rows = ContiguousArray<Row>()
    for (place, record) in deferred.enumerated() { rows.append(try record.row(place, mapping)) }
    self.init(
      RecordBatch(), mapping, mode, bytesRead: 0, isChecked: RecordConverter.checksRows(of: mapping.entity, mode),
      rows: rows, flat: nil, rejections: [], skipped: 0, rejectedKeys: RejectedKeys())
  }

  /// Whether any record has become a row.
  var hasRows: Bool { flat.map { $0.rows.count > 0 } ?? !rows.isEmpty }

  // MARK: Flat rows

  /// The rows without objects, as long as nothing has needed objects.
  var flatRows: NewRows? { flat?.rows }

  /// The keys of the flat rows for a to-one relationship, by its place in the mapping.
  func flatKeys(_ place: Int) -> CodedKeys { flat?.keys(place) ?? CodedKeys(keys: [], codes: [], generation: 0) }

  /// The flat rows with complete keys in the order of these, in a mode that finds objects.
  var keyOrder: [Int32] { flat?.order ?? [] }

  /// The nested objects of the flat rows, for each relationship that has some.
  var flatNested: [FlatNestedRows] { flat?.nested ?? [] }

  /// Turns the flat rows into rows that become objects.
  /// - Throws: ``Interrupted`` when converting records again was.
  func makeRows() throws(Interrupted) {
    guard let flat else { return }
    if flat.mayNest {
      var converter = RecordConverter(source, mapping, mode, bytesRead: bytesRead)
      let again = try converter.convertForObjects()
      rows = again.rows
      rejections = again.rejections
    } else {
      makeRows(of: Array(0..<flat.rows.count))
    }
    self.flat = nil
  }

  /// Turns some of the flat rows into rows that become objects.
  func makeRows(of indices: [Int]) {
    rows.removeAll(keepingCapacity: true)
    guard let flat, !indices.isEmpty else { return }
    rows.reserveCapacity(indices.count)
    for index in indices { rows.append(flat.row(index, mapping)) }
  }

  // MARK: Places in the source

  /// The place of a row's record.
  func place(of row: Row) -> RecordPlace {
    if let kept = row.deferred?.kept {
      return RecordPlace(record: kept.record + 1, line: kept.line, byte: kept.byteOffset ?? 0)
    }
    return place(ofRecord: row.record)
  }

  /// The place of a flat row's record.
  func place(ofFlat row: Int) -> RecordPlace { flat.map { place(ofRecord: $0.record(of: row)) } ?? .unknown }

  private func place(ofRecord record: Int) -> RecordPlace {
    RecordPlace(
      record: source.end.record - Int64(source.count - record) + 1, line: source.line(record),
      byte: source.byteOffset(record))
  }

  /// What a flat row's attributes add to its fingerprint; nil if that hasn't been computed.
  func fingerprintSum(ofFlat row: Int) -> UInt64? { flat?.fingerprintSum(of: row) }

  // MARK: Rows and their records

  /// Whether the rows come from deferred records. Then writing them doesn't advance the reader's position.
  var isDeferred: Bool { rows.first?.deferred != nil }

  /// The number of a row's record in the source.
  func number(of row: Row) -> Int64 {
    row.deferred?.kept.record ?? source.end.record - Int64(source.count - row.record)
  }

  /// Whether a row's record has a column.
  @inline(__always)
  func says(_ row: Row, _ column: Int) -> Bool {
    guard let deferred = row.deferred else { return source.cell(row.record, column).kind != .missing }
    return deferred.columns.contains(mapping.columns[column])
  }

  /// The constraint by which a row finds its object, by its place in the mapping: the first whose attributes the record all
  /// has, even if they are null. nil when there is none, which is possible for JSON records only.
  func constraint(of row: Row) -> Int? {
    mapping.constraints.firstIndex { $0.columns.allSatisfy { says(row, $0) } }
  }

  /// The key that values have in a constraint.
  func key(of values: ContiguousArray<Value>, _ place: Int) -> UniqueKey {
    UniqueKey(mapping.constraints[place].attributes.map { values[$0.slot] })
  }

  /// The rejection of a row's record.
  func rejection(_ row: Row, column: String = "", code: String, message: String) -> Rejection {
    guard let kept = row.deferred?.kept else {
      return source.rejection(row.record, column: column, code: code, message: message)
    }
    return Rejection(
      record: row.record, line: kept.line, column: column, code: code, message: message, raw: kept.raw,
      isSelfContained: kept.isSelfContained)
  }
}

/// The rows of a batch in flat memory: no value, no string and no array is made for them.
///
/// Possible where records have no references, or only keys of objects that the store has. A mode that only inserts needs no
/// objects for them. In modes that find objects by one uniqueness constraint, they are compared with the store's rows, and
/// objects are made of those that change something.
struct FlatRows {
  let rows: NewRows
  /// The record of each row.
  private var records: [Int] = []
  /// What the attributes of each row add to its fingerprint; none where nothing is recorded.
  private var sums: [UInt64] = []
  private let hash: RowFingerprint?
  /// The key of each row, for each to-one relationship of the mapping. The reading of a record that is rejected may leave
  /// one more.
  private var keys: [[Value]]
  /// The number of each key.
  private var codes: [[Int32]]
  private let generation: Int
  /// The rows with complete keys in the order of these, in a mode that finds objects.
  private(set) var order: [Int32] = []
  /// The nested objects, for each relationship that has some.
  private(set) var nested: [FlatNestedRows]

  /// Whether records may have nested objects: rows for objects can't be made of flat rows alone then.
  let mayNest: Bool

  init(
    _ rows: NewRows, references: Int, _ generation: Int, mayNest: Bool, nested: [FlatNestedRows], capacity: Int,
    hash: RowFingerprint? = nil
  ) {
    self.rows = rows
    self.hash = hash
    if hash != nil { sums.reserveCapacity(capacity) }
    self.mayNest = mayNest
    self.nested = nested
    self.generation = generation
    keys = Array(repeating: [], count: references)
    codes = Array(repeating: [], count: references)
    records.reserveCapacity(capacity)
  }

  /// Notes the record of the row that was ended.
  @inline(__always)
  mutating func append(record: Int) {
    records.append(record)
    if let hash { sums.append(hash.attributes(of: rows, records.count - 1)) }
  }

  func record(of row: Int) -> Int { records[row] }

  func fingerprintSum(of row: Int) -> UInt64? { hash == nil ? nil : sums[row] }

  /// Notes a key of the row that is being made.
  @inline(__always)
  mutating func setKey(_ key: Value, _ code: Int32, _ place: Int) {
    // A row that was rejected after its keys were read has left one.
    if keys[place].count > rows.count {
      keys[place].removeLast()
      codes[place].removeLast()
    }
    keys[place].append(key)
    codes[place].append(code)
  }

  /// Prepares the comparison with the store's rows; false if two rows have the same key.
  mutating func sort(by slots: [Int]) -> Bool {
    guard let order = rows.order(by: slots) else { return false }
    self.order = order
    return true
  }

  func keys(_ place: Int) -> CodedKeys {
    CodedKeys(
      keys: keys[place].prefix(rows.count), codes: codes[place].prefix(rows.count), generation: generation)
  }

  // MARK: Nested objects

  /// Reads the nested objects of the record whose row is being made; false if objects have to be made.
  @inline(__always)
  mutating func readNested(_ record: Int, in source: RecordBatch) -> Bool {
    for place in nested.indices {
      guard nested[place].read(record, in: source) else { return false }
    }
    return true
  }

  /// Prepares the look-up of nested objects; false if two of them have the same key.
  mutating func sortNested() -> Bool {
    for place in nested.indices {
      guard nested[place].sort() else { return false }
    }
    return true
  }

  /// A row for an object.
  func row(_ index: Int, _ mapping: RecordMapping) -> ConvertedBatch.Row {
    var values = rows.values(index)
    for reference in mapping.references {
      let slot = reference.relationship.slot
      values[slot] = mapping.rules.initialValues[slot]
    }
    return ConvertedBatch.Row(record: records[index], values: values, keys: keys.map { $0[index] })
  }
}
