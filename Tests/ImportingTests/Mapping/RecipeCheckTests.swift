import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Problems of a recipe")
struct RecipeCheckTests {
  private func problems(_ rules: [String: PropertyRule], of entity: String = "Person") throws -> [String] {
    let mapping = MappingOptions { $0.properties = rules }
    let entity = try #require(StaffModel.model.get().entitiesByName[entity])
    do throws(MappingError) {
      try mapping.check(against: entity)
      return []
    } catch {
      guard case .badRules(_, let problems) = error else { return ["\(error)"] }
      return problems
    }
  }

  @Test(
    "rules of a relationship that can't be followed are named: separators for one key, and rules for nested objects")
  func relationships() throws {
    #expect(
      try problems([
        "boss": PropertyRule { $0.separator = ";" }, "staff": PropertyRule { $0.separator = "" },
        "country.name": PropertyRule { $0.trims = true },
      ]) == [
        "boss's separator has no effect, because boss leads to one Person: leave it out",
        "country.name: a recipe speaks of Person's own properties, and not of those of objects inside its records: say in "
          + "the model how they are read, in the user info of Country's properties (mappedKeyName, dateFormat)",
        "staff's separator is empty: name the text between two keys",
      ])
  }

  @Test("all problems are named at once, with their properties")
  func all() throws {
    let problems = try problems([
      "nmae": PropertyRule { $0.column = "x" },
      "age": PropertyRule { $0.constant = "old" },
      "grade": PropertyRule { $0.defaultValue = "40000000000" },
      "born": PropertyRule { $0.timeZone = "Europe/Berln" },
      "email": PropertyRule {
        $0.constant = "a"
        $0.column = "b"
        $0.key = "code"
      },
      "nick": PropertyRule { $0.dateFormat = "yyyy" },
      "name": PropertyRule { $0.separator = ";" },
      "staff": PropertyRule { $0.constant = "a" },
      "boss": PropertyRule { $0.key = "mail" },
      "country": PropertyRule { $0.timeZone = "UTC" },
    ])
    #expect(
      problems == [
        "age's constant “old” isn't a whole number; expected Integer 16 (-32768 to 32767)",
        "born's time_zone “Europe/Berln” isn't known; did you mean Europe/Berlin?",
        "Person.boss: the recipe's key names mail, which isn't an attribute of Person",
        "country: code's time_zone has no effect, because code is String: leave it out",
        "email has both a constant and a column: leave one out",
        "email's key has no effect, because email isn't a relationship: leave it out",
        "grade's default “40000000000” is out of range for Integer 32 (-2147483648 to 2147483647)",
        "name's separator has no effect, because name is String: leave it out",
        "nick's date_format has no effect, because nick is String: leave it out",
        "Person has no property nmae; did you mean name?",
        "staff: staff's constant “a” is for attributes and to-one relationships, and staff is to-many: leave it out",
      ])
  }

  @Test("a recipe that can be used isn't refused")
  func none() throws {
    #expect(try problems([:]) == [])
    #expect(
      try problems([
        "born": PropertyRule { $0.timeZone = "Europe/Berlin" }, "country": PropertyRule { $0.column = "land" },
        "age": PropertyRule { $0.constant = " 7 " },
      ]) == [])
  }

  @Test("what nothing can be imported into is named")
  func uselessProperties() throws {
    var place = AttributeDefinition("place", .composite)
    place.compositeElements = [AttributeDefinition("city", .string), AttributeDefinition("zip", .string)]
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        "A",
        attributes: [
          AttributeDefinition("x", .string), AttributeDefinition("t", .string, isTransient: true),
          AttributeDefinition("d", .string, derivationExpression: "canonical:(x)"), place,
        ])
    ])
    let entity = try #require(model.entitiesByName["A"])
    let mapping = MappingOptions {
      for name in ["t", "d", "place"] { $0.properties[name] = PropertyRule { $0.trims = true } }
    }
    let error = #expect(throws: MappingError.self) { try mapping.check(against: entity) }
    let text = "\(try #require(error))"
    #expect(text.contains("t is transient") && text.contains("d is derived"))
    #expect(text.contains("place is made of others: say it of place.city, place.zip"))
  }

  @Test("a job with such a recipe fails before its first record", arguments: ["a.csv", "a.ndjson"])
  func job(name: String) throws {
    let room = try ImportRoom(.memory)
    let text = name == "a.csv" ? "code,name\na,A\n" : "{\"code\":\"a\",\"name\":\"A\"}"
    let error = try room.failure(text, as: name, rules: ["age": PropertyRule { $0.constant = "x" }])
    guard case MappingError.badRules("Person", _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try room.count(of: "Person") == 0)
  }
}

@Suite("Columns that a recipe doesn't want")
struct UnknownColumnTests {
  @Test("a member without a name is noted, and refused with other unknown columns")
  func unnamedMember() throws {
    let room = try ImportRoom(.memory)
    let text = #"[{"code":"a","":1}]"#
    #expect(try room.run(text, as: "a.json").notes == ["ignored column(s) that Person doesn't have: “”"])
    let refusing = MappingOptions { $0.schema.columns = .freeze }
    #expect(
      "\(try #require(try room.failure(text, as: "a.json", job: "2", mapping: refusing)))".contains("column(s) “”"))
  }

  @Test("ignored columns are neither taken nor noted", arguments: ["a.csv", "a.ndjson"])
  func ignored(name: String) throws {
    let room = try ImportRoom(.memory)
    let mapping = MappingOptions { $0.ignoredColumns = ["email", "x", "country_code", "not there"] }
    let text =
      name == "a.csv"
      ? "code,name,email,x,y,country_code\na,A,a@x,1,2,DE\n"
      : "{\"code\":\"a\",\"name\":\"A\",\"email\":\"a@x\",\"x\":1,\"y\":2,\"country_code\":\"DE\"}"
    let end = try room.run(text, as: name, mapping: mapping)
    #expect(end.tally == "1i 0u 0= 0r 0?")
    #expect(end.notes == ["ignored column(s) that Person doesn't have: y"])
    #expect(try room.rows("code", "email") == ["a|"])
  }

  @Test("unknown columns are refused with what was probably meant", arguments: StoreKind.allCases)
  func refuse(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = MappingOptions {
      $0.schema.columns = .freeze
      $0.ignoredColumns = ["x"]
    }
    let error = try room.failure("code,nmae,x,agee,zzz\na,A,1,2,3\n", mapping: mapping)
    #expect(
      error as? MappingError
        == .newColumns(
          entity: "Person",
          columns: [
            .init(name: "nmae", nearest: "name"), .init(name: "agee", nearest: "age"), .init(name: "zzz", nearest: nil),
          ]))
    #expect(
      "\(try #require(error))".contains("nmae (is it name?), agee (is it age?), zzz, and the recipe's schema freezes"))
    #expect(try room.count(of: "Person") == 0)
    #expect(try room.run("code,name,x\na,A,1\n", as: "b.csv", job: "2", mapping: mapping).tally == "1i 0u 0= 0r 0?")
  }

  @Test("an unknown key of JSON is refused at the first batch that has it", arguments: StoreKind.allCases)
  func refuseLater(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = MappingOptions { $0.schema.columns = .freeze }
    let text = "{\"code\":\"a\",\"name\":\"A\"}\n{\"code\":\"b\",\"name\":\"B\",\"nane\":1}"
    let error = try room.failure(text, as: "a.ndjson", batch: 1, mapping: mapping)
    #expect(
      error as? MappingError
        == .newColumns(entity: "Person", columns: [.init(name: "nane", nearest: nil)]))
    #expect(try room.rows("code") == ["a"])
  }
}
