import Foundation
import Importing
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Exporting objects", .timeLimit(.minutes(20)))
struct ExportTests {
  /// Three items, of whom two have a maker.
  private func warehouse() async throws -> Warehouse {
    let house = try await Warehouse()
    try house.change { context in
      let maker = try context.insert("Maker")
      try maker.setValue(.string("Ford & \"Sons\", Inc."), forKey: "name")
      try maker.setValue(.int(1903), forKey: "founded")
      for (number, text) in [(1, "plain"), (2, "two\nlines"), (3, nil)] {
        let item = try context.insert("Item")
        try item.setValue(.string(Warehouse.code(number)), forKey: "code")
        try item.setValue(.int(Int64(10 * number)), forKey: "middle")
        if let text { try item.setValue(.string(text), forKey: "text") }
        if number < 3 { try item.setValue(.object(maker.objectID), forKey: "maker") }
      }
    }
    return house
  }

  @Test("CSV has a header, quotes where they are needed, and nothing where there is nothing")
  func csv() async throws {
    let house = try await warehouse()
    let job = try await house.run(
      "export", "Item", #"{"columns": ["code", "middle", "text", "maker.name", "maker.founded"], "file": "items.csv"}"#)
    #expect(job.state == .completed)
    #expect(
      try house.contents("items.csv") == """
        item_code,middle,text,maker.name,maker.founded
        i00001,10,plain,"Ford & ""Sons"", Inc.",1903
        i00002,20,"two
        lines","Ford & ""Sons"", Inc.",1903
        i00003,30,,,

        """)
    #expect(job.progress.records == 3 && job.progress.bytesDone == job.progress.bytesTotal)
    #expect(job.note == "3 Item in \(house.exports.path)/items.csv, \(Quantity.bytes(Double(job.progress.bytesDone)))")
  }

  @Test("JSON is an array of objects, NDJSON an object a line")
  func json() async throws {
    let house = try await warehouse()
    let columns = #""columns": "code,text,maker""#
    _ = try await house.run("export", "Item", "{\(columns), \"format\": \"json\", \"file\": \"items.json\"}")
    _ = try await house.run("export", "Item", "{\(columns), \"format\": \"ndjson\", \"file\": \"items.ndjson\"}")
    let objects = [
      #"{"item_code":"i00001","text":"plain","made_by":"Ford & \"Sons\", Inc."}"#,
      #"{"item_code":"i00002","text":"two\nlines","made_by":"Ford & \"Sons\", Inc."}"#,
      #"{"item_code":"i00003","text":null,"made_by":null}"#,
    ]
    #expect(try house.contents("items.json") == "[\n" + objects.joined(separator: ",\n") + "\n]\n")
    #expect(try house.contents("items.ndjson") == objects.joined(separator: "\n") + "\n")
  }

  @Test("of to-many relationships JSON has the keys, the objects, or their number; CSV refuses objects")
  func toMany() async throws {
    let house = try await warehouse()
    let columns = #""columns": ["name", "items", "items.code", "items.middle", "items.@count"]"#
    let twice = try await house.run("export", "Maker", "{\(columns), \"format\": \"json\"}")
    #expect(twice.state == .discarded && twice.failureCode == "bad_options")
    let job = try await house.run(
      "export", "Maker",
      #"{"columns": ["name", "items.code", "items.middle", "items.@count"], "format": "ndjson", "file": "makers.json"}"#
    )
    #expect(job.state == .completed)
    let text = try house.contents("makers.json")
    let maker = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let items = try #require(maker["items"] as? [[String: Any]])
    #expect(Set(items.compactMap { $0["item_code"] as? String }) == ["i00001", "i00002"])
    #expect(Set(items.compactMap { $0["middle"] as? Int }) == [10, 20])
    #expect(maker["items.@count"] as? Int == 2)
    let keys = try await house.run(
      "export", "Maker", #"{"columns": ["items"], "format": "ndjson", "file": "keys.json"}"#)
    #expect(keys.state == .completed)
    #expect(
      ["{\"items\":[\"i00001\",\"i00002\"]}\n", "{\"items\":[\"i00002\",\"i00001\"]}\n"].contains(
        try house.contents("keys.json")))
    let csv = try await house.run("export", "Maker", #"{"columns": ["items.code"]}"#)
    #expect(csv.failureCode == "bad_options" && csv.reason?.contains("export it as JSON") == true)
    #expect(try house.files == ["keys.json", "makers.json"])
  }

  @Test("which objects, in which order and how many is said by options")
  func choice() async throws {
    let house = try await Warehouse()
    try house.fill(20)
    _ = try await house.run(
      "export", "Item",
      #"{"where": "middle > 5 AND code BEGINSWITH 'i'", "sort": "-middle", "limit": "3", "columns": ["middle"], "file": "a"}"#
    )
    #expect(try house.contents("a") == "middle\n20\n19\n18\n")
    _ = try await house.run(
      "export", "Item", #"{"columns": ["middle"], "where": "middle < 0", "file": "none", "format": "json"}"#)
    #expect(try house.contents("none") == "[]\n")
  }

  @Test("objects of entities that inherit are among them, unless that is said otherwise")
  func subentities() async throws {
    let house = try await Warehouse()
    try house.fill(1)
    try house.change { context in
      let book = try context.insert("Book")
      try book.setValue(.string("b1"), forKey: "code")
    }
    _ = try await house.run("export", "Item", #"{"columns": ["code", "entity.name"], "file": "all"}"#)
    #expect(try house.contents("all") == "item_code,entity.name\ni00001,Item\nb1,Book\n")
    _ = try await house.run("export", "Item", #"{"columns": ["code"], "file": "own", "subentities": false}"#)
    #expect(try house.contents("own") == "item_code\ni00001\n")
  }

  @Test(
    "a name that could lead anywhere else is refused, and nothing is written",
    arguments: [
      "../a.csv", "/etc/passwd", "a/b", ".", "..", "", ".hidden", "-rf", "a\u{0}b", "a\nb", "a\u{202E}b",
      String(repeating: "a", count: 201),
    ])
  func names(_ name: String) async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let options = String(decoding: try JSONEncoder().encode(["file": name]), as: UTF8.self)
    let job = try await house.run("export", "Item", options)
    #expect(job.state == .discarded && job.failureCode == "bad_name")
    #expect(try house.files.isEmpty)
  }

  @Test("a link in the place of the file is replaced, not followed; one in the place of the unfinished file is removed")
  func links() async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let victim = house.folder.file("victim")
    try Data("keep me".utf8).write(to: victim)
    try FileManager.default.createDirectory(at: house.exports, withIntermediateDirectories: true)
    for name in ["items.csv", ".job-1.tmp"] {
      try FileManager.default.createSymbolicLink(
        at: house.exports.appendingPathComponent(name), withDestinationURL: victim)
    }
    let job = try await house.run("export", "Item", #"{"columns": ["code"], "file": "items.csv"}"#)
    #expect(job.id == 1 && job.state == .completed)
    #expect(try Data(contentsOf: victim) == Data("keep me".utf8))
    #expect(try house.contents("items.csv") == "item_code\ni00001\n")
    #expect(try house.files == ["items.csv"])
  }

  @Test(
    "what can't be followed is refused with what can",
    arguments: [
      (#"{"colums": ["code"]}"#, "there is no option colums; there are columns, compression, dates, delimiter"),
      (#"{"format": "xml"}"#, "format: there is no xml; there are csv, json, ndjson, sqlite"),
      (#"{"limit": -1}"#, "limit: it must be a whole number from 0 on"),
      (#"{"where": "code =="}"#, "where: "), (#"{"where": "cod == 'a'"}"#, "code"),
      (#"{"columns": ["cod"]}"#, "code"), (#"{"columns": []}"#, "columns names none"),
      (#"{"columns": ["code", "code"]}"#, "two columns are called item_code"),
      (#"{"columns": ["size"]}"#, "size.width"), (#"{"columns": ["labels.items.code"]}"#, "one attribute"),
      (#"{"sort": ["labels"]}"#, "labels"), (#"{"delimiter": "::"}"#, "isn't one character"),
      (#"{"format": "sqlite", "compression": "gzip"}"#, "can't be packed"),
      (#"{"format": "xlsx", "compression": "zstd"}"#, "a workbook is packed as it is: leave it out"),
      (#"{"format": "xlsx", "columns": ["code", "labels.name"]}"#, "xlsx has no place"),
    ])
  func refusals(_ options: String, _ words: String) async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let job = try await house.run("export", "Item", options)
    #expect(job.state == .discarded)
    #expect(job.reason?.contains(words) == true, "\(job.reason ?? "")")
    #expect(try house.files.isEmpty)
  }

  @Test(
    "Parquet and Excel have their endings, whatever their compression, and objects of to-many relationships in Parquet")
  func binaryFiles() async throws {
    let house = try await warehouse()
    for options in [
      #"{"format": "parquet"}"#, #"{"format": "parquet", "compression": "zstd"}"#, #"{"format": "xlsx"}"#,
      #"{"format": "parquet", "columns": ["name", "items.code", "items.middle"], "file": "makers.parquet"}"#,
    ] {
      let job = try await house.run("export", options.contains("makers") ? "Maker" : "Item", options)
      #expect(job.state == .completed, "\(job.reason ?? "")")
    }
    #expect(try house.files == ["Item-1.parquet", "Item-2.parquet", "Item-3.xlsx", "makers.parquet"])
    let other = try await Warehouse()
    let back = try await other.take("makers.parquet", from: house, into: "Maker", ImportOptions(mode: .upsert))
    #expect(back.state == .completed, "\(back.reason ?? "")")
    #expect(try other.count("Maker") == 1)
  }

  @Test("a text that no cell has room for fails the export by its column, and leaves no file")
  func tooLongForExcel() async throws {
    let house = try await Warehouse()
    try house.fill(1) { try $1.setValue(.string(String(repeating: "x", count: 32_768)), forKey: "text") }
    let job = try await house.run("export", "Item", #"{"format": "xlsx"}"#)
    #expect(job.failureCode == "not_writable" && job.reason?.contains("text can't be written as xlsx") == true)
    #expect(try house.files.isEmpty)
  }

  @Test("a missing store or entity is reported with the known ones")
  func targets() async throws {
    let house = try await Warehouse()
    let unknown = try await house.run("export", "Itm")
    #expect(unknown.failureCode == "unknown_entity" && unknown.reason?.contains("did you mean Item?") == true)
    let none = try await house.run("export", nil)
    #expect(none.failureCode == "no_entity" && none.reason?.contains("Book, Item, Label, Maker, Permit, Shelf") == true)
    let own = try await house.run("export", "lade_checkpoint")
    #expect(own.failureCode == "unknown_entity")
  }

  @Test("a date that the model's format can't say whole fails the export, and is written by ISO 8601 if that is said")
  func dates() async throws {
    let house = try await Warehouse()
    try house.fill(1) { try $1.setValue(.date(Date(timeIntervalSince1970: 1.5)), forKey: "due") }
    let job = try await house.run("export", "Item", #"{"columns": ["due"]}"#)
    #expect(job.failureCode == "not_writable" && job.reason?.contains("EEE, d. MMM yyyy") == true)
    _ = try await house.run("export", "Item", #"{"columns": ["due"], "dates": "iso", "file": "due.csv"}"#)
    #expect(try house.contents("due.csv") == "due\n1970-01-01T00:00:01.5Z\n")
    #expect(try house.files == ["due.csv"])
  }
}
