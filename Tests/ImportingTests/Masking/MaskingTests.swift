import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Masked values")
struct MaskingTests {
  private static let ada = MaskRoom.code("ada@secret.example")
  private static let grace = MaskRoom.code("grace@secret.example")
  private static let paths = ["number", "email", "phone", "name", "age", "salary", "sponsor.email"]

  private func rows(_ room: MaskRoom) throws -> [String] { try room.room.rows(Self.paths, of: "Client") }

  private func run(
    _ room: MaskRoom, _ text: String, as name: String = "a.csv", job: String = "1", batch: Int = 1000,
    rules: [String: PropertyRule] = MaskRoom.rules, mapping: MappingOptions = MappingOptions(), stopAfter: Int = .max
  ) throws -> ImportEnd {
    try room.room.run(
      text, as: name, into: "Client", batch: batch, job: job, stopAfter: stopAfter, rules: rules, mapping: mapping)
  }

  @Test(
    "are in no file but the source, in any format, and the rejected record is imported once it is corrected",
    arguments: MaskedFormat.allCases, [1, 100])
  func everyFormat(_ format: MaskedFormat, batch: Int) throws {
    let room = try MaskRoom()
    try format.write(to: room.room.file(format.name))
    var mapping = MappingOptions()
    mapping.nulls = ["n/a"]
    room.room.isSourceKept = true
    let end = try room.room.run(
      "", as: format.name, into: "Client", reader: format.reader, batch: batch, rules: format.rules, mapping: mapping)
    #expect(end.tally == "2i 0u 0= 1r 0?", "\(room.room.rejects() ?? "")")
    let good = ["1|\(Self.ada)|****4567|Lo|36||", "3||****|Al|50||\(Self.ada)"]
    #expect(try rows(room) == good)
    #expect(try room.leaks(besides: [format.name]) == [])
    let rejects = try #require(room.room.rejects())
    #expect(rejects.contains("wrongage") && rejects.contains("ladehmac\(Self.grace)"))
    try FileManager.default.removeItem(at: room.room.file(format.name))

    var reader = format.reader
    if !format.isMadeOfText { reader = ReaderOptions() }
    let corrected = rejects.replacingOccurrences(of: "wrongage", with: "40      ")
    let again = try room.room.run(
      corrected, as: format.rejectName, into: "Client", reader: reader, batch: batch, job: "2", rules: format.rules,
      mapping: mapping)
    #expect(again.tally == "1i 0u 0= 0r 0?", "\(room.room.rejects("2") ?? "")")
    #expect(try rows(room) == (good + ["2|\(Self.grace)|****6543|Ho|40||\(Self.ada)"]).sorted())
    #expect(try room.leaks(besides: []) == [])
  }

  @Test("keep their masks however often a record is rejected", arguments: MaskedFormat.allCases)
  func rejectedTwice(_ format: MaskedFormat) throws {
    let room = try MaskRoom()
    try format.write(to: room.room.file(format.name))
    room.room.isSourceKept = true
    try room.room.run("", as: format.name, into: "Client", reader: format.reader, rules: format.rules)
    try FileManager.default.removeItem(at: room.room.file(format.name))
    let reader = format.isMadeOfText ? format.reader : ReaderOptions()
    let first = try #require(room.room.rejects())
    let again = try room.room.run(
      first, as: format.rejectName, into: "Client", reader: reader, job: "2", rules: format.rules)
    #expect(again.tally == "0i 0u 0= 1r 0?")
    let second = try #require(room.room.rejects("2"))
    for text in ["ladehmac\(Self.grace)", "ladehmac\(Self.ada)", "****6543"] {
      #expect(second.contains(text), "\(second)")
    }
    #expect(try room.leaks(besides: []) == [])
  }

  @Test(
    "of records that can't be read aren't in the reject file, which says where they are",
    arguments: [
      (
        "a.csv",
        "number,email,phone,name,age,salary,sponsor\n1,lost@secret.example\n2,\"lost@secret.example\"x,1,L,3,,\n"
      ),
      (
        "a.ndjson",
        "{\"number\":1,\"email\":\"lost@secret.example\"\n[\"lost@secret.example\"]\n"
      ),
      (
        "a.json",
        "[{\"number\":1,\"email\":\"\\ud800lost@secret.example\"},{\"number\":2,\"email\":\"\\udc00lost@secret.example\"}]"
      ),
    ])
  func unreadable(name: String, text: String) throws {
    let room = try MaskRoom()
    let end = try run(room, text, as: name)
    #expect(end.counts.rejected >= 2 && end.counts.inserted == 0)
    #expect(try room.leaks(besides: [name]) == [])
    #expect(room.room.rejects()?.contains("take this record from its source (line 1, byte") == true || name == "a.csv")
    #expect(
      room.room.rejects()?.contains("take this record from its source (line 2, byte 43)") == true || name != "a.csv")
  }

  @Test("don't fit into a short column of a reject file of fixed width, which says where the record is")
  func noRoom() throws {
    let room = try MaskRoom()
    var reader = ReaderOptions()
    reader.format = .fixedWidth
    reader.fixedWidth = FixedWidthLayout(columns: [
      .init("number", width: 3), .init("email", width: 20), .init("age", width: 3),
    ])
    let end = try room.room.run(
      "1  ada@secret.example  36 \n2  grace@secret.exampleold\n", as: "a.txt", into: "Client", reader: reader,
      rules: ["email": MaskRoom.rules["email"] ?? PropertyRule()])
    #expect(end.tally == "1i 0u 0= 1r 0?")
    #expect(
      room.room.rejects()?.hasSuffix("#lade masked: take this record from its source (line 2, byte 27)\n") == true,
      "\(room.room.rejects() ?? "")")
    #expect(try room.leaks(besides: ["a.txt"]) == [])
  }

  @Test("are in no column of the reject file that nothing takes, nor in messages about columns")
  func unknownColumns() throws {
    let room = try MaskRoom()
    let end = try room.room.run(
      "number,E-Mail,age\n1,ada@secret.example,old\n2,grace@secret.example,3\n", into: "Client", mode: .insert,
      rules: MaskRoom.rules)
    #expect(end.tally == "1i 0u 0= 1r 0?")
    #expect(room.room.rejects()?.contains(",1,****,old\n") == true)
    #expect(end.notes.contains("ignored column(s) that Client doesn't have: ****"))
    #expect(try room.leaks(besides: ["a.csv"]) == [])
    let headerless = try room.room.failure(
      "1,ada@secret.example\n", as: "b.csv", into: "Client", job: "2", rules: MaskRoom.rules)
    let message = try #require(headerless.map { "\($0)" })
    #expect(!message.contains("secret"), "\(message)")
  }

  @Test("find objects and references by their masks: a second file changes nothing")
  func keys() throws {
    let room = try MaskRoom()
    let text = "number,email,sponsor\n2,grace@secret.example,ada@secret.example\n1,ada@secret.example,\n"
    #expect(try run(room, text, batch: 1).tally == "2i 0u 0= 0r 0?")
    #expect(try run(room, text, job: "2").tally == "0i 0u 2= 0r 0?")
    #expect(try room.room.rows("number", "sponsor.email", of: "Client") == ["1|", "2|\(Self.ada)"])
    #expect(try room.leaks(besides: ["a.csv"]) == [])
  }

  @Test(
    "stay masked in what is kept between two runs: deferred records, pending references, checkpoints",
    arguments: [1, 2])
  func interrupted(stopAfter: Int) throws {
    let room = try MaskRoom()
    var rules = MaskRoom.rules
    rules["sponsor"]?.unresolved = .reject
    let text =
      "number,email,sponsor,age\n1,ada@secret.example,lost@secret.example,36\n2,grace@secret.example,ada@secret.example,40\n"
      + "3,lost@secret.example,,x\n"
    let first = try run(room, text, batch: 1, rules: rules, stopAfter: stopAfter)
    #expect(!first.isFinished)
    #expect(try room.room.count(of: ImportModel.asideEntity) > 0)
    #expect(try room.leaks(besides: ["a.csv"]) == [])
    try room.room.reopen()
    let end = try run(room, text, batch: 1, rules: rules)
    #expect(end.counts.rejected == 3, "\(end)")
    #expect(try room.leaks(besides: ["a.csv"]) == [])
    let rejects = try #require(room.room.rejects())
    #expect(rejects.contains("ladehmac\(Self.ada)"))
  }

  @Test("inside nested objects are masked as the model says, to any depth", arguments: [1, 100])
  func nested(batch: Int) throws {
    let room = try MaskRoom(model: MaskModel.make(["name": "redact"]))
    let text = """
      [{"number":1,"email":"ada@secret.example","cards":[{"pan":"491701234567","label":"a"},{"pan":491709876543}]},
       {"number":2,"sponsor":{"name":"Hopper","nick":"Amazing","email":"grace@secret.example"},"cards":[{"pan":"491701234567","label":7}],"age":"x"}]
      """
    var rules = MaskRoom.rules
    for name in ["name", "sponsor"] { rules[name] = nil }
    let end = try run(room, text, as: "a.json", batch: batch, rules: rules)
    #expect(end.tally == "1i 0u 0= 1r 0?", "\(room.room.rejects() ?? "")")
    #expect(try room.room.rows("pan", "label", of: "Card") == ["****4567|a", "****6543|"])
    let rejects = try #require(room.room.rejects())
    for text in ["Hopper", "Amazing", "grace@secret.example", "491701234567", "491709876543"] {
      #expect(!rejects.contains(text))
    }
    #expect(rejects.contains(#""name":"****""#) && rejects.contains("****4567"))
  }

  @Test("on a path are masked also in an array, which no path leads through, and what stands beside them is covered")
  func array() throws {
    let room = try MaskRoom()
    var rules = MaskRoom.rules
    rules["phone"]?.column = "contact.phone"
    let text = #"""
      {"number":1,"email":"1@secret.example","contact":[{"phone":"491701234567"},{"phone":"491709876543","fax":"4930123"}],"age":"x"}
      {"number":2,"email":"2@secret.example","contact":{"phone":"491701234567","fax":"4930123"},"age":"x"}
      {"number":3,"email":"3@secret.example","contact":{"phone":"491701234567","fax":"4930123"}}
      """#
    let end = try run(room, text, as: "a.ndjson", rules: rules)
    #expect(end.tally == "1i 0u 0= 2r 0?", "\(room.room.rejects() ?? "")")
    let rejects = try #require(room.room.rejects())
    for text in ["491701234567", "491709876543", "4930123", "@secret"] {
      #expect(!rejects.contains(text), "\(rejects)")
    }
  }

  @Test("that were masked by another key are rejected, and a text that only looks sealed is masked")
  func otherKey() throws {
    let room = try MaskRoom()
    _ = try run(room, "number,email,age\n2,grace@secret.example,x\n")
    let rejects = try #require(room.room.rejects()).replacingOccurrences(of: ",x\n", with: ",3\n")
    try room.change(key: "another key that is long enough")
    let end = try run(room, rejects, as: "b.csv", job: "2")
    #expect(end.tally == "0i 0u 0= 1r 0?")
    #expect(room.room.refusals("2").first?.hasSuffix(",email,masked_otherwise") == true, "\(room.room.refusals("2"))")
    let forged = "ladehmac" + String(repeating: "a", count: 64) + "0123456789abcde"
    #expect(try run(room, "number,email\n3,\(forged)\n", as: "c.csv", job: "3").tally == "1i 0u 0= 0r 0?")
    #expect(
      try room.room.rows("email", of: "Client") == [MaskRoom.code(forged, key: "another key that is long enough")])
  }

  @Test("cost nothing where nothing is masked: the same bytes are rejected as before")
  func unused() throws {
    let room = try ImportRoom(.sqlite)
    #expect(try room.run("code,name,age\na,\"A\",x\n").tally == "0i 0u 0= 1r 0?")
    #expect(room.rejects()?.hasSuffix(",a,\"A\",x\n") == true)
    let person = try #require(room.coordinator.model.entitiesByName["Person"])
    let keys = MaskKeys(MaskCredentials(folder: nil))
    let mapping = try RecordMapping(person, columns: ["code"], options: MappingOptions(), mayNest: true, keys: keys)
    #expect(mapping.masking == nil)
  }

  @Test("need a key: the import fails with a remedy, and has written nothing")
  func noCredential() throws {
    let room = try MaskRoom()
    room.room.credentials = MaskCredentials(folder: nil)
    let none = try room.room.failure("number,email\n1,a\n", into: "Client", rules: MaskRoom.rules)
    #expect(none as? MaskingError == .noCredentials(name: "pii"))
    #expect("\(try #require(none))".contains("LoadCredential=pii:/path/of/the/file"))
    room.room.credentials = MaskCredentials(folder: room.room.file("nowhere").path)
    guard
      case .unreadableCredential(name: "pii", _, let reason)? = try room.room.failure(
        "number,email\n1,a\n", into: "Client", rules: MaskRoom.rules) as? MaskingError
    else {
      Issue.record("it can't be read")
      return
    }
    #expect(reason == "there is no such file" || reason == "No such file or directory")
    let short = try MaskRoom(key: "short")
    #expect(
      try short.room.failure("number,email\n1,a\n", into: "Client", rules: MaskRoom.rules) as? MaskingError
        == .shortCredential(name: "pii", bytes: 5, least: 16))
  }
}
