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
