/// How rejected records of a source are written: in the source's own format, with the reason added in a way
/// that its reader skips, so that they can be corrected and imported again with the same options.
///
/// A file is the opening, records with separators between them, and the closing, all in UTF-8.
protocol RejectForm {
  /// The text before the first record.
  var opening: [UInt8] { get }
  /// The text between two records.
  var separator: [UInt8] { get }
  /// The text after the last record.
  var closing: [UInt8] { get }
  /// One record with its reason.
  func record(_ rejection: Rejection) -> [UInt8]
  /// A record in this form, with its masks; see ``CoveredRecord``.
  func covered(_ record: CoveredRecord) -> [UInt8]?
}

extension RejectForm {
  var opening: [UInt8] { [] }
  var separator: [UInt8] { [] }
  var closing: [UInt8] { [] }
}

/// A record that couldn't be imported, with its place and the reason.
package struct Rejection: Sendable {
  /// The record's place in its batch, for the order in the reject file.
  package let record: Int
  /// The line in the source, from 1.
  package let line: Int64
  /// The column or attribute at fault, empty when it is the whole record.
  package let column: String
  /// A stable short name of the reason.
  package let code: String
  /// The reason in words.
  package let message: String
  /// The record's original bytes.
  package let raw: [UInt8]
  /// Whether those bytes are exactly one record in any context. They aren't if they leave a quote open.
  package let isSelfContained: Bool

  /// The rejection of the same record, with other bytes.
  func with(raw: [UInt8]) -> Rejection {
    Rejection(
      record: record, line: line, column: column, code: code, message: message, raw: raw,
      isSelfContained: isSelfContained)
  }

  /// The same rejection, with another place in the source.
  func with(line: Int64) -> Rejection {
    Rejection(
      record: record, line: line, column: column, code: code, message: message, raw: raw,
      isSelfContained: isSelfContained)
  }
}

extension RecordBatch {
  /// The rejection of one of its records.
  /// - Parameter place: the index of the column at fault in the source, if it is known.
  func rejection(_ record: Int, column: String = "", code: String, message: String, place: Int? = nil) -> Rejection {
    let message =
      sheet.isEmpty
      ? message
      : message + " (\(SheetPlace.name(sheet, row: line(record), column: place ?? columns.firstIndex(of: column))))"
    let isSelfContained: Bool
    switch problem(record) {
    case .unterminatedQuote, .textAfterQuote, .recordTooLong, .malformedJSON, .danglingEscape: isSelfContained = false
    case .tooFewFields, .tooManyFields, .invalidUTF8, .invalidText, .nulByte, .notAnObject, .lineTooShort,
      .splitCharacter, .keyDiffers, .maskedOtherwise, .noCursor, .unusableCursor, .unreadableFile, nil:
      isSelfContained = true
    }
    if let cover {
      let (bytes, isRecord) = cover.bytes(record, of: self)
      return Rejection(
        record: record, line: line(record), column: column, code: code, message: message, raw: bytes,
        isSelfContained: isRecord)
    }
    return Rejection(
      record: record, line: line(record), column: column, code: code, message: message, raw: rawBytes(record),
      isSelfContained: isSelfContained)
  }

  /// The index of the column of a cell of a sheet; nil for other sources, which don't show it.
  func column(of cell: Cell, in record: Int) -> Int? {
    sheet.isEmpty ? nil : columns.indices.first { self.cell(record, $0) == cell }
  }

  /// The column with a record's problem: that of the first invalid text. Empty if the problem isn't in a column, or
  /// the record has none.
  func column(of problem: RecordProblem, _ record: Int) -> String {
    switch problem {
    case .nulByte, .invalidUTF8, .invalidText: break
    case .splitCharacter(let column), .keyDiffers(let column), .maskedOtherwise(let column): return column
    default: return ""
    }
    for (column, name) in columns.enumerated() {
      let isText = withBytes(of: cell(record, column)) { bytes in
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return true }
        return TextValidator.validate(from: start, to: start + bytes.count) == nil
      }
      if !isText { return name }
    }
    return ""
  }
}
