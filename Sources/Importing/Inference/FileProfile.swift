/// A file's statistics after its first reading.
struct FileProfile {
  let input: InferenceInput
  var records: Int64 = 0
  /// Records that can't be read, and the fault of the first.
  var unreadable: Int64 = 0
  var firstProblem: String?
  var columns: [ColumnProfile] = []
  var notes: [String] = []

  /// Reads a file to its end.
  /// - Parameter keyLimit: the values remembered of each column.
  /// - Throws: ``ReaderError``, or ``InferenceError``.
  init(_ input: InferenceInput, keyLimit: Int, budget: HashBudget) throws {
    self.input = input
    notes = try input.read { (batch: RecordBatch) in
      while columns.count < batch.columns.count {
        columns.append(ColumnProfile(batch.columns[columns.count], budget: budget))
      }
      for record in 0..<batch.count {
        if batch.hasProblems, let problem = batch.problem(record) {
          unreadable += 1
          if firstProblem == nil { firstProblem = "line \(batch.line(record)): \(problem)" }
          continue
        }
        records += 1
        for column in columns.indices { note(batch.cell(record, column), batch, column, keyLimit) }
      }
    }
  }

  private mutating func note(_ cell: Cell, _ batch: RecordBatch, _ column: Int, _ keyLimit: Int) {
    switch cell.kind {
    case .missing, .null, .empty: return
    case .nested: columns[column].nested += 1
    case .yes, .no:
      columns[column].present += 1
      columns[column].types.noteBoolean()
      columns[column].note(hash: cell.kind == .yes ? 1 : 2, limit: keyLimit)
      columns[column].noteExample(cell.kind == .yes ? "true" : "false")
    case .text, .number:
      if cell.length == 0 { return }
      columns[column].present += 1
      batch.withBytes(of: cell) { bytes in columns[column].note(bytes, cell.kind == .number, keyLimit) }
    }
  }
}

extension ColumnProfile {
  fileprivate mutating func note(_ bytes: UnsafeRawBufferPointer, _ isJSONNumber: Bool, _ limit: Int) {
    leastLength = min(leastLength, bytes.count)
    greatestLength = max(greatestLength, bytes.count)
    let trimmed = ValueConverter.trimmed(bytes)
    if trimmed.isEmpty {
      blank += 1
    } else {
      if trimmed.count < bytes.count { padded += 1 }
      types.note(trimmed, isJSONNumber: isJSONNumber)
    }
    note(hash: KeyHash.of(bytes), limit: limit)
    if examples.count < 3 { noteExample(String(decoding: bytes.prefix(160), as: UTF8.self)) }
  }

  fileprivate mutating func noteExample(_ text: String) {
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
  var types = ColumnTypes()
  /// Records with a value.
  var present: Int64 = 0
  /// Values with spaces or tabs around them.
  var padded: Int64 = 0
  /// Values of spaces only: text as they are, nothing for every other type.
  var blank: Int64 = 0
  /// JSON objects and arrays.
  var nested: Int64 = 0
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
