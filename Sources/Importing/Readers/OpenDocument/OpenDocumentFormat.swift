/// An OpenDocument spreadsheet: one of its tables, which are called sheets here as in Excel.
struct OpenDocumentFormat: FileFormat {
  let name = FileFormatName.ods
  let title = "OpenDocument"
  let endings = ["ods", "ots", "fods"]
  let isTabular = true
  let rejectFormat = FileFormatName.ndjson
  let rejectEnding = ".ndjson"
  let signatures = SourceArchiveKind.zipSignatures + [OpenDocumentContent.flatSignature]
  let options: [FormatOption] = [.member, LineOptions.skipLinesOption, DelimitedOptions.headerOption, .columns]

  var access: FormatAccess {
    .file(
      FileAccess(
        open: { (descriptor, _, options, position) throws(ReaderError) in
          try SheetReader(
            OpenDocumentWorkbook(descriptor: descriptor, options: options, upTo: options.member), options: options,
            from: position)
        },
        packed: .workbook(.packed), foreign: .workbook(.notOpenDocument),
        isOfFormat: { OpenDocumentContent.isSpreadsheet(descriptor: $0, beginning: $1, options: $2) },
        workbook: { (descriptor, options) throws(ReaderError) in
          try OpenDocumentWorkbook(descriptor: descriptor, options: options)
        }))
  }

  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    DelimitedOptions.headerConflicts(in: options)
  }
}

extension FileFormatName {
  package static let ods = FileFormatName("ods")
}
