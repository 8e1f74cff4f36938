import Foundation
import ManagedObjects
import Testing

@testable import Importing

/// Clients whose emails, phones and notes are masked.
enum MaskModel {
  static let model = Result { try make() }

  static func make(_ masks: [String: String] = [:]) throws -> ManagedObjectModel {
    func info(_ name: String) -> [String: String] { masks[name].map { ["mask": $0] } ?? [:] }
    let client = EntityDefinition(
      "Client",
      attributes: [
        AttributeDefinition("number", .integer64),
        AttributeDefinition("email", .string, userInfo: info("email")), AttributeDefinition("phone", .string),
        AttributeDefinition("name", .string, userInfo: info("name")),
        AttributeDefinition("age", .integer16, minimumValue: .int(0), maximumValue: .int(150)),
        AttributeDefinition("salary", .decimal),
      ],
      relationships: [
        RelationshipDefinition(
          "sponsor", to: "Client", inverse: "sponsored", userInfo: ["relatedByAttribute": "email"]),
        RelationshipDefinition("sponsored", to: "Client", inverse: "sponsor", isToMany: true),
        RelationshipDefinition("cards", to: "Card", inverse: "client", isToMany: true),
      ],
      uniquenessConstraints: [["email"]])
    let card = EntityDefinition(
      "Card",
      attributes: [
        AttributeDefinition("pan", .string, userInfo: ["mask": "keep_last(4)"]), AttributeDefinition("label", .string),
      ],
      relationships: [RelationshipDefinition("client", to: "Client", inverse: "cards")])
    return try ImportModel.adding(to: ManagedObjectModel(entities: [client, card]))
  }
}

/// A room to import clients into, with the key of their masks.
struct MaskRoom {
  static let key = "0123456789abcdef0123456789abcdef"
  /// What may be nowhere but in the source.
  static let secrets = [
    "ada@secret.example", "grace@secret.example", "lost@secret.example", "491701234567", "491709876543", "Lovelace",
    "Hopper", "98765.43",
  ]

  let room: ImportRoom
  private let folder: URL

  init(_ kind: StoreKind = .sqlite, model: ManagedObjectModel? = nil, key: String = key) throws {
    room = try ImportRoom(kind, model: try model ?? MaskModel.model.get())
    folder = room.file("credentials")
    room.credentials = MaskCredentials(folder: folder.path)
    try change(key: key)
  }

  func change(key: String) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data((key + "\n").utf8).write(to: folder.appendingPathComponent("pii"))
  }

  static var rules: [String: PropertyRule] {
    func rule(_ mask: ValueMask) -> PropertyRule {
      var rule = PropertyRule()
      rule.mask = mask
      return rule
    }
    return [
      "email": rule(.hmac(credential: "pii")), "sponsor": rule(.hmac(credential: "pii")), "phone": rule(.keepLast(4)),
      "name": rule(.truncate(2)), "salary": rule(.redact),
    ]
  }

  /// The code that stands for a text.
  static func code(_ text: String, key: String = key) -> String {
    HMACSHA256(key: Array(key.utf8)).code(of: Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
  }

  /// The files of the room, but the sources, that have one of the secrets in them.
  func leaks(besides sources: Set<String>) throws -> [String] {
    let folder = room.database.deletingLastPathComponent()
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return names.filter { !sources.contains($0) }.flatMap { name -> [String] in
      guard let data = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path) else { return [] }
      return Self.secrets.filter { data.range(of: Data($0.utf8)) != nil }.map { "\(name): \($0)" }
    }
  }
}

/// The same three clients in every format: the second can't be imported for its age.
enum MaskedFormat: String, CaseIterable, Sendable {
  case csv, tsv, escaped, fixed, json, members, ndjson, xml, plist, sqlite, excel, parquet

  private static let rows: [[String]] = [
    ["1", "ada@secret.example", "491701234567", "Lovelace", "36", "98765.43", ""],
    ["2", "grace@secret.example", "491709876543", "Hopper", "wrongage", "98765.43", "ada@secret.example"],
    ["3", "n/a", "1234", "Al", "50", "", "ada@secret.example"],
  ]
  private static let columns = ["number", "email", "phone", "name", "age", "salary", "sponsor"]
  private static let widths = [4, 90, 16, 10, 10, 10, 90]

  var name: String {
    switch self {
    case .csv: "a.csv"
    case .tsv, .escaped: "a.tsv"
    case .fixed: "a.txt"
    case .json, .members: "a.json"
    case .ndjson: "a.ndjson"
    case .xml: "a.xml"
    case .plist: "a.plist"
    case .sqlite: "a.sqlite"
    case .excel: "a.xlsx"
    case .parquet: "a.parquet"
    }
  }

  /// What the rejects are called when they come again.
  var rejectName: String { isMadeOfText ? "b" + name.dropFirst() : "b.ndjson" }

  /// Whether rejects are in the format of the source. If not, they are objects of JSON.
  var isMadeOfText: Bool { ![.sqlite, .excel, .parquet].contains(self) }

  var reader: ReaderOptions {
    var options = ReaderOptions()
    switch self {
    case .fixed:
      options.format = .fixedWidth
      options.fixedWidth = FixedWidthLayout(
        columns: zip(Self.columns, Self.widths).map { FixedWidthLayout.Column($0, width: $1) })
    case .escaped: options.tsvEscapes = true
    case .members: options.keyColumn = "email"
    default: break
    }
    return options
  }

  func write(to file: URL) throws {
    let rows = Self.rows
    switch self {
    case .csv: try text([Self.columns] + rows, ",").write(to: file)
    case .tsv, .escaped: try text([Self.columns] + rows, "\t").write(to: file)
    case .fixed:
      let lines = rows.map { row in
        zip(row, Self.widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined() + "\n"
      }
      try Data(lines.joined().utf8).write(to: file)
    case .json: try Data("[\(rows.map(Self.object).joined(separator: ",\n"))]".utf8).write(to: file)
    case .ndjson: try Data(rows.map { Self.object($0) + "\n" }.joined().utf8).write(to: file)
    case .members:
      let members = rows.map { row in
        "\"\(row[1])\":{\(Self.members(row).filter { !$0.hasPrefix("\"email\"") }.joined(separator: ","))}"
      }
      try Data("{\(members.joined(separator: ",\n"))}".utf8).write(to: file)
    case .xml:
      let elements = rows.map { row in
        "<client number=\"\(row[0])\">"
          + zip(Self.columns, row).dropFirst().filter { !$1.isEmpty }.map { "<\($0)>\($1)</\($0)>" }.joined()
          + "</client>\n"
      }
      try Data("<?xml version=\"1.0\"?>\n<clients>\n\(elements.joined())</clients>\n".utf8).write(to: file)
    case .plist:
      let dictionaries = rows.map { row in
        "<dict>"
          + zip(Self.columns, row).filter { !$1.isEmpty }.map { "<key>\($0)</key><string>\($1)</string>" }.joined()
          + "</dict>\n"
      }
      try Data(
        "\(PropertyListRejects.head)\n<plist version=\"1.0\"><array>\n\(dictionaries.joined())</array></plist>\n".utf8
      )
      .write(to: file)
    case .sqlite:
      let values = rows.map { "(" + $0.map { $0.isEmpty ? "NULL" : "'\($0)'" }.joined(separator: ",") + ")" }
      try SQLiteFixture.make(
        "CREATE TABLE client (\(Self.columns.joined(separator: ","))); INSERT INTO client VALUES \(values.joined(separator: ","))",
        at: file)
    case .excel:
      let lines = ([Self.columns] + rows).enumerated().map { WorkbookFile.row($0 + 1, $1) }
      try Data(WorkbookFile(lines.joined()).bytes()).write(to: file)
    case .parquet: try parquet().write(to: file)
    }
  }

  private func parquet() throws -> Data {
    var bytes = Data()
    let text = WrittenType(physical: .bytes, width: 0, annotation: .text)
    let writer = try ParquetFileWriter(
      root: "client",
      Self.columns.map { ParquetFileWriter.Element(name: $0, repetition: .optional, kind: .column(text)) }, .snappy
    ) { bytes.append(contentsOf: $0) }
    for row in Self.rows {
      for (chunk, value) in zip(writer.chunks, row) {
        if value.isEmpty { chunk.appendAbsent(at: 0) } else { Array(value.utf8).withUnsafeBytes { chunk.append($0) } }
      }
      try writer.endRecord()
    }
    try writer.finish()
    return bytes
  }

  /// The rules for the columns of the format.
  var rules: [String: PropertyRule] {
    var rules = MaskRoom.rules
    if self == .xml { rules["number"] = PropertyRule(column: "@number") }
    return rules
  }

  private func text(_ rows: [[String]], _ separator: String) -> Data {
    Data(rows.map { $0.joined(separator: separator) + "\n" }.joined().utf8)
  }

  private static func members(_ row: [String]) -> [String] {
    zip(columns, row).filter { !$1.isEmpty }.map { "\"\($0)\":\($0 == "phone" ? $1 : "\"\($1)\"")" }
  }

  private static func object(_ row: [String]) -> String { "{\(members(row).joined(separator: ","))}" }
}
