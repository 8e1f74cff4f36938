@testable import Importing

/// A text format, with a row, and a record of great length.
enum LineFormat: String, CaseIterable, Codable, Sendable {
  case csv, tsv, fixed, ndjson, json, xml, plist

  var name: String { self == .fixed ? "a.dat" : "a.\(self)" }

  var reader: ReaderOptions {
    var options = ReaderOptions()
    if self == .xml { options.record = "i" }
    guard self == .fixed else { return options }
    options.format = .fixedWidth
    options.fixedWidth = FixedWidthLayout(columns: [.init("code", width: 5), .init("name", width: 3)])
    return options
  }

  var head: String {
    switch self {
    case .csv: "code,name\n"
    case .tsv: "code\tname\n"
    case .fixed, .ndjson: ""
    case .json: "[\n"
    case .xml: "<r>\n"
    case .plist: "<plist><array>\n"
    }
  }

  func row(_ code: String, _ name: String = "N") -> String {
    switch self {
    case .csv: "\(code),\(name)\n"
    case .tsv: "\(code)\t\(name)\n"
    case .fixed: "\(code)\(String(repeating: " ", count: 5 - code.utf8.count))\(name)  \n"
    case .ndjson: "{\"code\":\"\(code)\",\"name\":\"\(name)\"}\n"
    case .json: "{\"code\":\"\(code)\",\"name\":\"\(name)\"},\n"
    case .xml: "<i><code>\(code)</code><name>\(name)</name></i>\n"
    case .plist: "<dict><key>code</key><string>\(code)</string><key>name</key><string>\(name)</string></dict>\n"
    }
  }

  var tail: String {
    switch self {
    case .csv, .tsv, .fixed, .ndjson: ""
    case .json: "{\"code\":\"z\",\"name\":\"N\"}]\n"
    case .xml: "</r>\n"
    case .plist: "</array></plist>\n"
    }
  }

  /// The line of the first row.
  var firstLine: Int { self == .fixed || self == .ndjson ? 1 : 2 }

  static let count = 1_500

  /// Good rows, more than the detection of the format examines.
  var rows: String { (0..<Self.count).map { row("p\($0)") }.joined() }

  /// The beginning and the end of a row whose name is in between.
  var ends: (String, String) {
    let parts = row("long", "|").split(separator: "|")
    return (String(parts[0]), String(parts[1]))
  }
}
