import Foundation
import Importing
import ManagedObjects

/// Members in every form that an import reads.
enum MemberFile: String, CaseIterable, Sendable {
  case csv, gzip, xz, zip, tar, ndjson, json, xml, fixedWidth, sqlite, plist, binaryPlist, xlsx, parquet

  /// The file's name.
  var name: String {
    switch self {
    case .csv, .ndjson, .json, .xml, .plist, .sqlite, .xlsx, .parquet: "members.\(self)"
    case .gzip: "members.csv.gz"
    case .xz: "members.csv.xz"
    case .zip, .tar: "feed.\(self)"
    case .fixedWidth: "members.txt"
    case .binaryPlist: "binary.plist"
    }
  }

  /// What a recipe has to say to read it.
  var recipe: String {
    switch self {
    case .fixedWidth:
      "format: fixed_width, fields: ["
        + Self.places.map { "\($0.column):\($0.width)" }.joined(separator: ", ") + "]"
    case .json: "root: club.members"
    case .xml: "record: club/member"
    case .zip, .tar: "member: members.csv"
    case .sqlite: "table: members"
    case .xlsx: "member: Members"
    default: ""
    }
  }

  private static let columns = places.map(\.column)
  /// Of fixed width.
  private static let places: [(column: String, width: Int)] = [
    ("number", 8), ("name", 16), ("joined", 12), ("age", 6), ("score", 10), ("note", 24), ("manager", 8),
  ]

  /// The file's content. Rows that CSV alone can get wrong are in it as far as they can be.
  func content(_ members: Members, in folder: DaemonFolder) async throws -> Data {
    switch self {
    case .csv: return members.csv
    case .gzip: return try Packed.gzip(members.csv)
    case .xz: return try Packed.xz(members.csv)
    case .zip: return try Packed.zip([("read.me", Data("Members\n".utf8)), ("members.csv", members.csv)])
    case .tar: return try Packed.tar([("read.me", Data("Members\n".utf8)), ("members.csv", members.csv)])
    case .ndjson: return Data(try Self.objects(members).map { $0 + "\n" }.joined().utf8)
    case .json:
      return Data("{\"club\":{\"members\":[\(try Self.objects(members).joined(separator: ",\n"))]}}\n".utf8)
    case .xml:
      let records = Self.records(members).map { record in
        "<member>" + record.map { "<\($0)>\(Self.escaped($1))</\($0)>" }.joined() + "</member>\n"
      }
      return Data("<?xml version=\"1.0\"?>\n<club>\n\(records.joined())</club>\n".utf8)
    case .fixedWidth:
      let lines = Self.records(members).map { record in
        let fields = Dictionary(uniqueKeysWithValues: record.map { ($0.key, $0.value) })
        return Self.places.map { name, width in
          (fields[name] ?? "").replacingOccurrences(of: "\n", with: " ")
            .padding(toLength: width, withPad: " ", startingAt: 0)
        }.joined() + "\n"
      }
      return Data(lines.joined().utf8)
    case .sqlite: return try await Self.database(members, in: folder)
    case .plist: return try Self.propertyList(members, .xml)
    case .binaryPlist: return try Self.propertyList(members, .binary)
    case .xlsx: return try Self.workbook(members)
    case .parquet: return try Self.parquet(members, in: folder)
    }
  }

  private typealias Field = (key: String, value: String)

  /// Fields that are there, in the order of the columns.
  private static func records(_ members: Members) -> [[Field]] {
    PlainCSV.records(members.csv).map { record in
      columns.compactMap { name in record[name].flatMap { $0.isEmpty ? nil : (name, $0) } }
    }
  }

  private static func objects(_ members: Members) throws -> [String] {
    try records(members).map { record in
      let fields: [(String, Any)] = record.map { ($0.key, Int($0.value) ?? Double($0.value) ?? $0.value as Any) }
      let object = Dictionary(uniqueKeysWithValues: fields)
      return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }
  }

  private static func propertyList(
    _ members: Members, _ format: PropertyListSerialization.PropertyListFormat
  ) throws -> Data {
    let list = records(members).map { record in
      Dictionary(uniqueKeysWithValues: record.map { ($0.key, Int($0.value) ?? $0.value as Any) })
    }
    return try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
  }

  private static func database(_ members: Members, in folder: DaemonFolder) async throws -> Data {
    let rows = records(members).map { record in
      let fields = Dictionary(uniqueKeysWithValues: record.map { ($0.key, $0.value) })
      let values = columns.map { fields[$0].map { "'\($0.replacingOccurrences(of: "'", with: "''"))'" } ?? "NULL" }
      return "INSERT INTO members VALUES (\(values.joined(separator: ", ")));\n"
    }
    let script = "BEGIN;\nCREATE TABLE members (\(columns.joined(separator: ", ")));\n\(rows.joined())COMMIT;\n"
    let path = try folder.write(script, to: "members.sql")
    _ = try await folder.sqlite(".read \(path)", in: "members.sqlite")
    return try folder.data("members.sqlite")
  }

  private static func parquet(_ members: Members, in folder: DaemonFolder) throws -> Data {
    let file = try AtomicFile(folder: folder.file("made"), name: "members.parquet", hiddenName: ".members")
    let writer = try WrittenFormat.parquet.writer(
      into: file, .init(title: "members", columns: columns.map { WrittenColumn(name: $0, type: .string) }))
    for record in records(members) {
      let fields = Dictionary(uniqueKeysWithValues: record.map { ($0.key, $0.value) })
      try writer.write(ContiguousArray(columns.map { fields[$0].map(Value.string) ?? .null }), [])
    }
    try writer.finish()
    try file.commit()
    return try Data(contentsOf: URL(fileURLWithPath: file.path))
  }

  private static func workbook(_ members: Members) throws -> Data {
    let days = Date.ISO8601FormatStyle().year().month().day()
    let rows = records(members).map { record in
      let fields = Dictionary(uniqueKeysWithValues: record.map { ($0.key, $0.value) })
      return columns.map { name -> WorkbookText.Cell in
        guard let text = fields[name] else { return .empty }
        if name == "joined", let day = try? Date(text, strategy: days) {
          return .date(Int((day.timeIntervalSince1970 / 86_400).rounded(.down)) + 25_569)
        }
        return Double(text) == nil ? .text(text) : .number(text)
      }
    }
    return try WorkbookText.file([("Read me", [[.text("Members")]]), ("Members", [columns.map { .text($0) }] + rows)])
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
