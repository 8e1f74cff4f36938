import Foundation

@testable import Importing

/// An OpenDocument spreadsheet made by hand.
struct OpenDocumentFile {
  /// The rows of each table, as XML, and the style of the table.
  var tables: [(name: String, rows: String, style: String?)] = []
  /// Members in place of those that would be written, or beside them; nil leaves one out.
  var parts: [String: String?] = [:]
  /// Whether it is one XML file.
  var isFlat = false

  private static let type = "application/vnd.oasis.opendocument.spreadsheet"
  /// A table with this style isn't displayed.
  static let hidden = "ta2"

  init() {}

  /// A spreadsheet with one table.
  init(_ rows: String) { tables = [("Data", rows, nil)] }

  func bytes() throws -> [UInt8] {
    if isFlat { return Array(content.utf8) }
    var files: [(String, String?)] = [("mimetype", Self.type), ("content.xml", content)]
    for (name, text) in parts.sorted(by: { $0.key < $1.key }) {
      files.removeAll { $0.0 == name }
      files.append((name, text))
    }
    return try Packing.zip(files.compactMap { name, text in text.map { (name, Array($0.utf8)) } }, stored: true)
  }

  private var content: String {
    var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let namespaces = ["office", "style", "text", "table"].map {
      " xmlns:\($0)=\"urn:oasis:names:tc:opendocument:xmlns:\($0):1.0\""
    }.joined()
    let root = isFlat ? "office:document" : "office:document-content"
    xml +=
      "<\(root)\(namespaces) xmlns:calcext=\"urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0\""
    xml += isFlat ? " office:mimetype=\"\(Self.type)\">" : ">"
    xml += """
      <office:scripts/><office:automatic-styles>\
      <style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>\
      <style:style style:name="\(Self.hidden)" style:family="table"><style:table-properties table:display="false"/>\
      </style:style></office:automatic-styles><office:body><office:spreadsheet><table:calculation-settings/>
      """
    for table in tables {
      xml += "<table:table table:name=\"\(table.name)\" table:style-name=\"\(table.style ?? "ta1")\">"
      xml += "<table:table-column table:number-columns-repeated=\"16384\"/>\(table.rows)</table:table>"
    }
    return xml + "<table:named-expressions/></office:spreadsheet></office:body></\(root)>"
  }

  func read(
    _ options: ReaderOptions = ReaderOptions(), as name: String = "a.ods", from position: ReaderPosition? = nil,
    limit: Int = 1_000
  ) throws -> ReadResult {
    try SourceFile(bytes(), name: name).read(options, from: position, limit: limit)
  }

  /// A row of cells that are texts, or empty.
  static func row(_ texts: [String], repeated: Int = 1) -> String {
    let cells = texts.map { text in
      text.isEmpty
        ? "<table:table-cell/>"
        : "<table:table-cell office:value-type=\"string\"><text:p>\(text)</text:p></table:table-cell>"
    }
    return row(cells.joined(), repeated: repeated)
  }

  /// A row of cells.
  static func row(_ cells: String, repeated: Int = 1) -> String {
    "<table:table-row\(repeated == 1 ? "" : " table:number-rows-repeated=\"\(repeated)\"")>\(cells)</table:table-row>"
  }

  /// What LibreOffice writes at the end of a table: the rest of it.
  static let rest =
    "<table:table-row table:number-rows-repeated=\"1048573\"><table:table-cell table:number-columns-repeated=\"16384\"/>"
    + "</table:table-row>"
}
