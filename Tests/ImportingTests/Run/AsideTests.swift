import ManagedObjects
import Testing

@testable import Importing

@Suite("Records that need an object which comes later")
struct AsideTests {
  static let batches = [1, 2, 3, 100]

  private static let rejecting: PropertyRule = {
    var rule = PropertyRule()
    rule.unresolved = .reject
    return rule
  }()

  @Test(
    "are applied when it has come, in whatever batch, and rejected when it hasn't", arguments: StoreKind.allCases,
    batches)
  func required(kind: StoreKind, batch: Int) throws {
    for mode in [ImportMode.upsert, .insert] {
      let room = try ImportRoom(kind)
      let text = "id,root\n3,2\n2,1\n9,3\n1,1\n5,4\n6,7\n7,6\n8,3\n"
      let end = try room.run(text, into: "Node", mode: mode, batch: batch)
      #expect(end.tally == "5i 0u 0= 3r 0?")
      #expect(try room.rows("id", "root.id", of: "Node") == ["1|1", "2|1", "3|2", "8|3", "9|3"])
      #expect(room.refusals() == ["6,root,no_such_object", "7,root,no_such_object", "8,root,no_such_object"])
      #expect(
        room.rejects()?.contains("6,root,no_such_object,there is no Node with id “4”, which root needs,5,4") == true
          || room.rejects()?.contains("there is no Node with id “4”, which root needs\",5,4") == true)
      #expect(try room.count(of: ImportModel.asideEntity) == 0)
    }
  }

  @Test(
    "may have columns that alone nothing takes, where the recipe refuses unknown ones", arguments: StoreKind.allCases)
  func unknownColumns(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = #"{"id":1,"root":2,"a":"x"}"# + "\n" + #"{"id":2,"root":2}"# + "\n"
    let reader = ReaderOptions(columns: ["id", "root", "a", "b"])
    let mapping = MappingOptions { $0.schema.columns = .freeze }
    let end = try room.run(text, as: "a.ndjson", into: "Node", reader: reader, batch: 1, mapping: mapping)
    #expect(end.tally == "2i 0u 0= 0r 0?")
    #expect(try room.rows("id", "root.id", of: "Node") == ["1|2", "2|2"])
  }

  @Test("are rejected by the recipe where the model would leave them empty", arguments: StoreKind.allCases, batches)
  func byRecipe(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"], people: ["b", "old"])
    let rules = ["boss": Self.rejecting, "country": Self.rejecting]
    let text =
      "code,name,age,country_code,boss\na,Ann,1,DE,c\nb,Bob,2,DE,zz\nc,Cleo,3,,old\nd,Dan,4,FR,\ne,Eve,5,DE,a\nold,Old,6,,\n"
    let end = try room.run(text, batch: batch, rules: rules)
    #expect(end.tally == "3i 1u 0= 2r 0?")
    #expect(
      try room.rows("code", "name", "age", "boss.code")
        == ["a|Ann|1|c", "b|b||", "c|Cleo|3|old", "e|Eve|5|a", "old|Old|6|"])
    #expect(Set(room.refusals()) == ["3,boss,no_such_object", "5,country,no_such_object"])
    #expect(try room.run(text, batch: batch, job: "2", rules: rules).tally == "0i 0u 4= 2r 0?")
  }

  @Test("of several keys need all of them", arguments: StoreKind.allCases, batches)
  func toMany(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("name\nAcme\n", into: "Maker", job: "0")
    var parts = Self.rejecting
    parts.separator = ";"
    let text = "sku,maker,parts\na,Acme,b;c\nb,Acme,a2\nc,Acme,c\na2,Acme,\nd,Acme,a;x\n"
    let end = try room.run(text, into: "Product", batch: batch, rules: ["parts": parts])
    #expect(end.tally == "4i 0u 0= 1r 0?")
    #expect(try room.sets("sku", "parts.sku") == ["a2|", "a|b,c", "b|a2", "c|c"])
    #expect(room.refusals() == ["6,parts,no_such_object"])
  }

  @Test("give way to a later record of the same object", arguments: StoreKind.allCases, batches)
  func overtaken(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "id,root,alias\n1,9,first\n2,2,two\n1,2,second\n9,9,nine\n"
    let end = try room.run(text, into: "Node", batch: batch)
    #expect(end.tally == "3i 0u 0= 1r 0?")
    #expect(try room.rows("id", "root.id", "alias", of: "Node") == ["1|2|second", "2|2|two", "9|9|nine"])
    #expect(room.refusals() == ["2,,no_such_object"])
  }

  @Test("that say little of their object leave the rest of it alone", arguments: StoreKind.allCases, batches)
  func partial(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = """
      {"code":"a","name":"Ann","age":4}
      {"code":"a","boss":"z"}
      {"email":"b@x","name":"Bob","boss":"y"}
      {"code":"z","name":"Zoe"}
      """
    let end = try room.run(text, as: "a.ndjson", batch: batch, rules: ["boss": Self.rejecting])
    #expect(end.tally == "2i 1u 0= 1r 0?")
    #expect(try room.rows("code", "name", "age", "boss.code") == ["a|Ann|4|z", "z|Zoe||"])
    #expect(room.rejects()?.contains("\"line\":3,\"column\":\"boss\",\"code\":\"no_such_object\"") == true)
    #expect(room.rejects()?.contains(#""email":"b@x","name":"Bob","boss":"y""#) == true)
  }

  @Test("count for the limit of rejects at the end", arguments: StoreKind.allCases)
  func limit(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "id,root\n1,1\n" + (2..<8).map { "\($0),x\n".replacing("x", with: "\($0 + 100)") }.joined()
    guard case MappingError.tooManyRejects(let count, 2, _)? = try room.failure(text, into: "Node", batch: 2, limit: 2)
    else { throw Missing() }
    #expect(count > 2)
    #expect(try room.rows("id", of: "Node") == ["1"])
  }

  @Test("are forgotten with a job that was given up", arguments: StoreKind.allCases)
  func forgotten(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("id,root\n1,2\n3,4\n2,2\n", into: "Node", batch: 1, stopAfter: 2)
    #expect(try room.count(of: ImportModel.asideEntity) == 2)
    try ImportCheckpoint.remove("1", in: room.context())
    #expect(try room.count(of: ImportModel.asideEntity) == 0)
  }

  @Test("can't be left empty by a rule where the model needs an object")
  func contradictions() throws {
    let room = try ImportRoom(.memory)
    var rule = PropertyRule()
    rule.unresolved = .leave
    #expect(
      "\(try #require(try room.failure("id,root\n1,1\n", into: "Node", rules: ["root": rule])))".contains("Node.root"))
    rule.unresolved = .reject
    rule.creates = true
    #expect(
      "\(try #require(try room.failure("code,name,country_code\n", rules: ["country": rule])))".contains("both"))
  }

  @Test("are applied or rejected once, whichever write fails", arguments: StoreKind.allCases, [2, 4])
  func killed(kind: StoreKind, batch: Int) throws {
    let text =
      "code,name,boss\n" + (0..<9).map { "p\($0),P\($0),p\(($0 + 3) % 11)\n" }.joined()
      + "p9,P9,\np2,again,\np10,x,zz\n"
    try Killing.everyWrite(kind) { room in
      try room.run(text, batch: batch, rules: ["boss": Self.rejecting])
    } traces: { room, end in
      try room.rows("code", "name", "boss.code") + [end.tally, room.rejects() ?? ""]
        + ["\(room.count(of: ImportModel.asideEntity))"]
    }
  }

  struct Missing: Error {}
}
