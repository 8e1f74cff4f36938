import ManagedObjects
import Testing

@testable import Importing

@Suite("Mapping columns onto properties")
struct ColumnMappingTests {
  private func mapping(_ entity: String, _ columns: [String]) throws -> RecordMapping {
    let model = try StaffModel.model.get()
    return try RecordMapping(try #require(model.entitiesByName[entity]), columns: columns)
  }

  @Test("an attribute takes the column of its name, or that of its mappedKeyName in place of it")
  func names() throws {
    let room = try ImportRoom(.memory)
    let end = try room.run("birthday,name,born,code\n31.01.1990,Ann,02.02.2002,a\n")
    #expect(try room.rows("code", "name", "born") == ["a|Ann|1990-01-31 00:00:00"])
    #expect(end.notes == ["ignored column(s) that Person doesn't have: born"])
  }

  @Test("a column that differs from an attribute in case or spaces only is pointed out")
  func spellings() throws {
    let room = try ImportRoom(.memory)
    let end = try room.run("code,name, Age ,colour\na,Ann,3,red\n")
    #expect(
      end.notes == [
        "ignored column(s) that Person doesn't have:  Age , colour. Names are compared letter by letter: “ Age ” isn't age"
      ])
    let nothing = try room.failure("CODE,NAME\na,Ann\n", as: "b.csv", job: "2")
    #expect("\(try #require(nothing))".hasSuffix("letter by letter: “CODE” isn't code, “NAME” isn't name"))
    let seats = try room.failure("Row,number,price\n1,2,3\n", as: "c.csv", into: "Seat", mode: .upsert, job: "3")
    #expect("\(try #require(seats))".hasSuffix("letter by letter: “Row” isn't row"))
  }

  @Test("a column without a name is ignored, with a note that says which", arguments: StoreKind.allCases)
  func unnamed(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let end = try room.run(
      ",code,name,\n0,a,Ann,\n1,b,Bob,x\n", mapping: MappingOptions { $0.schema.columns = .freeze })
    #expect(end.tally == "2i 0u 0= 0r 0?")
    #expect(try room.rows("code", "name") == ["a|Ann", "b|Bob"])
    #expect(end.notes == ["column 1, 4 has no name in the header line and was ignored"])
    let excel = try room.run("sep=;\ncode;name\na;Anna\nb;Bob, Jr.;x\n", as: "b.csv", job: "2")
    #expect(excel.tally == "0i 1u 0= 1r 0?")
    #expect(try room.rows("name") == ["Anna", "Bob"])
  }

  @Test("a relationship takes the column of its mappedKeyName, or of its name")
  func relationships() throws {
    let mapping = try mapping("Person", ["code", "country_code", "country", "boss"])
    #expect(mapping.references.map(\.relationship.name) == ["country", "boss"])
    #expect(mapping.references.map(\.column) == [1, 3])
    #expect(mapping.references.map(\.key.name) == ["code", "code"])
    #expect(mapping.ignored == ["country"])
  }

  @Test("a recipe's column and key go before the model's", arguments: StoreKind.allCases, [1, 100])
  func recipe(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a"])
    var boss = PropertyRule()
    boss.column = "chief"
    boss.key = "email"
    var parent = PropertyRule()
    parent.column = "within"
    let text = "code,name,email,chief,boss\na,a,a@x,c@x,c\nb,Bob,b@x,a@x,c\nc,Cleo,c@x,zz,c\n"
    let end = try room.run(text, batch: batch, rules: ["boss": boss])
    #expect(end.tally == "2i 1u 0= 0r 1?")
    #expect(try room.rows("code", "boss.code") == ["a|c", "b|a", "c|"])
    #expect(end.notes.contains("ignored column(s) that Person doesn't have: boss"))
    try room.run(
      "code,within,land,part\nDE,,x,y\nDE-BY,DE,x,y\n", as: "b.csv", into: "Country", batch: batch, job: "2",
      rules: ["parent": parent])
    #expect(try room.rows("code", "parent.code", of: "Country") == ["DE-BY|DE", "DE|"])
    boss.key = "mail"
    let failure = try room.failure(text, as: "a.csv", job: "3", rules: ["boss": boss])
    #expect(
      "\(try #require(failure))".contains("Person.boss: the recipe's key names mail, which isn't an attribute of"))
  }

  @Test("a relationship with a template takes its columns, when all of them are there")
  func templates() throws {
    #expect(try mapping("Country", ["code", "land", "part"]).references.map(\.relationship.name) == ["parent"])
    #expect(try mapping("Country", ["code", "land", "part"]).ignored == [])
    #expect(try mapping("Country", ["code", "land"]).references.isEmpty)
    #expect(try mapping("Country", ["code", "land"]).ignored == ["land"])
  }

  @Test("of thousands of columns that nothing takes, some are noted")
  func manyUnknownColumns() throws {
    let room = try ImportRoom(.memory)
    let names = (1...3_000).map { "a column with a long name, number \($0)" }
    let header = names.map { "\"\($0)\"" }.joined(separator: ",")
    let end = try room.run("code,name,\(header)\na,Ann\(String(repeating: ",", count: 3_000))\n")
    let note = try #require(end.notes.first { $0.hasPrefix("ignored column(s)") })
    #expect(note.hasSuffix("number 12, …") && note.utf8.count < 2_000, "\(note.prefix(3_000))")
  }

  @Test("columns that nothing takes are ignored and noted", arguments: StoreKind.allCases)
  func unknownColumns(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let end = try room.run("x,code,name,staff,y\n1,a,Ann,b,2\n")
    #expect(end.tally == "1i 0u 0= 0r 0?")
    #expect(end.notes == ["ignored column(s) that Person doesn't have: x, staff, y"])
    let json = try room.run(
      "{\"code\":\"b\",\"name\":\"B\",\"x\":{\"deep\":[1]}}\n{\"code\":\"c\",\"name\":\"C\",\"z\":1}", as: "b.ndjson",
      batch: 1, job: "2")
    #expect(json.tally == "2i 0u 0= 0r 0?")
    #expect(json.notes == ["ignored column(s) that Person doesn't have: x, z"])
  }

  @Test("a source of which nothing can be taken is refused with both lists", arguments: ["a.csv", "a.ndjson"])
  func nothing(name: String) throws {
    let room = try ImportRoom(.memory)
    let error = try room.failure(name == "a.csv" ? "x,y\n1,2\n" : "{\"x\":1,\"y\":2}", as: name)
    let expected = ["code", "name", "email", "age", "nick", "birthday", "grade", "country_code"]
    #expect(
      error as? MappingError == .nothingToMap(entity: "Person", columns: ["x", "y"], expected: expected + ["boss"]))
    let text = "\(try #require(error))"
    #expect(text.contains("x, y") && text.contains("code, name, email"))
    #expect(try room.count(of: "Person") == 0)
  }

  @Test("an upsert without the columns of a key is refused with the keys", arguments: ["a.csv", "a.ndjson"])
  func noKey(name: String) throws {
    let room = try ImportRoom(.memory)
    let text = name == "a.csv" ? "row,price\n1,2\n" : "{\"row\":1,\"price\":2}"
    #expect(
      try room.failure(text, as: name, into: "Seat") as? MappingError
        == .noKey(entity: "Seat", constraints: [["row", "number"]], columns: ["row", "price"]))
    #expect(try room.run(text, as: name, into: "Seat", mode: .insert).counts.inserted == 1)
    #expect(
      try room.failure("day\n20240101\n", as: "b.csv", into: "Visit", mode: .upsert, job: "2") as? MappingError
        == .noKey(entity: "Visit", constraints: [], columns: ["day"]))
    #expect(
      try room.failure("{\"day\":20240101}", as: "b.ndjson", into: "Visit", mode: .upsert, job: "3") as? MappingError
        == .noKey(entity: "Visit", constraints: [], columns: []))
  }

  @Test("an entity that isn't there, is abstract, or keeps the imports themselves is refused")
  func entities() throws {
    let room = try ImportRoom(.memory)
    #expect(try room.failure("name\nx\n", into: "Thing") as? MappingError == .abstractEntity("Thing"))
    for name in ["Nobody", ImportModel.checkpointEntity, ImportModel.referenceEntity] {
      guard case MappingError.unknownEntity(name, let known)? = try room.failure("job\nx\n", into: name) else {
        Issue.record("not refused: \(name)")
        continue
      }
      #expect(known.contains("Person") && !known.contains { $0.hasPrefix("lade_") })
    }
  }

  @Test("a relationship whose objects can't be found by the model is refused")
  func relatedBy() throws {
    func failure(_ info: [String: String], keys: [[String]] = []) throws -> String {
      let model = try ManagedObjectModel(entities: [
        EntityDefinition(
          "A", attributes: [AttributeDefinition("code", .string)],
          relationships: [RelationshipDefinition("b", to: "B", userInfo: info)]),
        EntityDefinition(
          "B", attributes: [AttributeDefinition("x", .string), AttributeDefinition("y", .transformable)],
          uniquenessConstraints: keys),
      ])
      do {
        _ = try RecordMapping(try #require(model.entitiesByName["A"]), columns: ["code", "b"])
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(
      try failure([:]).contains(
        "A.b: the source has its key, but neither the recipe nor the model says by which attribute"))
    #expect(
      try failure(["relatedByAttribute": "z"]).contains("relatedByAttribute names z, which isn't an attribute of B"))
    #expect(try failure(["relatedByAttribute": "y"]).contains("y is of type Transformable"))
    #expect(try failure(["mappedKeyTemplate": "{b"]).contains("brace"))
    #expect(try failure(["relatedByAttribute": "x"]) == "")
    #expect(try failure([:], keys: [["x"]]) == "")
  }

  @Test("an attribute of a type that text can't say is refused when the source has it, and not before")
  func unsupported() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition("A", attributes: [AttributeDefinition("x", .string), AttributeDefinition("y", .transformable)])
    ])
    let entity = try #require(model.entitiesByName["A"])
    #expect(try RecordMapping(entity, columns: ["x"]).attributes.count == 1)
    let error = #expect(throws: MappingError.self) { try RecordMapping(entity, columns: ["x", "y"]) }
    #expect("\(try #require(error))".contains("y is of type Transformable"))
  }

  @Test("transient and derived attributes take nothing")
  func computed() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "A",
        attributes: [
          AttributeDefinition("x", .string), AttributeDefinition("t", .string, isTransient: true),
          AttributeDefinition("d", .string, derivationExpression: "canonical:(x)"),
        ])
    ])
    #expect(
      try RecordMapping(try #require(model.entitiesByName["A"]), columns: ["x", "t", "d"]).ignored == ["t", "d"])
  }
}
