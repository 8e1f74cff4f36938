/// How the rejected records of a source are written down: in the source's own format, with the reason added in a way
/// that its reader passes over, so that they can be mended and imported again with the same options.
///
/// The file is opening, records with separators between them, closing; each in UTF-8.
protocol RejectForm {
  /// What stands before the first record.
  var opening: [UInt8] { get }
  /// What stands between two records.
  var separator: [UInt8] { get }
  /// What stands after the last record.
  var closing: [UInt8] { get }
  /// One record with its reason.
  func record(_ rejection: Rejection) -> [UInt8]
}

extension RejectForm {
  var opening: [UInt8] { [] }
  var separator: [UInt8] { [] }
  var closing: [UInt8] { [] }
}

/// The form of a source's rejects.
func rejectForm(of source: OpenedSource, _ options: ReaderOptions) -> any RejectForm {
  switch (source.detection.format, source.reader) {
  case (_, let reader as CSVReader):
    return TabularRejects(
      dialect: .init(reader.dialect, skippedLines: reader.skippedLines), columns: reader.columns)
  case (_, let reader as XMLReader): return XMLRejects(record: reader.recordPath)
  case (.json, _): return JSONRejects(path: options.rootPath ?? [])
  case (.plist, _): return PropertyListRejects(path: options.rootPath ?? [])
  case (.fixedWidth, _): return FixedWidthRejects(skippedLines: options.skipLines)
  default: return JSONLineRejects()
  }
}
