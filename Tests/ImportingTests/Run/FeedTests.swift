import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("A feed")
struct FeedTests {
  @Test(
    "is imported member by member in the order of references, and the second time nothing changes",
    arguments: StoreKind.allCases, ["feed.zip", "feed.tgz"])
  func members(_ kind: StoreKind, _ name: String) throws {
    let room = try ImportRoom(kind)
    let end = try Feed.run(Feed.staff, in: room, as: name)
    #expect(
      try room.rows("code", "age", "country.code", "boss.code") == [
        "p1|40|DE|p2", "p2|50|FR|", "p3|30|FR|p1", "p4|||p3",
      ])
    #expect(try room.rows("id", "owner.code", "next.id", of: "Badge") == ["1|p1|2", "2|p2|"])
    #expect(end.tally == "8i 0u 0= 2r 1?" && end.counts.records == 10)
    #expect(room.reports.last?.counts == end.counts)
    let last = try #require(room.reports.last)
    #expect(last.bytesDone <= last.bytesTotal && last.bytesTotal > 100)
    #expect(end.notes.prefix(3).contains("feed/countries.csv into Country: 2 inserted"))
    #expect(end.notes.contains("feed/people.csv into Person: 4 inserted, 1 rejected"))
    #expect(end.notes.contains { $0.hasPrefix("feed/people.csv: 1 reference(s) of country lead nowhere") })
    #expect(
      end.notes.last == "ignored: README.md, notes.txt, feed/people.pdf, which no entity has a file for"
        || end.notes.last == "ignored: notes.txt, README.md, feed/people.pdf, which no entity has a file for")
    #expect(try Set(Feed.rejects(room).keys) == ["people.csv", "badges.csv"])

    let saves = Saves(of: room.coordinator)
    let again = try Feed.run(Feed.staff, in: room, as: name, job: "2")
    #expect(again.tally == "0i 0u 8= 2r 1?")
    for entity in ["Person", "Country", "Badge"] { #expect(saves.count(of: entity) == 0) }
  }

  @Test("that is killed at any write leaves what one run leaves", arguments: StoreKind.allCases, [false, true])
  func killed(_ kind: StoreKind, isWhole: Bool) throws {
    try Killing.everyWrite(
      kind, furnish: { room in room.adjust = { $0.atomicity = isWhole ? .file : .batch } },
      run: { try Feed.run(Feed.staff, in: $0) }, traces: { try Feed.Traces($0, $1) })
  }

  @Test(
    "that is stopped wherever it asks continues, and reads no finished member again",
    arguments: StoreKind.allCases, [false, true])
  func stopped(_ kind: StoreKind, isWhole: Bool) throws {
    let usual = try ImportRoom(kind)
    let expected = try Feed.Traces(usual, Feed.run(Feed.staff, in: usual))
    for asking in 1...30 {
      let room = try ImportRoom(kind)
      room.adjust = { $0.atomicity = isWhole ? .file : .batch }
      let end = try Feed.run(Feed.staff, in: room, stopAtAsking: asking)
      if end.isFinished {
        #expect(asking > 9)
        break
      }
      if isWhole {
        #expect(end.counts == ImportCounts())
        #expect(try room.count(of: ImportModel.checkpointEntity) == 0 && room.count(of: "Country") == 0)
        #expect(try Feed.rejects(room) == [:])
      }
      try room.reopen()
      #expect(try Feed.Traces(room, Feed.run(Feed.staff, in: room)) == expected, "asking \(asking)")
    }
  }

  @Test("leaves nothing behind when its job is forgotten", arguments: StoreKind.allCases)
  func forgotten(_ kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try Feed.run(Feed.staff, in: room, job: "1")
    try Feed.run(Feed.clubs, in: room, as: "b.zip", job: "11", stopAtAsking: 6)
    #expect(try room.count(of: ImportModel.checkpointEntity) > 5)
    try ImportCheckpoint.remove("1", in: room.context())
    #expect(try ImportCheckpoint.read("11", in: room.context()) != nil)
    try ImportCheckpoint.remove("11", in: room.context())
    for entity in [ImportModel.checkpointEntity, ImportModel.referenceEntity, ImportModel.asideEntity] {
      #expect(try room.count(of: entity) == 0, "\(entity)")
    }
  }

  // MARK: Entities that refer to each other

  @Test("whose entities refer to each other has every reference at the end", arguments: StoreKind.allCases)
  func ring(_ kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let end = try Feed.run(Feed.clubs, in: room)
    #expect(try room.rows("name", "captain.number", of: "Club") == ["Blues|4", "Reds|2", "Whites|"])
    #expect(try room.rows("number", "club.name", of: "Player") == ["1|Reds", "2|Reds", "4|Blues"])
    #expect(end.tally == "6i 0u 0= 2r 1?")
    #expect(end.notes.contains { $0.contains("refer to each other") })
    #expect(try Feed.run(Feed.clubs, in: room, job: "2").tally == "0i 0u 6= 2r 1?")
    try Killing.everyWrite(kind, run: { try Feed.run(Feed.clubs, in: $0) }, traces: { try Feed.Traces($0, $1) })
  }

  @Test(
    "loses what the file doesn't have any more, what refers to it first",
    arguments: StoreKind.allCases, [ImportMode.synchronise, .replace])
  func deleting(_ kind: StoreKind, _ mode: ImportMode) throws {
    let before = [
      ("countries.csv", "code,name\nDE,Germany\nFR,France\n"), ("badges.csv", "id,text,owner\n1,One,p1\n2,Two,p2\n"),
      ("people.csv", "code,name,country_code,boss\np1,Ann,DE,\np2,Bob,FR,p1\n"),
    ]
    let after = [
      ("countries.csv", "code,name\nDE,Germany\n"), ("badges.csv", "id,text,owner\n1,One,p1\n"),
      ("people.csv", "code,name,country_code,boss\np1,Ann,DE,\n"),
    ]
    try Killing.everyWrite(
      kind, furnish: { try Feed.run(before, in: $0, as: "before.zip", job: "0") },
      run: { try Feed.run(after, in: $0, mode: mode) },
      traces: { room, end in
        #expect(end.counts.deleted == 3 && end.counts.unchanged == 3)
        #expect(try room.count(of: "Badge") == 1 && room.count(of: "Person") == 1 && room.count(of: "Country") == 1)
        return try Feed.Traces(room, end)
      })
  }

  // MARK: All or nothing

  @Test("by file is committed whole or not at all", arguments: StoreKind.allCases)
  func whole(_ kind: StoreKind) throws {
    let usual = try ImportRoom(kind)
    let expected = try Feed.Traces(usual, Feed.run(Feed.staff, in: usual))
    let room = try ImportRoom(kind)
    room.adjust = { $0.atomicity = .file }
    var broken = Feed.staff
    broken[0].1 = "id,text,owner\n1,\"One\"x,p1\n2,Two,p2\n3,Three,zz\n4,Four,zz\n"
    let saves = Saves(of: room.coordinator)
    #expect {
      try Feed.run(broken, in: room, limit: 2)
    } throws: { error in
      (error as? MemberFailure)?.member == "feed/badges.csv" && "\(error)".contains("more than the limit of 2")
    }
    #expect(try room.count(of: "Country") == 0 && room.count(of: "Person") == 0 && saves.total == 0)
    #expect(room.reports.last?.counts.inserted == 0 && (room.reports.last?.counts.rejected ?? 0) > 2)
    #expect(try Feed.rejects(room)["people.csv"] != nil)
    #expect(try Feed.Traces(room, Feed.run(Feed.staff, in: room, job: "2"), job: "2") == expected)
  }

  @Test("dry, it says what it would do, and does nothing but rejects", arguments: StoreKind.allCases)
  func dry(_ kind: StoreKind) throws {
    let usual = try ImportRoom(kind)
    let real = try Feed.run(Feed.staff, in: usual)
    let room = try ImportRoom(kind)
    room.adjust = { $0.isDryRun = true }
    let end = try Feed.run(Feed.staff, in: room)
    #expect(end.counts == real.counts)
    #expect(end.notes == ["dry run: nothing was committed"] + real.notes)
    #expect(try Feed.rejects(room) == Feed.rejects(usual))
    for entity in ["Person", "Country", "Badge", ImportModel.checkpointEntity] {
      #expect(try room.count(of: entity) == 0, "\(entity)")
    }
  }

  // MARK: Rejects

  @Test("has limits that count over all members", arguments: StoreKind.allCases)
  func limits(_ kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    // One of the people, then one of the badges.
    #expect(throws: MemberFailure.self) { try Feed.run(Feed.staff, in: room, limit: 1) }
    #expect(try room.count(of: "Person") == 4)
    #expect(try Feed.run(Feed.staff, in: room, limit: 2, job: "2").isFinished)
    // A third of the badges, a fifth of all.
    #expect(try Feed.run(Feed.staff, in: room, share: 0.2, job: "3").isFinished)
    #expect(throws: MappingError.self) { try Feed.run(Feed.staff, in: room, share: 0.19, job: "4") }
  }

  @Test("has its rejects in files that are corrected and dropped again one by one")
  func corrected() throws {
    let room = try ImportRoom(.sqlite)
    try Feed.run(Feed.staff, in: room)
    let summary = try RejectSummary.read(room.rejectsFile(), options: ReaderOptions())
    #expect(summary.count == 2 && summary.groups.count == 2)
    #expect(summary.groups.flatMap { $0.examples.map(\.message) }.filter { $0.hasPrefix("people.csv: age") }.count == 1)
    let rejects = try #require(Feed.rejects(room)["people.csv"])
    let corrected = rejects.replacing("p2,Bob,x", with: "p2,Bobby,51")
    let end = try room.run(corrected, as: "people.csv", into: "*", job: "2")
    #expect(end.tally == "0i 1u 0= 0r 0?")
    #expect(try room.rows("code", "name", "age").contains("p2|Bobby|51"))
    // Nothing was rejected, and no folder is left.
    #expect(!FileManager.default.fileExists(atPath: room.rejectsFile("2").path))
  }

  // MARK: Contents

  @Test("that is a plain file goes into the entity of its name, if there is one")
  func plain() throws {
    let room = try ImportRoom(.memory)
    let end = try room.run("code,name\nDE,Germany\nx,y,z\n", as: "countries.csv", into: "*")
    #expect(end.tally == "1i 0u 0= 1r 0?")
    #expect(end.notes.first == "countries.csv into Country: 1 inserted, 1 rejected")
    #expect(try Feed.rejects(room).keys.sorted() == ["countries.csv"])
    let failure = try room.failure("code,name\n", as: "things to do.csv", into: "*", job: "2")
    #expect(
      "\(try #require(failure))".contains("“things to do.csv” isn't an archive, and no entity has a file of that name"))
    let none = #expect(throws: MappingError.self) {
      try Feed.run([("a.csv", "x\n"), ("b.txt", "")], in: room, job: "3")
    }
    #expect("\(try #require(none))".hasPrefix("none of the archive's files (a.csv, b.txt) is one of "))
  }

  @Test("notes entities that rows need and that have no file, and members without records")
  func notes() throws {
    let room = try ImportRoom(.memory)
    try room.furnish(people: ["p1"])
    let end = try Feed.run(
      [("badges.csv", "id,owner\n1,p1\n"), ("countries.csv", ""), ("seats.csv", "row,number\n")], in: room)
    #expect(end.tally == "1i 0u 0= 0r 0?")
    #expect(end.notes.contains("there is no file for Person, which every Badge needs one of"))
    #expect(end.notes.contains("countries.csv: the file is empty"))
    #expect(end.notes.contains("seats.csv: the file has no records"))
  }

  @Test("may have several files of an entity, also of one name, but not where each takes away what the others bring")
  func several() throws {
    let room = try ImportRoom(.memory)
    let files = [
      ("a/people.csv", "code,name\na,Ann\n"), ("b/people.csv", "code,name\nb,Bob\nc\n"),
      ("b/people.csv", "code,name\nc,Cy\n"),
      ("c/people.csv", "code,name\nd\n"),
    ]
    #expect(try Feed.run(files, in: room).tally == "3i 0u 0= 2r 0?")
    #expect(try Feed.rejects(room).count == 2)
    for mode in [ImportMode.replace, .synchronise] {
      #expect(throws: MappingError.self) { try Feed.run(files, in: room, mode: mode, job: mode.rawValue) }
    }
    #expect(try room.count(of: "Person") == 3)
    let many = (0...1_000).map { ("\($0)/people.csv", "") }
    #expect(throws: MappingError.self) { try Feed.run(many, in: room, job: "many") }
    let some = try Feed.run(Array(many.prefix(150)), in: room, job: "some").notes
    #expect(some.count == 201 && some.last == "and 100 more such notes")
    room.adjust = { $0.reader.member = "a/*" }
    #expect(try Feed.run(files, in: room, job: "4").tally == "0i 0u 1= 0r 0?")
  }

  @Test("has a recipe whose rules hold for the entities that have the property, or the one that is named")
  func rules() throws {
    let room = try ImportRoom(.memory)
    let files = [("countries.csv", "code,label\nDE,Germany\n"), ("people.csv", "code,label,title\na,Ann,Dr\n")]
    room.adjust = { options in
      options.mapping.properties["Country.name"] = PropertyRule()
      options.mapping.properties["Country.name"]?.column = "label"
      options.mapping.properties["Person.name"] = PropertyRule()
      options.mapping.properties["Person.name"]?.column = "title"
      options.mapping.properties["age"] = PropertyRule()
      options.mapping.properties["age"]?.constant = "7"
    }
    #expect(try Feed.run(files, in: room).tally == "2i 0u 0= 0r 0?")
    #expect(try room.rows("name", "age") == ["Dr|7"] && room.rows("name", of: "Country") == ["Germany"])
    room.adjust = { $0.mapping.properties["colour"] = PropertyRule() }
    #expect(throws: MappingError.self) { try Feed.run(files, in: room, job: "2") }
  }

  @Test("has a recipe that is checked against the entities before there is a file")
  func checkedRecipe() throws {
    let model = try ImportRoom(.memory).coordinator.model
    let entities = model.entities.filter { !$0.isAbstract && !ImportModel.entities.contains($0.name) }
    func check(_ change: (inout MappingOptions) -> Void) throws {
      var options = MappingOptions()
      change(&options)
      try options.check(ofFeed: entities)
    }
    func constant(_ text: String) -> PropertyRule {
      var rule = PropertyRule()
      rule.constant = text
      return rule
    }
    // Not every entity has an age: that is no mistake.
    try check { $0.filter = "age > 5" }
    try check { $0.properties = ["age": constant("7"), "Person.name": constant("x")] }
    #expect(throws: MappingError.self) { try check { $0.filter = "age >" } }
    #expect(throws: MappingError.self) { try check { $0.filter = "colour == 1" } }
    #expect(throws: MappingError.self) { try check { $0.properties = ["Person.age": constant("old")] } }
    #expect(throws: MappingError.self) { try check { $0.properties = ["Person.colour": constant("red")] } }
  }

  @Test("that isn't the file any more it was begun with is refused")
  func changed() throws {
    let room = try ImportRoom(.memory)
    try Feed.run(Feed.staff, in: room, stopAtAsking: 4)
    #expect(throws: MappingError.self) { try Feed.run(Feed.staff + [("x.txt", "x")], in: room) }
  }

  // MARK: A real one

  private static let realFeed = sequence(first: URL(fileURLWithPath: #filePath)) { $0.deletingLastPathComponent() }
    .prefix { $0.path != "/" }.map { $0.appendingPathComponent("shared/data/gtfs/caltrain2016.zip") }
    .first { FileManager.default.fileExists(atPath: $0.path) }

  @Test(
    "of Caltrain goes in from the zip as it is, and the second time nothing changes",
    .enabled(if: realFeed != nil, "the shared data aren't beside the package"))
  func caltrain() throws {
    let room = try InferenceRoom()
    let feed = try #require(Self.realFeed)
    let model = try ModelInference().run([feed.path])
    let coordinator = try room.store(model)
    func run(_ job: String) throws -> ImportEnd {
      let request = ImportRequest(
        job: job, source: feed, name: feed.lastPathComponent, entity: ImportRequest.feed, options: ImportOptions(),
        rejects: room.file(job))
      let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "import")
      return try Importer(coordinator: coordinator, request: request).run(
        in: context, shouldStop: { false }, report: { _ in })
    }
    let rows = model.entities.reduce(0) { $0 + $1.records }
    let first = try run("1")
    #expect((first.counts.records, first.counts.inserted) == (rows, rows))
    #expect(first.counts.unresolved == 0 && first.notes.count == 10)
    let second = try run("2")
    #expect((second.counts.inserted, second.counts.updated, second.counts.unchanged) == (0, 0, rows))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "looking")
    let related = FetchRequest<ManagedObject>(
      entityName: "StopTime", predicate: try FetchPredicate(format: "trip != nil AND stop != nil"))
    #expect(try context.count(for: related) == 3103)
  }
}
