import Glibc

/// Why a workbook can't be read, or not any further.
package enum WorkbookError: Error, Sendable, Hashable {
  /// The options name Excel as the format, but the file isn't such a workbook.
  case notAWorkbook
  /// The workbook is compressed or in an archive; it is an archive itself, and must be a file of its own.
  case packed
  /// A workbook of Excel 97 to 2003, `.xls`.
  case oldFormat
  /// A binary workbook, `.xlsb`.
  case binaryFormat
  /// The options name Excel as the format, but the file is an OpenDocument spreadsheet, `.ods`.
  case openDocument
  /// The options name OpenDocument as the format, but the file isn't such a spreadsheet.
  case notOpenDocument
  /// The workbook needs a password.
  case encrypted
  /// There is no sheet with this name; the existing ones (the first twenty).
  case sheetNotFound(sheet: String, found: [String])
  /// Several sheets may be meant (the first twenty).
  case severalSheets(found: [String])
  /// The workbook has no sheet with cells.
  case noSheet
  /// The workbook has more sheets than this, or its directory or its styles are too long.
  case tooMuch(of: String, limit: Int)
  /// A part that the workbook refers to isn't in the file.
  case missingPart(name: String)
  /// A part isn't the XML that it has to be: the mistake, and its byte in the unpacked part.
  case malformed(part: String, offset: Int64, what: String)
  /// A temporary file for the workbook's texts can't be made or written.
  case noTemporarySpace(errno: Int32)
}

extension WorkbookError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notAWorkbook: "the file isn't an Excel workbook (.xlsx)"
    case .packed: "a workbook can't be read while it is compressed or in an archive; unpack it first"
    case .oldFormat: "the file is a workbook of Excel 97 to 2003 (.xls); open it and save it as .xlsx"
    case .binaryFormat: "the file is a binary workbook (.xlsb); open it and save it as .xlsx"
    case .openDocument: "the file is an OpenDocument spreadsheet; leave the format out, or say that it is ods"
    case .notOpenDocument: "the file isn't an OpenDocument spreadsheet (.ods)"
    case .encrypted: "the workbook needs a password; open it and save it without one"
    case .sheetNotFound(let sheet, let found):
      "the workbook has no sheet “\(SourceError.shown(sheet))” (\(Self.list(found)))"
    case .severalSheets(let found):
      "the workbook has several sheets (\(Self.list(found))); name one as member, or import all of them into the entity \"*\""
    case .noSheet: "the workbook has no sheet with cells"
    case .tooMuch(let what, let limit): "the workbook has more than \(limit) \(what); split it"
    case .missingPart(let name):
      "the workbook is damaged: it has no part “\(SourceError.shown(name))”; open it in the program that wrote it, and save it again"
    case .malformed(let part, let offset, let what):
      "the workbook is damaged in “\(SourceError.shown(part))”, at byte \(offset) of the unpacked part: \(what)"
    case .noTemporarySpace(let number):
      "the texts of the workbook can't be kept in a temporary file (\(String(cString: strerror(number)))); make room in "
        + "TMPDIR, or /var/tmp"
    }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "it has none" : names.map { "“\(SourceError.shown($0))”" }.joined(separator: ", ")
  }
}
