import Foundation
import Importing
import ManagedObjects
import TestSupport
import Testing

@testable import Jobs

@Suite("Exporting and importing again", .timeLimit(.minutes(20)))
struct ExportRoundTripTests {
  struct Way: Sendable, CustomTestStringConvertible {
    var format: WrittenFormat
    var compression: WrittenCompression?
    var testDescription: String { format.rawValue + (compression?.ending ?? "") }
  }

  static let ways: [Way] =
    WrittenFormat.allCases.map { Way(format: $0) }
    + [
      Way(format: .csv, compression: .gzip), Way(format: .ndjson, compression: .zstd),
      Way(format: .json, compression: .zstd), Way(format: .parquet, compression: .zstd),
      Way(format: .parquet, compression: .gzip),
    ]

  /// Values at the edges of what each type can hold.
  private static let edges: [[String: Value]] = [
    [:],
    [
      "small": .int(-32768), "middle": .int(Int64(Int32.max)), "large": .int(.min),
      "ratio": .double(.leastNonzeroMagnitude),
      "part": .double(Double(Float.greatestFiniteMagnitude)), "text": .string("plain"), "flag": .bool(true),
      "moment": .date(ISODate.date(microseconds: -62_167_219_200_000_000)), "blob": .data(Data([0, 255, 10, 13])),
      "stamp": .date(ISODate.date(microseconds: 1_700_000_000_123_456)),
      "due": .date(Date(timeIntervalSince1970: 1_709_164_800)), "size.width": .int(7), "size.unit": .string("mm"),
      "tags": .data(Data(#"["a","b, \"c\""]"#.utf8)),
    ],
    [
      "small": .int(1000), "large": .int(.max), "ratio": .double(-0.1), "part": .double(Double(Float(0.1))),
      "text": .string("quotes \" and ' , ; | \t tab\r\nline \\ back\u{7}bell é 🚢 \u{2028}"), "flag": .bool(false),
      "moment": .date(ISODate.date(microseconds: 253_402_300_799_500_000)), "blob": .data(Data("short".utf8)),
      "stamp": .date(ISODate.date(microseconds: -1)), "due": .date(Date(timeIntervalSince1970: -86_400)),
      "size.unit": .string(" in \" "),
    ],
    [
      "ratio": .double(1e308), "text": .string(" spaces around "),
      "stamp": .date(ISODate.date(microseconds: 253_402_300_799_000_000)),
      "moment": .date(ISODate.date(microseconds: 1_709_164_800_000_001)),
      "blob": .data(Data(repeating: 7, count: 5000)),
      "price": .decimal(0), "tags": .data(Data("[]".utf8)),
    ],
  ]

  private static func fill(_ house: Warehouse) throws {
    try house.change { context in
      var labels: [ManagedObject] = []
      for name in ["red", "green, blue", "x\"y"] {
        let label = try context.insert("Label")
        try label.setValue(.string(name), forKey: "name")
        labels.append(label)
      }
      let maker = try context.insert("Maker")
      try maker.setValue(.string("A; B"), forKey: "name")
      let shelf = try context.insert("Shelf")
      try shelf.setValue(.int(-3), forKey: "number")
      var last: ManagedObject?
      for (number, values) in edges.enumerated() {
        let item = try context.insert("Item")
        try item.setValue(.string(Warehouse.code(number)), forKey: "code")
        for (name, value) in values { try item.setValue(value, forKey: name) }
        if number > 0 {
          let decimals = ["12345678901234567890123456789.123456789", "-0.000000000000000000000001", "1e30"]
          try item.setValue(.decimal(try #require(Decimal(string: decimals[number - 1]))), forKey: "price")
          try item.setValue(.uuid(UUID()), forKey: "key")
          try item.setValue(
            .uri(try #require(URL(string: "https://example.org/a,b?c=%22d%22&n=\(number)"))), forKey: "link")
          try item.setValue(.object(maker.objectID), forKey: "maker")
          try item.setValue(.objects(Set(labels.prefix(number).map(\.objectID))), forKey: "labels")
        }
        if number == 2 { try item.setValue(.object(shelf.objectID), forKey: "shelf") }
        if let last { try item.setValue(.object(last.objectID), forKey: "twin") }
        last = item
      }
    }
  }

  @Test("what is exported imports again to the same rows, of every type", arguments: ways)
  func roundTrip(_ way: Way) async throws {
    let house = try await Warehouse()
    try Self.fill(house)
    let other = try await Warehouse()
    // What no format but JSON can say.
    let tags = way.format.keepsJSON ? "" : "tags"
    for entity in ["Label", "Maker", "Shelf", "Item"] {
      let file = "\(entity).\(way.format.rawValue)\(way.compression?.ending ?? "")"
      var options: [String: String] = ["format": way.format.rawValue, "file": file]
      options["compression"] = way.compression?.rawValue
      let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
      let job = try await house.run("export", entity, json)
      #expect(job.state == .completed, "\(job.reason ?? "")")
      if entity == "Item", !way.format.keepsJSON {
        #expect(job.note?.contains("left out, as no import could read them from \(way.format.rawValue): tags") == true)
      }
      let back = try await other.take(file, from: house, into: entity, ImportOptions(mode: .insert))
      #expect(back.state == .completed && back.progress.rejected == 0, "\(back.reason ?? "") \(back.note ?? "")")
    }
    func rows(_ house: Warehouse) throws -> [String] {
      try house.rows("Item").map { row in
        tags.isEmpty ? row : row.replacing(/tags=[^ ]*/, with: "")
      } + house.rows("Label") + house.rows("Maker") + house.rows("Shelf")
    }
    #expect(try rows(other) == rows(house))
    #expect(try house.count("Item") == 4)
  }

  @Test("the order of an ordered relationship comes along", arguments: [WrittenFormat.json, .ndjson, .parquet])
  func order(_ format: WrittenFormat) async throws {
    let (house, other) = (try await Warehouse(), try await Warehouse())
    try house.change { context in
      let trilogy = try context.insert("Trilogy")
      try trilogy.setValue(.string("T"), forKey: "name")
      var volumes: [ManagedObjectID] = []
      for number: Int64 in [1, 2, 3] {
        let volume = try context.insert("Volume")
        try volume.setValue(.int(number), forKey: "number")
        volumes.insert(volume.objectID, at: 0)
      }
      trilogy.hold(try #require(trilogy.entity.relationshipsByName["volumes"]), volumes)
    }
    for entity in ["Volume", "Trilogy"] {
      let file = "\(entity).\(format.rawValue)"
      _ = try await house.run("export", entity, #"{"format": "\#(format.rawValue)", "file": "\#(file)"}"#)
      let back = try await other.take(file, from: house, into: entity, ImportOptions(mode: .upsert))
      #expect(back.state == .completed, "\(back.reason ?? "")")
    }
    let context = other.context()
    let trilogy = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Trilogy")).first)
    guard case .orderedObjects(let ids)? = trilogy.value(forKey: "volumes") else {
      Issue.record("the trilogy has no volumes")
      return
    }
    #expect(ids.map { context.object(with: $0).value(forKey: "number") } == [.int(3), .int(2), .int(1)])
    let csv = try await house.run("export", "Trilogy", #"{"format": "csv", "file": "t.csv"}"#)
    #expect(
      csv.note?.contains("the order of volumes isn't in it: json, ndjson and parquet have it") == true,
      "\(csv.note ?? "")")
  }

  @Test("a file that comes again changes nothing", arguments: [WrittenFormat.csv, .json, .sqlite, .parquet, .xlsx])
  func unchanged(_ format: WrittenFormat) async throws {
    let house = try await Warehouse()
    try Self.fill(house)
    let file = "items.\(format.rawValue)"
    _ = try await house.run("export", "Item", #"{"format": "\#(format.rawValue)", "file": "\#(file)"}"#)
    let back = try await house.take(file, from: house, into: "Item", ImportOptions(mode: .upsert))
    #expect(back.state == .completed)
    #expect(back.progress.unchanged == 4 && back.progress.updated == 0 && back.progress.inserted == 0)
  }

  /// An inferred model: one column is an attribute of the key and a reference.
  private static func timetable(in folder: URL) throws -> (ManagedObjectModel, files: [String: String]) {
    let files = [
      "trips.csv": "trip_id,headsign\nA1,Harbour\nA2,Island\n",
      "stop_times.csv": "trip_id,stop_sequence,stop_name\nA1,1,Quay\nA1,2,Island\nA2,1,Island\n",
    ]
    let paths = try files.sorted { $0.key < $1.key }.map { name, text in
      let url = folder.appendingPathComponent(name)
      try Data(text.utf8).write(to: url)
      return url.path
    }
    let inferred = try ModelInference().run(paths)
    return (try ImportModel.adding(to: ManagedObjectModel(entities: inferred.definitions)), files)
  }

  @Test(
    "of an inferred model, a column that is an attribute and a reference is written once, and imports again to the same rows",
    arguments: [WrittenFormat.csv, .json, .ndjson, .sqlite, .parquet, .xlsx])
  func sharedColumn(_ format: WrittenFormat) async throws {
    let folder = try ScratchDirectory()
    let (model, files) = try Self.timetable(in: folder.url)
    let (house, other) = (try await Warehouse(model: model), try await Warehouse(model: model))
    try FileManager.default.createDirectory(at: house.exports, withIntermediateDirectories: true)
    for (entity, file) in [("Trip", "trips.csv"), ("StopTime", "stop_times.csv")] {
      try Data(try #require(files[file]).utf8).write(to: house.exports.appendingPathComponent(file))
      let job = try await house.take(file, from: house, into: entity, ImportOptions(mode: .insert))
      #expect(job.state == .completed && job.progress.rejected == 0, "\(job.reason ?? "")")
    }
    for entity in ["Trip", "StopTime"] {
      let file = "\(entity).\(format.rawValue)"
      let job = try await house.run("export", entity, #"{"format": "\#(format.rawValue)", "file": "\#(file)"}"#)
      #expect(job.state == .completed, "\(job.reason ?? "")")
      let back = try await other.take(file, from: house, into: entity, ImportOptions(mode: .insert))
      #expect(back.state == .completed && back.progress.rejected == 0, "\(back.reason ?? "") \(back.note ?? "")")
    }
    if format == .csv {
      #expect(try house.contents("StopTime.csv").hasPrefix("trip_id,stop_sequence,stop_name\nA1,1,Quay\n"))
    }
    #expect(try other.rows("StopTime") == house.rows("StopTime"))
    #expect(try other.rows("Trip") == house.rows("Trip"))
    #expect(try house.count("StopTime", "trip != nil") == 3)
  }

  @Test("a shared column takes the reference's key where the attribute has none, and two different values are refused")
  func conflictingColumn() async throws {
    let model = try ImportModel.adding(
      to: ManagedObjectModel(entities: [
        EntityDefinition(
          "Trip", attributes: [AttributeDefinition("code", .string)], uniquenessConstraints: [["code"]]),
        EntityDefinition(
          "Stop", attributes: [AttributeDefinition("trip_code", .string)],
          relationships: [RelationshipDefinition("trip", to: "Trip", userInfo: ["mappedKeyName": "trip_code"])]),
      ]))
    let house = try await Warehouse(model: model)
    try house.change { context in
      let trip = try context.insert("Trip")
      try trip.setValue(.string("A"), forKey: "code")
      for code in ["A", nil, "B"] {
        let stop = try context.insert("Stop")
        try stop.setValue(code.map(Value.string) ?? .null, forKey: "trip_code")
        if code != "B" { try stop.setValue(.object(trip.objectID), forKey: "trip") }
      }
    }
    var job = try await house.run("export", "Stop", #"{"file": "stops.csv"}"#)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(try house.contents("stops.csv") == "trip_code\nA\nA\nB\n")
    try house.change { context in
      let trip = try context.fetch(FetchRequest<ManagedObject>(entityName: "Trip"))[0]
      for stop in try context.fetch(FetchRequest<ManagedObject>(entityName: "Stop")) {
        try stop.setValue(.object(trip.objectID), forKey: "trip")
      }
    }
    job = try await house.run("export", "Stop", #"{"file": "stops.csv"}"#)
    #expect(job.state == .discarded)
    #expect(
      job.reason?.contains("trip_code, and in one object their values are “B” and “A”") == true, "\(job.reason ?? "")")
    job = try await house.run("export", "Stop", #"{"file": "stops.csv", "columns": "trip"}"#)
    #expect(job.state == .completed, "\(job.reason ?? "")")
  }
}
