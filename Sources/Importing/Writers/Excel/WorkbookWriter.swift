import ManagedObjects

/// Writes an Excel workbook of one sheet, whose first row has the names of the columns. Cells have types: numbers, truth
/// values, dates by their style, texts. What Excel would change is a text: whole numbers and decimals of more than 15 digits,
/// and dates that its calendar or its milliseconds don't have.
///
/// The sheet is written as its rows come, with texts in place, so memory is that of a block.
final class WorkbookWriter: RecordWriter {
  private let zip: ZipWriter
  private let columns: [WrittenColumn]
  private let collections: [WrittenCollection]
  private let buffer = TextBuffer()
  private let scratch = TextBuffer(capacity: 1 << 10)
  /// The letters of each column.
  private let letters: [String]
  private var row: Int64 = 1
  private var hasCell = false

  private static let format = "xlsx"
  private static let flushAt = 1 << 17
  /// The digits of a number that Excel keeps.
  private static let digits = 15
  /// 1900-03-01, before which Excel has a day too many, and the end of 9999, in microseconds since 1970.
  private static let days: Range<Int64> = -2_203_891_200_000_000..<253_402_300_800_000_000
  private static let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
  private static let relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

  init(_ file: AtomicFile, _ layout: WrittenFormat.Layout) throws {
    let names = layout.columns.map(\.name) + layout.collections.map(\.name)
    guard names.count <= SheetRow.columnLimit else {
      throw WriterError.tooMuch(format: Self.format, what: "columns", limit: Int64(SheetRow.columnLimit))
    }
    zip = try ZipWriter { try file.write($0) }
    columns = layout.columns
    collections = layout.collections
    letters = names.indices.map { SheetPlace.column($0) }
    try addParts(sheet: String(layout.title.prefix(31)))
    try zip.begin("xl/worksheets/sheet1.xml")
    buffer.append(Self.head)
    buffer.append("<worksheet xmlns=\"\(Self.main)\"><sheetData>")
    beginRow()
    for (index, name) in names.enumerated() {
      scratch.removeAll()
      scratch.append(name)
      try appendText(at: index, of: name)
    }
    try endRow()
  }

  func expect(_ records: Int64) throws(WriterError) {
    guard records < SheetRow.limit else {
      throw .tooMuch(format: Self.format, what: "objects", limit: SheetRow.limit - 1)
    }
  }

  func write(_ values: ContiguousArray<Value>, _ collected: [[ContiguousArray<Value>]]) throws {
    row += 1
    guard row <= SheetRow.limit else {
      throw WriterError.tooMuch(format: Self.format, what: "objects", limit: SheetRow.limit - 1)
    }
    beginRow()
    for index in columns.indices { try append(values[index], of: columns[index], at: index) }
    for (index, collection) in collections.enumerated() {
      let text = try KeyList.text(collected[index], of: collection)
      if text.isEmpty { continue }
      scratch.removeAll()
      text.withUnsafeBufferPointer { scratch.append($0) }
      try appendText(at: columns.count + index, of: collection.name)
    }
    guard hasCell else { throw WriterError.emptyRecord(format: Self.format) }
    try endRow()
  }

  func finish() throws {
    buffer.append("</sheetData></worksheet>" as StaticString)
    try flush()
    try zip.finish()
  }

  private func flush() throws {
    try zip.write(buffer.bytes)
    buffer.removeAll()
  }

  // MARK: Rows

  private func beginRow() {
    buffer.append("<row r=\"" as StaticString)
    buffer.append(row)
    buffer.append("\">" as StaticString)
    hasCell = false
  }

  private func endRow() throws {
    buffer.append("</row>" as StaticString)
    if buffer.count >= Self.flushAt { try flush() }
  }

  private func beginCell(at index: Int, _ attributes: StaticString) {
    hasCell = true
    buffer.append("<c r=\"" as StaticString)
    buffer.append(letters[index])
    buffer.append(row)
    buffer.append("\"" as StaticString)
    buffer.append(attributes)
  }

  private func append(_ value: Value, of column: WrittenColumn, at index: Int) throws(WriterError) {
    switch value {
    case .null, .unresolved: return
    case .bool(let flag):
      beginCell(at: index, " t=\"b\"><v>")
      buffer.append(flag ? "1</v></c>" : "0</v></c>" as StaticString)
    case .int(let number) where number.magnitude < 1_000_000_000_000_000:
      beginCell(at: index, "><v>")
      buffer.append(number)
      buffer.append("</v></c>" as StaticString)
    case .double(let number) where number.isFinite: appendNumber(number.description, at: index)
    case .decimal(let number) where !number.isNaN && Self.isShort(number.description):
      appendNumber(number.description, at: index)
    case .date(let date):
      guard let microseconds = ISODate.microseconds(of: date), Self.days.contains(microseconds),
        microseconds % 1_000 == 0
      else {
        scratch.removeAll()
        try scratch.append(value, of: column)
        return try appendText(at: index, of: column.name)
      }
      beginCell(at: index, " s=\"1\"><v>")
      buffer.append((Double(microseconds / 1_000) / 86_400_000 + 25_569).description)
      buffer.append("</v></c>" as StaticString)
    default:
      scratch.removeAll()
      try scratch.append(value, of: column)
      try appendText(at: index, of: column.name)
    }
  }

  private func appendNumber(_ text: String, at index: Int) {
    beginCell(at: index, "><v>")
    buffer.append(text)
    buffer.append("</v></c>" as StaticString)
  }

  /// Whether a number has no more digits than Excel keeps.
  private static func isShort(_ number: String) -> Bool {
    number.utf8.count { $0 &- 0x30 < 10 } <= digits
  }

  /// A cell of the text in `scratch`.
  private func appendText(at index: Int, of column: String) throws(WriterError) {
    beginCell(at: index, " t=\"inlineStr\"><is><t xml:space=\"preserve\">")
    guard SheetText.append(UnsafeBufferPointer(start: scratch.start, count: scratch.count), to: buffer) else {
      throw .noForm(
        column: column, format: Self.format,
        reason:
          "a text has more than \(SheetText.limit) characters, the most that a cell has: leave the column out, or "
          + "export it in another format")
    }
    buffer.append("</t></is></c>" as StaticString)
  }

  // MARK: The other parts

  private static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"

  private func addParts(sheet: String) throws {
    let types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    try zip.add(
      "[Content_Types].xml",
      Self.head + "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
        + "<Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
        + "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
        + "<Override PartName=\"/xl/workbook.xml\" ContentType=\"\(types).sheet.main+xml\"/>"
        + "<Override PartName=\"/xl/styles.xml\" ContentType=\"\(types).styles+xml\"/>"
        + "<Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"\(types).worksheet+xml\"/></Types>")
    try zip.add(
      "_rels/.rels", links([("officeDocument", "xl/workbook.xml")]))
    try zip.add(
      "xl/workbook.xml",
      Self.head + "<workbook xmlns=\"\(Self.main)\" xmlns:r=\"\(Self.relationships)\"><sheets>"
        + "<sheet name=\"\(XMLText.escaped(sheet, inLine: true))\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>")
    try zip.add(
      "xl/_rels/workbook.xml.rels", links([("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")]))
    // The first style is that of all cells, the second that of dates.
    try zip.add(
      "xl/styles.xml",
      Self.head + "<styleSheet xmlns=\"\(Self.main)\">"
        + "<numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\\ hh:mm:ss\"/></numFmts>"
        + "<fonts count=\"1\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>"
        + "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>"
        + "<fill><patternFill patternType=\"gray125\"/></fill></fills>"
        + "<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"
        + "<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/></cellStyleXfs>"
        + "<cellXfs count=\"2\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/>"
        + "<xf numFmtId=\"164\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/></cellXfs>"
        + "</styleSheet>")
  }

  private func links(_ targets: [(type: String, target: String)]) -> String {
    let all = targets.enumerated().map { index, link in
      "<Relationship Id=\"r\(index + 1)\" Type=\"\(Self.relationships)/\(link.type)\" Target=\"\(link.target)\"/>"
    }
    return Self.head
      + "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\(all.joined())"
      + "</Relationships>"
  }
}
