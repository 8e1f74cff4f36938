import Foundation

@testable import Importing

/// People in every form, with most of what can happen to a record: references forwards, backwards, to itself and to
/// nothing, one key more than once, rejects of each kind.
enum PeopleSample: String, CaseIterable, Sendable {
  case csv, ndjson, json

  var name: String { "a." + rawValue }

  var text: String {
    switch self {
    case .csv: return Self.csvText
    case .ndjson: return Self.ndjsonText
    case .json: return Self.jsonText
    }
  }

  /// Columns in the order of the CSV file; a row without a value is left out of JSON records.
  private static let columns = ["code", "name", "age", "country_code", "boss", "email"]
  private static let people: [[String?]] = [
    ["p3", "Cleo", "30", "DE", "p9", nil],
    ["p1", "Ann", "40", "FR", "p3", "ann@x"],
    ["p4", "Dan\niel \"D\"", "50", "XX", "p1", nil],
    ["p5", "Eve", "200", "DE", "", nil],
    ["p6", "Fay", "abc", "DE", "", nil],
    ["p3", "Cleo", "31", "DE", "p1", nil],
    ["p7", "Gus", nil, "", "p7", nil],
    ["p8", "Hal", "5", "FR", "zz", nil],
    ["p8", "Hal", "-5", "DE", "p1", nil],
    ["p2", "Bob", nil, "DE", "p1", nil],
    ["p9", "Ida", "60", nil, "p3", "ida@x"],
    ["p9", "Ida", "60", nil, "p3", "ida@x"],
    ["pa", "Jim", "1", nil, "p9", "ida@x"],
    ["pb", "Kim", "1", nil, "pa", nil],
    ["pc", "", "1", nil, nil, nil],
    ["pd", "Lou", "1", nil, "pe", nil],
    ["pd", "Lou", "2", nil, "p1", nil],
    ["pe", "Moe", "3", "DE", "pd", nil],
    ["pf", "Ned", "4", "FR", "pg", nil],
    ["pg", "Ola", "5", "FR", "pf", nil],
    ["p1", "Ann", "40", "FR", "pg", "ann@x"],
  ]

  private static let csvText =
    ([columns] + people.map { $0.map { $0 ?? "" } }).map { row in
      row.map { $0.contains { "\"\n,".contains($0) } ? "\"" + $0.replacing("\"", with: "\"\"") + "\"" : $0 }
        .joined(separator: ",") + "\n"
    }.joined() + "ph,too,short\npi,\"x\"y,1,,,\n"

  private static let ndjsonText =
    objects.joined(separator: "\n") + "\n{\"code\":\"ph\",\n[1]\n{\"name\":\"nobody\"}\n"

  private static let jsonText =
    "{\"at\":\"today\",\"people\":[\n" + objects.joined(separator: ",\n") + ",\n7]}\n"

  private static let objects = people.map { row in
    let pairs = zip(columns, row).compactMap { key, value -> String? in
      guard let value else { return nil }
      if key == "age", let number = Int(value) { return "\"age\":\(number)" }
      if value.isEmpty { return "\"\(key)\":null" }
      return "\"\(key)\":\"" + value.replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\""
    }
    return "{" + pairs.joined(separator: ",") + "}"
  }

  /// A room with two countries and two of the people, and a third who isn't in the file.
  static func room(_ kind: StoreKind) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"], people: ["p1", "p2", "old"])
    return room
  }
}

/// All that an import leaves behind.
struct Traces: Equatable {
  let people: [String]
  let counts: ImportCounts
  let rejects: String?
  /// Rows of the import's own book-keeping that are left: references kept for later.
  let kept: Int

  init(_ room: ImportRoom, _ end: ImportEnd, job: String = "1") throws {
    people = try room.rows(
      "code", "name", "age", "grade", "country.code", "boss.code", "email", of: "Person")
    counts = end.counts
    rejects = room.rejects(job)
    kept = try room.count(of: ImportModel.referenceEntity)
  }
}
