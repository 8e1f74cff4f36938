/// An Excel workbook: one of its sheets. A job whose entity is `*` imports each sheet into the entity of its name.
struct ExcelFormat: FileFormat {
  let name = FileFormatName.xlsx
  let title = "Excel"
  let endings = ["xlsx", "xlsm", "xltx", "xltm"]
  let isTabular = true
  let rejectFormat = FileFormatName.ndjson
  let rejectEnding = ".ndjson"
  let signatures = SourceArchiveKind.zipSignatures
  let options: [FormatOption] = [.member, LineOptions.skipLinesOption, DelimitedOptions.headerOption, .columns]

  var access: FormatAccess {
    .file(
      FileAccess(
        open: { (descriptor, _, options, position) throws(ReaderError) in
          try SheetReader(
            ExcelWorkbook(descriptor: descriptor, options: options), options: options, from: position)
        },
        packed: .workbook(.packed), foreign: .workbook(.notAWorkbook),
        isOfFormat: { ExcelWorkbook.isWorkbook(descriptor: $0, beginning: $1, options: $2) },
        workbook: { (descriptor, options) throws(ReaderError) in
          try ExcelWorkbook(descriptor: descriptor, options: options)
        }))
  }

  func conflicts(in options: ReaderOptions, given keys: Set<String>) -> [OptionConflict] {
    DelimitedOptions.headerConflicts(in: options)
  }
}

extension FileFormatName {
  package static let xlsx = FileFormatName("xlsx")
}
