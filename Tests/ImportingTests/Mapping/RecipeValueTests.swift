import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Values as a recipe says")
struct RecipeValueTests {
  @Test(
    "a recipe's column goes before the model's, and one column may fill several attributes",
    arguments: StoreKind.allCases)
  func columns(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let rules: [String: PropertyRule] = [
      "code": PropertyRule { $0.column = "id" }, "name": PropertyRule { $0.column = "id" },
      "born": PropertyRule {
        $0.column = "name"
        $0.dateFormat = "yyyyMMdd"
      },
    ]
    let end = try room.run("id,name,birthday\na,20240229,x\n", rules: rules)
    #expect(end.tally == "1i 0u 0= 0r 0?")
    #expect(try room.rows("code", "name", "born") == ["a|a|2024-02-29 00:00:00"])
    #expect(end.notes == ["ignored column(s) that Person doesn't have: birthday"])
  }

  @Test("nulls and trimming hold for every column that doesn't say its own", arguments: StoreKind.allCases)
  func nullsAndTrims(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = MappingOptions {
      $0.nulls = ["NA", "n/a"]
      $0.trims = true
      $0.properties["email"] = PropertyRule {
        $0.nulls = ["none"]
        $0.trims = false
      }
    }
    try room.run("code,name,email,age\n a ,\" NA a\",NA,NA\nb,B,none, n/a\n,C, c@x,3\n", mapping: mapping)
    #expect(try room.rows("code", "name", "email", "age") == ["a|NA a|NA|", "b|B||", "|C| c@x|3"])
    try room.run(
      "{\"code\":\" d \",\"name\":\"D\",\"age\":\"NA\"}", as: "b.ndjson", job: "2", mapping: mapping)
    #expect(try room.rows("code", "age").contains("d|"))
  }

  @Test("a null in a required attribute rejects its record, a null token as well", arguments: StoreKind.allCases)
  func nullTokens(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = MappingOptions { $0.nulls = ["NA"] }
    #expect(try room.run("code,name,grade\na,NA,1\nb,B,NA\n", mapping: mapping).tally == "1i 0u 0= 1r 0?")
    #expect(room.refusals() == ["2,name,missing_value"])
    // As the model's default has it.
    #expect(try room.rows("code", "grade") == ["b|7"])
  }

  @Test("a constant is every object's, of old ones too, and may be part of the key", arguments: StoreKind.allCases)
  func constants(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("row,number,price\n1,1,1\n2,1,2\n", into: "Seat")
    let rules = ["row": PropertyRule { $0.constant = "1" }]
    let end = try room.run("number,price\n1,9\n2,8\n", as: "b.csv", into: "Seat", job: "2", rules: rules)
    #expect(end.tally == "1i 1u 0= 0r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["1|1|9", "1|2|8", "2|1|2"])
    let priced = [
      "price": PropertyRule {
        $0.constant = "1.234,5"
        $0.decimalSeparator = ","
        $0.groupingSeparator = "."
      }
    ]
    let json = "{\"row\":1,\"number\":1}\n{\"row\":3,\"number\":3,\"price\":1}"
    let again = try room.run(json, as: "c.ndjson", into: "Seat", job: "3", rules: priced)
    #expect(again.tally == "1i 1u 0= 0r 0?")
    #expect(
      try room.rows("row", "number", "price", of: "Seat") == ["1|1|1234.5", "1|2|8", "2|1|2", "3|3|1234.5"])
    #expect(again.notes == ["ignored column(s) that Seat doesn't have: price"])
  }

  @Test(
    "a default is for a null, and for what a new object's record lacks; what an update lacks stays",
    arguments: StoreKind.allCases, [1, 100])
  func defaults(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("code,name,email,grade\na,Ann,a@x,1\nb,Bob,b@x,2\n")
    let rules = [
      "email": PropertyRule { $0.defaultValue = "no mail" }, "grade": PropertyRule { $0.defaultValue = "5" },
    ]
    let text = """
      {"code":"a","name":"Ann"}
      {"code":"b","name":"Bob","grade":null}
      {"code":"c","name":"Cleo","grade":""}
      {"code":"d","name":"Dan","email":"d@x","grade":9}
      """
    let end = try room.run(text, as: "b.ndjson", batch: batch, job: "2", rules: rules)
    #expect(end.tally == "2i 1u 1= 0r 0?")
    #expect(
      try room.rows("code", "email", "grade") == ["a|a@x|1", "b|b@x|5", "c|no mail|5", "d|d@x|9"])
    // CSV: every record has the column or none has.
    let csv = try room.run(
      "code,name,grade\na,Ann,\ne,Eve,\n", as: "c.csv", mode: .upsert, job: "3",
      rules: ["grade": PropertyRule { $0.defaultValue = "5" }])
    #expect(csv.tally == "1i 1u 0= 0r 0?")
    #expect(try room.rows("code", "grade").suffix(1) == ["e|5"])
  }

  @Test("a default for a part of the key finds objects too", arguments: StoreKind.allCases)
  func defaultKey(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let rules = ["row": PropertyRule { $0.defaultValue = "0" }]
    try room.run("row,number,price\n,1,1\n2,1,2\n", into: "Seat", rules: rules)
    let end = try room.run(
      "{\"number\":1,\"price\":5}\n{\"row\":2,\"number\":1,\"price\":2}", as: "b.ndjson", into: "Seat", job: "2",
      rules: rules)
    #expect(end.tally == "0i 1u 1= 0r 0?")
    #expect(try room.rows("row", "number", "price", of: "Seat") == ["0|1|5", "2|1|2"])
  }

  @Test("values, words, dates and numbers of a file are read as the recipe says", arguments: StoreKind.allCases)
  func formats(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let rules: [String: PropertyRule] = [
      "small": PropertyRule {
        $0.values = ["low": "1", "high": "3"]
        $0.refusesOtherValues = true
      },
      "exact": PropertyRule {
        $0.decimalSeparator = ","
        $0.groupingSeparator = "."
      },
      "flag": PropertyRule {
        $0.trueWords = ["ja"]
        $0.falseWords = ["nein"]
      },
      "day": PropertyRule {
        $0.dateFormat = "dd.MM.yyyy HH:mm"
        $0.timeZone = "Europe/Berlin"
      },
    ]
    let key = "0F8FAD5B-D9CB-469F-A165-7086772895"
    let text = """
      key;small;exact;flag;day
      \(key)01;high;1.234,5;Ja;15.07.2024 12:00
      \(key)02;;;nein;
      \(key)03;3;;;
      \(key)04;;1.234.;;
      \(key)05;;;yes;
      \(key)06;;;;2024-07-15
      """
    let end = try room.run(text, into: "Everything", rules: rules)
    #expect(end.tally == "2i 0u 0= 4r 0?")
    #expect(
      try room.rows("small", "exact", "flag", "day", of: "Everything")
        == ["3|1234.5|true|2024-07-15 10:00:00", "||false|"])
    #expect(
      room.rejects()?.split(separator: "\n").dropFirst().map {
        $0.split(separator: ";").prefix(3).joined(separator: ";")
      }
        == ["4;small;unknown_value", "5;exact;not_a_number", "6;flag;not_a_boolean", "7;day;not_a_date"])
    #expect(room.rejects()?.contains("small: “3” isn't one of the values that the recipe knows: high, low") == true)
  }

  @Test("a relationship's key is trimmed, null and mapped as the recipe says", arguments: StoreKind.allCases)
  func keys(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"])
    let rules = [
      "country": PropertyRule {
        $0.column = "land"
        $0.trims = true
        $0.nulls = ["-"]
        $0.values = ["Deutschland": "DE"]
      }
    ]
    let text = "code,name,land\na,A, Deutschland\nb,B,-\nc,C,FR \n"
    #expect(try room.run(text, rules: rules).tally == "3i 0u 0= 0r 0?")
    #expect(try room.rows("code", "country.code") == ["a|DE", "b|", "c|FR"])
  }

  @Test("a relationship may have the same key for every record", arguments: StoreKind.allCases, [1, 100])
  func constantKey(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"], people: ["b"])
    let rules = ["country": PropertyRule { $0.constant = "FR" }]
    let end = try room.run("code,name,country_code\na,A,DE\nb,b,\n", batch: batch, rules: rules)
    #expect(end.tally == "1i 1u 0= 0r 0?")
    #expect(end.notes == ["ignored column(s) that Person doesn't have: country_code"])
    #expect(try room.rows("code", "country.code") == ["a|FR", "b|FR"])
    let error = try room.failure("x\n1\n", as: "b.csv", mode: .insert, job: "2", rules: rules)
    guard case MappingError.nothingToMap? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(
    "a default of a relationship is for a null, and for what a new object's record lacks",
    arguments: StoreKind.allCases, [ImportMode.insert, .upsert])
  func defaultKey(kind: StoreKind, mode: ImportMode) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE", "FR"])
    let rules = [
      "country": PropertyRule {
        $0.defaultValue = "DE"
        $0.nulls = ["-"]
      }
    ]
    let csv = try room.run("code,name,country_code\na,A,FR\nb,B,\nc,C,-\n", mode: mode, rules: rules)
    #expect(csv.tally == "3i 0u 0= 0r 0?")
    #expect(try room.rows("code", "country.code") == ["a|FR", "b|DE", "c|DE"])
    #expect(try room.run("code,name\nd,D\n", as: "b.csv", mode: mode, job: "2", rules: rules).counts.inserted == 1)
    #expect(try room.rows("code", "country.code").suffix(1) == ["d|DE"])
    guard mode == .upsert else { return }
    let json =
      "{\"code\":\"a\",\"name\":\"Ann\"}\n{\"code\":\"e\",\"name\":\"E\"}\n{\"code\":\"d\",\"country_code\":null,\"name\":\"D\"}"
    #expect(try room.run(json, as: "c.ndjson", job: "3", rules: rules).tally == "1i 1u 1= 0r 0?")
    #expect(try room.rows("code", "country.code") == ["a|FR", "b|DE", "c|DE", "d|DE", "e|DE"])
  }

  @Test("a transformable array takes the strings of a text and of JSON", arguments: StoreKind.allCases)
  func lists(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let rules = [
      "tags": PropertyRule {
        $0.separator = ";"
        $0.trims = true
        $0.nulls = ["-", "none"]
        $0.values = ["r": "red"]
      }
    ]
    let key = "0f8fad5b-d9cb-469f-a165-70867728950"
    let text = "key,tags\n\(key)1,a; b ;;c\n\(key)2,none\n\(key)3,\n\(key)4,r;-;é\n"
    #expect(try room.run(text, into: "Everything", rules: rules).tally == "4i 0u 0= 0r 0?")
    let json = """
      {"key":"\(key)1","tags":["a","b","c"]}
      {"key":"\(key)5","tags":[]}
      {"key":"\(key)6","tags":[" r ","x;y"]}
      {"key":"\(key)7","tags":[1]}
      {"key":"\(key)8","tags":7}
      {"key":"\(key)2","tags":"q"}
      """
    let end = try room.run(json, as: "b.ndjson", into: "Everything", job: "2", rules: rules)
    #expect(end.tally == "2i 1u 1= 2r 0?")
    #expect(
      room.rejects("2")?.contains("Transformable of strings with “;” between them, or an array of strings") == true)
    let context = room.context()
    let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Everything")).map { object in
      let tags: [String]? = try object.transformable(forKey: "tags")
      return "\(object.value(forKey: "key")?.plainText.suffix(1) ?? "") \(tags?.joined(separator: "|") ?? "nil")"
    }
    #expect(found.sorted() == ["1 a|b|c", "2 q", "3 nil", "4 red|é", "5 ", "6 red|x;y"])
  }

  @Test("what stands inside an object follows the recipe too", arguments: StoreKind.allCases)
  func nested(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let rules = [
      "nick": PropertyRule {
        $0.column = "a.nick"
        $0.trims = true
        $0.nulls = ["-"]
        $0.defaultValue = "none"
      },
      "country": PropertyRule { $0.defaultValue = "DE" },
    ]
    try room.furnish(countries: ["DE"])
    let text = """
      {"code":"a","name":"A","a":{"nick":" bob "}}
      {"code":"b","name":"B","a":{"nick":"-"}}
      {"code":"c","name":"C","country_code":{"code":"FR"}}
      """
    #expect(try room.run(text, as: "a.ndjson", rules: rules).counts.rejected == 0)
    #expect(try room.rows("code", "nick", "country.code") == ["a|bob|DE", "b|none|DE", "c|none|FR"])
    let key = "0f8fad5b-d9cb-469f-a165-708677289501"
    let tags = [
      "tags": PropertyRule {
        $0.column = "a.tags"
        $0.separator = ";"
      }
    ]
    try room.run(
      "{\"key\":\"\(key)\",\"a\":{\"tags\":[\"x\",\"y\"]}}", as: "b.ndjson", into: "Everything", job: "2", rules: tags)
    #expect(try room.rows("tags", of: "Everything").count == 1)
    let context = room.context()
    let object = try context.fetch(FetchRequest<ManagedObject>(entityName: "Everything")).first
    #expect(try object?.transformable(forKey: "tags") == ["x", "y"])
  }

  @Test("a rule for an attribute of a Codable type may name its column, and the value is as it stands")
  func codable() throws {
    let room = try ImportRoom(.memory)
    let rules = ["tags": PropertyRule { $0.column = "labels" }]
    let text = "{\"key\":\"0f8fad5b-d9cb-469f-a165-708677289501\",\"labels\":[\"x\"]}"
    try room.run(text, as: "a.ndjson", into: "Everything", rules: rules)
    let context = room.context()
    let object = try context.fetch(FetchRequest<ManagedObject>(entityName: "Everything")).first
    #expect(try object?.transformable(forKey: "tags") == ["x"])
    let bad = try room.failure(
      text, as: "b.ndjson", into: "Everything", job: "2", rules: ["tags": PropertyRule { $0.constant = "x" }])
    guard case MappingError.badRules? = bad else {
      Issue.record("\(String(describing: bad))")
      return
    }
  }

  @Test("columns that the recipe names and the file doesn't have are noted")
  func absentColumns() throws {
    let room = try ImportRoom(.memory)
    let rules = ["email": PropertyRule { $0.column = "mail" }, "age": PropertyRule { $0.column = "years" }]
    let end = try room.run("code,name,years\na,A,1\n", rules: rules)
    #expect(end.notes == ["the file has no column(s) mail, which the recipe names"])
  }
}
