/// A file's statistics after its first reading.
struct FileProfile {
  let input: InferenceInput
  var records: Int64 = 0
  /// Records that can't be read, and the fault of the first.
  var unreadable: Int64 = 0
  var firstProblem: String?
  var columns: [ColumnProfile] = []
  private let budget: HashBudget
  var notes: [String] = []

  /// Reads a file to its end.
  /// - Parameter keyLimit: the values remembered of each column.
  /// - Throws: ``ReaderError``, or ``InferenceError``.
  init(_ input: InferenceInput, keyLimit: Int, budget: HashBudget) throws {
    self.input = input
    self.budget = budget
    var declared: [ColumnDeclaration?] = []
    notes = try input.read {
      declared = $0
    } _: { (batch: RecordBatch) in
      while columns.count < batch.columns.count {
        var column = ColumnProfile(batch.columns[columns.count], budget: budget)
        if columns.count < declared.count { column.declaration = declared[columns.count] }
        columns.append(column)
      }
      for record in 0..<batch.count {
        if batch.hasProblems, let problem = batch.problem(record) {
          unreadable += 1
          if firstProblem == nil { firstProblem = "line \(batch.line(record)): \(problem)" }
          continue
        }
        records += 1
        for column in columns.indices {
          columns[column].note(
            batch.cell(record, column), batch, owner: records, limit: keyLimit, nulls: input.nulls, budget)
        }
      }
    }
  }
}

extension ColumnProfile {
  /// Takes a cell into account.
  /// - Returns: whether there is a value in it.
  @discardableResult
  mutating func note(
    _ cell: Cell, _ batch: RecordBatch, owner: Int64, limit: Int, nulls: NullWords?, _ budget: HashBudget
  ) -> Bool {
    switch cell.kind {
    case .missing, .null, .empty, .fault: return false
    case .nested:
      guard let value = batch.withBytes(of: cell, { NestedValue(json: $0) }) else {
        nested += 1
        return true
      }
      note(nested: value, owner: owner, limit: limit, depth: 0, budget: budget)
      return true
    case .yes, .no:
      present += 1
      types.noteBoolean()
      note(hash: cell.kind == .yes ? 1 : 2, limit: limit)
      noteExample(cell.kind == .yes ? "true" : "false")
      return true
    case .text, .number, .quantity, .date:
      if cell.length == 0 { return false }
      return batch.withBytes(of: cell) { bytes in
        if nulls.map({ $0.contains(bytes) || $0.contains(ValueConverter.trimmed(bytes)) }) == true { return false }
        present += 1
        note(bytes, cell.kind == .number || cell.kind == .quantity, limit)
        return true
      }
    }
  }
}

extension ColumnProfile {
  mutating func note(_ bytes: UnsafeRawBufferPointer, _ isJSONNumber: Bool, _ limit: Int) {
    leastLength = min(leastLength, bytes.count)
    greatestLength = max(greatestLength, bytes.count)
    let trimmed = ValueConverter.trimmed(bytes)
    if trimmed.isEmpty {
      blank += 1
    } else {
      if trimmed.count < bytes.count { padded += 1 }
      noteType(trimmed, isJSONNumber)
    }
    note(hash: KeyHash.of(bytes), limit: limit)
    if examples.count < 3 { noteExample(String(decoding: bytes.prefix(160), as: UTF8.self)) }
  }

  private mutating func noteType(_ text: UnsafeRawBufferPointer, _ isJSONNumber: Bool) {
    if text.count <= 8, NullWords.usual.contains(text) {
      // From here on, the types are narrowed with such words and without them.
      if typesWithoutNulls == nil { typesWithoutNulls = types }
      let word = String(decoding: text, as: UTF8.self)
      if nullWords.count < 4, !nullWords.contains(word) { nullWords.append(word) }
    } else {
      typesWithoutNulls?.note(text, isJSONNumber: isJSONNumber)
    }
    types.note(text, isJSONNumber: isJSONNumber)
  }

  mutating func noteExample(_ text: String) {
    let short = text.count > 32 ? text.prefix(31) + "…" : text
    if examples.count < 3, !examples.contains(short) { examples.append(short) }
  }
}

/// A column's statistics after the first reading of its file.
struct ColumnProfile {
  /// Whether its values are unique.
  enum Uniqueness: Hashable {
    case unique, repeated
    /// There were more values than the budget allows.
    case undetermined
  }

  let name: String
  /// What the file itself says of the column.
  fileprivate(set) var declaration: ColumnDeclaration?
  var types = ColumnTypes()
  /// The types without words such as `NA`, once there was one.
  fileprivate(set) var typesWithoutNulls: ColumnTypes?
  /// Those words, the first few.
  fileprivate(set) var nullWords: [String] = []
  /// Records with a value.
  var present: Int64 = 0
  /// Values with spaces or tabs around them.
  var padded: Int64 = 0
  /// Values of spaces only: text as they are, nothing for every other type.
  var blank: Int64 = 0
  /// JSON objects and arrays, and what stands in them.
  var nested: Int64 = 0
  var inner: NestedProfile?
  /// In bytes of UTF-8.
  var leastLength = Int.max
  var greatestLength = 0
  /// The first few different values, cut where they are long.
  var examples: [String] = []
  private(set) var uniqueness = Uniqueness.unique
  /// The hashes of its values while they are unique; once a value is repeated, the first few thousand.
  var keys: KeySet
  /// Whether ``keys`` has all its distinct values.
  private(set) var knowsAllValues = true

  /// The distinct values remembered of a column with repeated values.
  static let repeatedLimit = 4_096

  init(_ name: String, budget: HashBudget) {
    self.name = name
    keys = KeySet(budget)
  }

  /// The number of distinct values; nil if there are more than were remembered.
  var distinct: Int? { knowsAllValues ? keys.count : nil }

  /// The type of its values, with what it would be without words for no value.
  var type: InferredType {
    if let declaration { return InferredType(type: declaration.type) }
    var type = types.type(named: name)
    guard type.type == .string, let other = typesWithoutNulls, other.hasValues else { return type }
    let without = other.type(named: name)
    guard without.type != .string else { return type }
    let words = nullWords.map { "“\($0)”" }.joined(separator: " and ")
    let options = nullWords.map { "--option 'nulls=\($0)'" }.joined(separator: " ")
    type.note =
      "its values are \(without.type.rawValue) but for \(words): taken as text, and with \(options) as that type"
    return type
  }

  /// Adds a value's hash.
  mutating func note(hash: UInt64, limit: Int) {
    guard knowsAllValues else { return }
    let limit = uniqueness == .repeated ? min(limit, Self.repeatedLimit) : limit
    switch keys.count < limit ? keys.insert(hash) : keys.contains(hash) ? .known : .full {
    case .new: break
    case .known:
      if uniqueness == .unique {
        uniqueness = .repeated
        if keys.count > Self.repeatedLimit { forgetValues() }
      }
    case .full:
      if uniqueness == .unique { uniqueness = .undetermined }
      forgetValues()
    }
  }

  private mutating func forgetValues() {
    knowsAllValues = false
    keys.removeAll()
  }
}
