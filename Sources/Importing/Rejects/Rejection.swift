/// A record that couldn't be imported, with where it stands and why.
package struct Rejection: Sendable {
  /// The record's place in its batch, for the order in the reject file.
  package let record: Int
  /// The line in the source, from 1.
  package let line: Int64
  /// The column or attribute at fault, empty when it is the whole record.
  package let column: String
  /// A short name of the reason that doesn't change between versions.
  package let code: String
  /// The reason in words.
  package let message: String
  /// The record as it stood in the source.
  package let raw: [UInt8]
  /// Whether those bytes are one record and nothing else wherever they stand: not so when a quote is left open in them.
  package let isSelfContained: Bool
}

extension RecordBatch {
  /// The rejection of one of its records.
  func rejection(_ record: Int, column: String = "", code: String, message: String) -> Rejection {
    let isSelfContained: Bool
    switch problem(record) {
    case .unterminatedQuote, .textAfterQuote, .recordTooLong, .malformedJSON, .danglingEscape: isSelfContained = false
    case .tooFewFields, .tooManyFields, .invalidUTF8, .invalidText, .nulByte, .notAnObject, .lineTooShort,
      .splitCharacter, nil:
      isSelfContained = true
    }
    return Rejection(
      record: record, line: line(record), column: column, code: code, message: message, raw: rawBytes(record),
      isSelfContained: isSelfContained)
  }

  /// The column in which a record's problem is: that of the first text that isn't one. Empty if it isn't in a column, or
  /// the record has none.
  func column(of problem: RecordProblem, _ record: Int) -> String {
    switch problem {
    case .nulByte, .invalidUTF8, .invalidText: break
    case .splitCharacter(let column): return column
    default: return ""
    }
    for (column, name) in columns.enumerated() {
      let isText = withBytes(of: cell(record, column)) { bytes in
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return true }
        return TextAudit.validate(from: start, to: start + bytes.count) == nil
      }
      if !isText { return name }
    }
    return ""
  }
}
