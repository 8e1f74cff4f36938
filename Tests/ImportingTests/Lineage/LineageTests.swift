import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Where rows come from")
struct LineageTests {
  private static let text = "code,name,age\na,Ann,1\nb,Bob,x\nc,Cy,3\n"

  private func room(_ kind: StoreKind) throws -> ImportRoom {
    let room = try ImportRoom(kind)
    room.traceRows()
    return room
  }

  @Test("a row has its job, record, line and byte, in every mode", arguments: StoreKind.allCases, [1, 2, 100])
  func places(kind: StoreKind, batch: Int) throws {
    for mode in ImportMode.inserting {
      let room = try room(kind)
      #expect(try room.run(Self.text, mode: mode, batch: batch).counts.inserted == 2)
      #expect(try room.histories("code") == ["a|1 inserted 1@2+14", "c|1 inserted 3@4+30"], "\(mode)")
      #expect(try room.fingerprintsThatFit() == (2, 0))
    }
  }

  @Test("every later import that changed a row is named, others aren't", arguments: StoreKind.allCases)
  func changes(kind: StoreKind) throws {
    let room = try room(kind)
    try room.run(Self.text, mode: .upsert)
    try room.run("code,name,age\nc,Cy,3\na,Anna,1\nd,Di,4\n", as: "b.csv", mode: .upsert, job: "2")
    try room.run("code,age\na,9\nc,4\n", as: "c.csv", mode: .update, job: "3")
    #expect(
      try room.histories("code") == [
        "a|1 inserted 1@2+14|2 updated 2@3+21|3 updated 1@2+9", "c|1 inserted 3@4+30|3 updated 2@3+13",
        "d|2 inserted 3@4+30",
      ])
    try room.run("code,name,age\na,Anna,9\n", as: "d.csv", mode: .synchronise, job: "4")
    #expect(try room.histories("code") == ["a|1 inserted 1@2+14|2 updated 2@3+21|3 updated 1@2+9"])
    try room.run("code,name\na,Ann\n", as: "e.csv", mode: .replace, job: "5")
    #expect(try room.histories("code").first?.hasSuffix("|3 updated 1@2+9|5 updated 1@2+10") == true)
    #expect(try room.fingerprintsThatFit().others == 0)
  }

  @Test("the job is named with its file, hash, recipe, submitter and times")
  func job() throws {
    let room = try room(.sqlite)
    try room.run(Self.text, as: "people.csv")
    let context = room.context()
    let person = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).first)
    let step = try #require(try RowHistory.steps(of: person.objectID, in: context).first)
    #expect(step.file == "people.csv" && step.member == "" && step.kind == "import")
    #expect(step.digest == SHA256.digest(Self.text.utf8).map { String(format: "%02x", $0) }.joined())
    #expect(step.ended.map { $0 >= step.submitted } == true)
  }

  @Test("formats say it as they count", arguments: StoreKind.allCases)
  func formats(kind: StoreKind) throws {
    let json = "[\n{\"code\":\"a\",\"name\":\"Ann\"},\n{\"code\":\"b\",\"name\":\"Bob\"}\n]\n"
    let lines = "{\"code\":\"a\",\"name\":\"Ann\"}\n\n{\"code\":\"b\",\"name\":\"Bob\"}\n"
    let xml = "<rows>\n<row><code>a</code><name>Ann</name></row>\n<row><code>b</code><name>Bob</name></row>\n</rows>\n"
    for (name, text, places) in [
      ("a.json", json, ["1@2+2", "2@3+29"]), ("a.ndjson", lines, ["1@1+0", "2@3+27"]),
      ("a.xml", xml, ["1@2+7", "2@3+49"]), ("a.tsv", "code\tname\na\tAnn\nb\tBob\n", ["1@2+10", "2@3+16"]),
    ] {
      let room = try room(kind)
      try room.run(text, as: name)
      #expect(
        try room.histories("code") == zip(["a", "b"], places).map { "\($0)|1 inserted \($1)" }, "\(name)")
    }
  }

  @Test("a member of a feed is named, and the line in it", arguments: StoreKind.allCases)
  func feed(kind: StoreKind) throws {
    let room = try room(kind)
    try Feed.run(Feed.staff, in: room)
    #expect(try room.histories("code", of: "Country") == ["DE|1 inserted 1@2+10", "FR|1 inserted 2@3+21"])
    let context = room.context()
    let country = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Country")).first)
    let step = try #require(try RowHistory.steps(of: country.objectID, in: context).first)
    #expect(step.file == "feed.zip" && step.member == "feed/countries.csv" && step.digest.count == 64)
    #expect(try room.fingerprintsThatFit().others == 0)
  }

  @Test("nested objects and placeholders come from the record that has them", arguments: StoreKind.allCases, [1, 100])
  func nested(kind: StoreKind, batch: Int) throws {
    let room = try room(kind)
    let text = """
      {"sku":"a","maker":{"name":"Acme"},"tags":[{"word":"red","rank":1}]}
      {"sku":"b","maker":{"name":"Bolt"},"tags":[{"word":"red","rank":2},{"word":"blue"}]}

      """
    try room.run(text, as: "a.ndjson", into: "Product", batch: batch)
    #expect(try room.histories("name", of: "Maker") == ["Acme|1 inserted 1@1+0", "Bolt|1 inserted 2@2+69"])
    #expect(try room.histories("word", of: "Tag").first == "blue|1 inserted 2@2+69")
    var rule = PropertyRule()
    rule.creates = true
    try room.run(
      "code,name,country_code\nx,X,DE\ny,Y,FR\nz,Z,FR\n", as: "b.csv", batch: batch, job: "2", rules: ["country": rule])
    #expect(
      try room.histories("code", of: "Country") == ["DE|2 inserted 1@2+23", "FR|2 inserted 2@3+30"])
    #expect(try room.fingerprintsThatFit().others == 0)
  }

  @Test("an import that is killed at any write and run again has recorded one run", arguments: StoreKind.allCases)
  func killed(kind: StoreKind) throws {
    let again = "code,name,age,boss\nb,Bob,2,d\na,Anna,1,\nd,Di,4,e\ne,Ed,5,a\n"
    for mode in [ImportMode.insert, .upsert, .synchronise, .replace] {
      try Killing.everyWrite(
        kind,
        furnish: { room in
          room.traceRows()
          if mode != .insert { try room.run(Self.text, job: "0") }
        },
        run: { try $0.run(again, as: "b.csv", mode: mode, batch: 1, job: "2") },
        traces: { room, end in
          try room.histories("code") + ["\(end.counts)", "\(room.count(of: ImportModel.jobEntity))"]
            + room.segments()
        })
    }
  }

  @Test("a feed that is killed at any write and run again has recorded one run", arguments: StoreKind.allCases)
  func killedFeed(kind: StoreKind) throws {
    try Killing.everyWrite(
      kind, furnish: { $0.traceRows() }, run: { try Feed.run(Feed.staff, in: $0) },
      traces: { room, _ in
        try room.histories("code") + room.histories("code", of: "Country") + room.histories("id", of: "Badge")
          + room.segments()
      })
  }

  @Test("nothing is recorded unless the recipe or the entity says so", arguments: StoreKind.allCases)
  func unused(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run(Self.text)
    try Feed.run(Feed.staff, in: room, job: "2")
    #expect(try room.recorded() == 0)
    // What was imported before is of unknown origin, and what changes it later is known.
    room.traceRows()
    try room.run("code,name\na,Anna\n", as: "b.csv", job: "3")
    #expect(try room.histories("code").contains("a|3 updated 1@2+10"))
    room.adjust = { $0.lineage = false }
    let before = try room.recorded()
    try room.run("code,name\na,Ann\n", as: "c.csv", job: "4")
    #expect(try room.recorded() == before)
  }

  @Test("a dry run records nothing")
  func dry() throws {
    let room = try room(.sqlite)
    room.adjust = { ($0.lineage, $0.isDryRun) = (true, true) }
    try room.run(Self.text)
    #expect(try room.recorded() == 0)
  }

  @Test("an entity says so for itself and for those that inherit from it")
  func scope() throws {
    func model(_ word: String?) throws -> ManagedObjectModel {
      try ImportModel.adding(
        to: ManagedObjectModel(entities: [
          EntityDefinition("Base", userInfo: word.map { ["lineage": $0] } ?? [:]),
          EntityDefinition("Derived", parent: "Base"), EntityDefinition("Other"),
        ]))
    }
    let traced = try model("true")
    let names = ["Base", "Derived", "Other"]
    func scope(_ option: Bool?, _ target: String, _ model: ManagedObjectModel) -> [Bool]? {
      LineageScope(option, of: model.entitiesByName[target], in: model).map { scope in
        names.map { name in model.entitiesByName[name].map { scope.contains($0) } ?? false }
      }
    }
    #expect(scope(nil, "Derived", traced) == [true, true, true], "all that the job does belongs to it")
    #expect(scope(nil, "Other", traced) == [true, true, false])
    #expect(scope(false, "Base", traced) == nil)
    #expect(scope(true, "Other", try model(nil)) == [true, true, true])
    #expect(scope(nil, "Base", try model("no")) == nil)
    #expect(scope(nil, "Base", try model(nil)) == nil)
  }

  @Test("a row takes no more than 16 bytes", arguments: [ImportMode.insert, .upsert])
  func size(mode: ImportMode) throws {
    let room = try room(.sqlite)
    let rows = 50_000
    let text = "code,name,age\n" + (0..<rows).map { "c\($0),Name \($0),\($0 % 100)\n" }.joined()
    #expect(try room.run(text, mode: mode).counts.inserted == Int64(rows))
    let context = room.context()
    let bytes = try context.fetch(FetchRequest<ManagedObject>(entityName: ImportModel.lineageEntity)).reduce(0) {
      $0 + $1.data("rows").count
    }
    #expect(bytes <= 10 * rows, "with what SQLite adds to each list, which is little")
    let plain = try ImportRoom(.sqlite)
    _ = try plain.run(text, mode: mode)
    #expect(room.plan.newRows(of: "Person") == plain.plan.newRows(of: "Person"), "no more rows became objects")
    #expect(try room.fingerprintsThatFit() == (rows, 0))
  }

  @Test("what is stored of values of every type has the fingerprint that its import has given it")
  func fingerprints() throws {
    let room = try room(.sqlite)
    let header = "key,small,large,exact,double,float,flag,day,unix,link,text\n"
    let rows = [
      "6F9619FF-8B86-D011-B42D-00CF4FC964FF,1,9007199254740993,1.50,0.1,0.1,true,2026-01-02T03:04:05.678901Z,1.25,"
        + "http://a/b,é",
      "7F9619FF-8B86-D011-B42D-00CF4FC964FF,,,,,,,,,,",
      "8F9619FF-8B86-D011-B42D-00CF4FC964FF,-1,-3,-0.000000000000000000001,-0.0,1e10,false,1969-12-31T23:59:59Z,-7,,\"\"",
    ]
    try room.run(header + rows.joined(separator: "\n") + "\n", into: "Everything")
    let found = try room.fingerprintsThatFit()
    #expect(found.others == 0 && found.fitting > 0)
  }

  @Test(
    "records that follow each other take six bytes, whatever the lines and rows between them",
    arguments: [(1, 1, 1), (1, 1, 0), (1, 1, 5), (3, 1, 1), (-1, 2, 2)])
  func evenSteps(row: Int64, record: Int64, line: Int64) throws {
    var entries = LineageEntries()
    var expected: [LineageEntry] = []
    var place = RecordPlace(record: 5, line: 17, byte: 1_000)
    for number in 0..<1_000 {
      let entry = LineageEntry(row: 9 + row * Int64(number), place: place, fingerprint: UInt32(number))
      entries.append(entry.row, entry.place, entry.fingerprint)
      expected.append(entry)
      place.record += record
      place.line += line
      place.byte += Int64(80 + number * 7 % 23)
    }
    #expect(entries.data.count < 6_000)
    #expect(try LineageEntries.read(entries.data, of: .inserted) == expected)
  }

  @Test("lists of rows and former values are read as they were written, and damage is found")
  func coding() throws {
    var entries = LineageEntries()
    let places = [
      RecordPlace(record: 1, line: 2, byte: 3), .unknown, RecordPlace(record: .max, line: 1 << 40, byte: 0),
    ]
    for (row, place) in zip([Int64(7), -3, .max], places) { entries.append(row, place, 0xDEAD_BEEF) }
    let read = try LineageEntries.read(entries.data, of: .inserted)
    #expect(read.map(\.row) == [7, -3, .max] && read.map(\.place) == places)
    #expect(entries.firstRow == -3 && entries.lastRow == .max && read.allSatisfy { $0.fingerprint == 0xDEAD_BEEF })
    #expect(throws: LineageError.damaged) { try LineageEntries.read(entries.data.dropLast(), of: .inserted) }
    let room = try ImportRoom(.memory)
    let id = try room.coordinator.managedObjectID(entity: "Person", number: 5)
    let values: [Value] = [
      .null, .bool(true), .bool(false), .int(.min), .double(-0.25), .decimal(Decimal(string: "1.25") ?? 0),
      .string("é\0"), .date(Date(timeIntervalSince1970: 1.5)), .data(Data([0, 255])), .uuid(UUID()),
      .uri(try #require(URL(string: "http://a/b"))), .object(id),
    ]
    let images = [
      values.map { BeforeValue(property: "p", content: .value($0)) },
      [
        BeforeValue(property: "q", content: .members(lost: [id], got: [])),
        BeforeValue(property: "p", content: .order([id, id])),
      ], [],
    ]
    var encoder = BeforeImages()
    for image in images { encoder.append(image) }
    #expect(try BeforeImages.read(encoder.data, room.coordinator) == images)
    #expect(throws: LineageError.damaged) { try BeforeImages.read(Data([1, 0, 9]), room.coordinator) }
  }
}

extension ImportRoom {
  /// The lists, by save and event, without numbers of rows, which a killed run has used up.
  fileprivate func segments() throws -> [String] {
    try rows(["job", "member", "save", "part", "event", "entity", "count"], of: ImportModel.lineageEntity)
      + rows(["job", "save", "part", "first"], of: ImportModel.beforeEntity)
  }
}
