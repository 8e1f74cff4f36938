import ManagedObjects
import Testing

@testable import Importing

@Suite("To-many relationships by key")
struct ToManyTests {
  static let batches = [1, 2, 100]

  private static func separated(_ separator: String = ";", creates: Bool = false) -> PropertyRule {
    var rule = PropertyRule()
    rule.separator = separator
    rule.creates = creates
    return rule
  }

  private func furnish(_ room: ImportRoom) throws {
    try room.run("name\nAcme\n", into: "Maker", job: "f1")
    try room.run("word\nred\nblue\ngreen\n", as: "t.csv", into: "Tag", job: "f2")
    try room.run("code\nc1\nc2\nc3\n", as: "c.csv", into: "Chapter", job: "f3")
  }

  @Test("take the keys of a text, split by the recipe's separator", arguments: StoreKind.allCases, batches)
  func texts(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    let rules = ["tags": Self.separated(), "chapters": Self.separated(" > ")]
    let text = "sku,maker,tags,chapters\na,Acme,red;blue,c2 > c1\nb,Acme,,\nc,Acme,blue;; red;blue,c3\n"
    #expect(try room.run(text, into: "Product", batch: batch, rules: rules).tally == "3i 0u 0= 0r 0?")
    #expect(try room.sets("sku", "tags.word", "chapters.code") == ["a|blue,red|c2,c1", "b||", "c|blue,red|c3"])
    #expect(try room.sets("word", "products.sku", of: "Tag") == ["blue|a,c", "green|", "red|a,c"])
    let saves = Saves(of: room.coordinator)
    #expect(try room.run(text, into: "Product", batch: batch, job: "2", rules: rules).tally == "0i 0u 3= 0r 0?")
    #expect(saves.count(of: "Product") + saves.count(of: "Tag") + saves.count(of: "Chapter") == 0)
    let less = "sku,maker,tags,chapters\na,Acme,green;blue,c1 > c2\nb,Acme,,c3\nc,Acme,red;blue,\n"
    #expect(
      try room.run(less, as: "l.csv", into: "Product", batch: batch, job: "3", rules: rules).tally == "0i 2u 1= 0r 0?")
    #expect(try room.sets("sku", "tags.word", "chapters.code") == ["a|blue,green|c1,c2", "b||c3", "c|blue,red|"])
  }

  @Test("take keys with braces in them for keys", arguments: StoreKind.allCases, batches)
  func braces(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    var rule = PropertyRule()
    rule.creates = true
    let text = #"{"sku":"a","maker":"Acme","tags":["x{y","q\\\"{","red"]}"# + "\n"
    #expect(
      try room.run(text, as: "a.ndjson", into: "Product", batch: batch, rules: ["tags": rule]).tally == "1i 0u 0= 0r 0?"
    )
    #expect(try room.sets("sku", "tags.word") == [#"a|q\"{,red,x{y"#])
  }

  @Test("are columns like any other that nothing takes, unless the recipe says how", arguments: StoreKind.allCases)
  func untold(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    let end = try room.run("sku,maker,tags\na,Acme,red\n", into: "Product")
    #expect(end.notes == ["ignored column(s) that Product doesn't have: tags"])
    #expect(try room.sets("sku", "tags.word") == ["a|"])
  }

  @Test("take the keys of an array, and a single one", arguments: StoreKind.allCases, batches)
  func arrays(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    let text = """
      {"sku":"a","maker":"Acme","tags":["red",null,"bl\\u0075e"],"chapters":["c3","c1"]}
      {"sku":"b","maker":"Acme","tags":"red","chapters":[]}
      {"sku":"c","maker":"Acme","tags":[["red"]]}
      {"sku":"a","tags":null}
      {"sku":"b","title":"B"}
      """
    #expect(try room.run(text, as: "a.ndjson", into: "Product", batch: batch).tally == "2i 2u 0= 1r 0?")
    #expect(try room.sets("sku", "tags.word", "chapters.code") == ["a||c3,c1", "b|red|"])
    #expect(room.rejects()?.contains("\"code\":\"wrong_kind\"") == true)
  }

  @Test("lead to rows of the file itself, before, after and the same", arguments: StoreKind.allCases, batches)
  func own(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    let rules = ["parts": Self.separated()]
    let text = "sku,maker,parts\na,Acme,b;a;d\nb,Acme,a\nc,Acme,zz;a;yy\nd,Acme,\n"
    let end = try room.run(text, into: "Product", batch: batch, rules: rules)
    #expect(end.tally == "4i 0u 0= 0r 2?")
    #expect(end.notes == ["2 reference(s) of parts lead nowhere and were left empty, such as “zz”, “yy”"])
    #expect(try room.sets("sku", "parts.sku", "wholes.sku") == ["a|a,b,d|a,b,c", "b|a|a", "c|a|", "d||a"])
    #expect(try room.run(text, into: "Product", batch: batch, job: "2", rules: rules).tally == "0i 0u 4= 0r 2?")
    let more = "sku,maker,parts\na,Acme,e\nc,Acme,a\ne,Acme,a\na,Acme,b\n"
    #expect(
      try room.run(more, as: "m.csv", into: "Product", batch: batch, job: "3", rules: rules).tally == "1i 2u 1= 0r 0?")
    #expect(try room.sets("sku", "parts.sku") == ["a|b", "b|a", "c|a", "d|", "e|a"])
  }

  @Test("create objects for keys that no object has, if the recipe says so", arguments: StoreKind.allCases, batches)
  func creates(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    let rules = ["tags": Self.separated(creates: true)]
    let text = "sku,maker,tags\na,Acme,new;red\nb,Acme,new;newer\nc,None,newest\n"
    let end = try room.run(text, into: "Product", batch: batch, rules: rules)
    #expect(end.tally == "2i 0u 0= 1r 0?")
    #expect(end.notes == ["created 2 Tag on the way, for tags"])
    #expect(try room.sets("sku", "tags.word") == ["a|new,red", "b|new,newer"])
    #expect(try room.count(of: "Tag") == 5)
  }

  @Test("of which a main context has read the other end are kept there", arguments: StoreKind.allCases)
  func merged(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try furnish(room)
    let watching = room.context()
    let red = try #require(
      try watching.fetch(FetchRequest<ManagedObject>(entityName: "Tag", predicate: .equal("word", .string("red"))))
        .first)
    #expect(red.value(forKey: "products") == .objects([]))
    let merging = Merging(room, watching)
    try room.run("sku,maker,tags\na,Acme,red\n", into: "Product", rules: ["tags": Self.separated()])
    merging.mergeAll()
    #expect(red.value(forKey: "products")?.objectIDs?.count == 1)
    try room.run(
      "sku,maker,tags\na,Acme,blue\n", as: "b.csv", into: "Product", job: "2", rules: ["tags": Self.separated()])
    merging.mergeAll()
    #expect(red.value(forKey: "products") == .objects([]))
  }

  @Test("are set once, whichever write fails", arguments: StoreKind.allCases)
  func killed(kind: StoreKind) throws {
    let text =
      "sku,maker,parts,tags\n"
      + (0..<9).map { "p\($0),Acme,p\(($0 + 4) % 9);p\(($0 * 2) % 9);x,t\($0 % 3);red\n" }.joined()
    let rules = ["parts": Self.separated(), "tags": Self.separated(creates: true)]
    try Killing.everyWrite(kind) { room in
      try furnish(room)
    } run: { room in
      try room.run(text, into: "Product", batch: 2, rules: rules)
    } traces: { room, end in
      try room.sets("sku", "parts.sku", "tags.word") + [end.tally, CountText.text(end.counts.created)]
    }
  }
}

/// Gathers what a coordinator's contexts save, for a context of the test's own thread.
private final class Merging {
  private let saves: Saves
  private let context: ManagedObjectContext

  init(_ room: ImportRoom, _ context: ManagedObjectContext) {
    saves = Saves(of: room.coordinator)
    self.context = context
  }

  func mergeAll() { for save in saves.all { context.mergeChanges(fromContextDidSave: save) } }
}

extension ImportRoom {
  /// Every object of an entity as a line: attributes, and what a to-many relationship's objects have in one attribute, in
  /// its order if it has one.
  func sets(_ paths: String..., of entity: String = "Product") throws -> [String] {
    let context = context()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map { object in
      paths.map { path in
        let keys = path.split(separator: ".").map(String.init)
        let value = object.value(forKey: keys[0]) ?? .null
        guard value.isSet, keys.count > 1 else {
          guard case .object(let id) = value, keys.count > 1 else { return value.plainText }
          return context.object(with: id).value(forKey: keys[1])?.plainText ?? "?"
        }
        let texts = value.relatedIDs.map { context.object(with: $0).value(forKey: keys[1])?.plainText ?? "?" }
        if case .orderedObjects = value { return texts.joined(separator: ",") }
        return texts.sorted().joined(separator: ",")
      }.joined(separator: "|")
    }.sorted()
  }
}
