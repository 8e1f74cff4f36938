import ManagedObjects
import Testing

@testable import Importing

@Suite("Objects made on the way")
struct CreationTests {
  static let batches = [1, 2, 100]

  private static let creating: PropertyRule = {
    var rule = PropertyRule()
    rule.creates = true
    return rule
  }()

  @Test("are one for each key that neither store nor file has, and counted", arguments: StoreKind.allCases, batches)
  func creates(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("name\nAcme\n", into: "Maker", job: "0")
    let text = "sku,maker,brand\na,Acme,Bolt\nb,Bolt,Cog\nc,Cog,Bolt\nd,,Dot\ne,Eve1,\n"
    let rules = ["maker": Self.creating, "brand": Self.creating]
    let end = try room.run(text, into: "Product", batch: batch, rules: rules)
    // d has no maker, which it must have, so that no Dot is made either; and the model doesn't like Eve1.
    #expect(end.tally == "3i 0u 0= 2r 0?")
    #expect(room.refusals() == ["5,maker,missing_value", "6,maker,no_match"])
    #expect(
      try room.rows("sku", "maker.name", "brand.name", of: "Product") == ["a|Acme|Bolt", "b|Bolt|Cog", "c|Cog|Bolt"])
    #expect(try room.rows("name", of: "Maker") == ["Acme", "Bolt", "Cog"])
    #expect(end.notes == ["created 2 Maker on the way, for brand"])
    let again = try room.run(text, into: "Product", batch: batch, job: "2", rules: rules)
    #expect(again.tally == "0i 0u 3= 2r 0?")
    #expect(again.notes == [])
  }

  @Test("wait for the end of the file where a later row may be the one", arguments: StoreKind.allCases, batches)
  func ownEntity(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = "code,within,name\na,b,A\nc,x,C\nb,x,B\nd,y,D\n"
    var rule = Self.creating
    rule.column = "within"
    let end = try room.run(text, into: "Country", batch: batch, rules: ["parent": rule])
    #expect(end.tally == "4i 0u 0= 0r 0?")
    #expect(
      try room.rows("code", "name", "parent.code", of: "Country")
        == ["a|A|b", "b|B|x", "c|C|x", "d|D|y", "x||", "y||"])
    #expect(end.notes == ["created 2 Country on the way, for parent"])
    #expect(
      try room.run(text, into: "Country", batch: batch, job: "2", rules: ["parent": rule]).tally == "0i 0u 4= 0r 0?")
  }

  @Test("that another writer creates first are taken as they are", arguments: StoreKind.allCases)
  func raced(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    room.intrude { context in try context.insert("Maker").setValue(.string("Acme"), forKey: "name") }
    let end = try room.run("sku,maker\na,Acme\nb,Acme\n", into: "Product", rules: ["maker": Self.creating])
    #expect(end.tally == "2i 0u 0= 0r 0?")
    #expect(try room.count(of: "Maker") == 1)
    #expect(end.notes == [])
  }

  @Test("that would lack what the model asks for are refused before the first record")
  func refused() throws {
    let room = try ImportRoom(.memory)
    let failure = try room.failure("{\"id\":1}", as: "a.ndjson", into: "Badge", rules: ["owner": Self.creating])
    #expect(
      "\(try #require(failure))"
        == "Badge.owner: Person can't be created on the way by code alone, since it must have name: make that optional, "
        + "give it a default, or leave creates out")
    #expect(try room.failure("id,root\n1,1\n", into: "Node", rules: ["root": Self.creating]) is MappingError)
    #expect(try room.count(of: "Badge") == 0)
  }

  @Test("are made and counted once, whichever write fails", arguments: StoreKind.allCases)
  func killed(kind: StoreKind) throws {
    let text = "code,within,name\na,b,A\nc,x,C\nb,x,B\nd,y,D\ne,z,E\n"
    var rule = Self.creating
    rule.column = "within"
    let people = "code,name,country_code\n" + (0..<12).map { "p\($0),P,c\($0 % 5)\n" }.joined()
    try Killing.everyWrite(kind) { room in
      try room.run(text, into: "Country", batch: 2, rules: ["parent": rule])
    } traces: { room, end in
      try [room.rows("code", "name", "parent.code", of: "Country").joined(separator: ";"), end.tally]
        + [CountText.text(end.counts.created)]
    }
    try Killing.everyWrite(kind) { room in
      try room.run(people, batch: 3, rules: ["country": Self.creating])
    } traces: { room, end in
      try [room.rows("code", "country.code").joined(separator: ";"), end.tally, CountText.text(end.counts.created)]
    }
  }
}
