import ManagedObjects
import Testing

@testable import Importing

@Suite("Nested objects")
struct NestedTests {
  static let batches = [1, 2, 100]

  @Test(
    "become objects of the relationship's entity, found by their key or new", arguments: StoreKind.allCases, batches)
  func objects(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(countries: ["DE"])
    try room.run("name,since\nAcme,1900\n", into: "Maker", job: "0")
    let text = """
      {"sku":"a","maker":{"name":"Acme","since":1901,"seat":{"street":"Main \\"1\\"","postcode":123,"country":"DE"}},
       "tags":[{"word":"red","rank":1},{"word":"new"}],"chapters":[{"code":"2"},{"code":"1","heading":"One"}]},
      {"sku":"b","maker":{"name":"Bolt"},"brand":"Acme","tags":[{"word":"red"},"new"],"chapters":null},
      {"sku":"c","maker":"Bolt","tags":[{"word":"blue"}]}
      """
    let json = "[\(text)]"
    let end = try room.run(json, as: "a.json", into: "Product", batch: batch)
    #expect(end.tally == "3i 0u 0= 0r 0?")
    #expect(
      try room.sets("sku", "maker.name", "brand.name", "tags.word", "chapters.code")
        == ["a|Acme||new,red|2,1", "b|Bolt|Acme|new,red|", "c|Bolt||blue|"])
    #expect(
      try room.rows("name", "since", "seat.street", "seat.zip", "seat.country.code", of: "Maker")
        == ["Acme|1901|Main \"1\"|123|DE", "Bolt||||"])
    #expect(try room.rows("word", "rank", of: "Tag") == ["blue|", "new|", "red|1"])
    #expect(
      end.notes == [
        "created 2 Chapter on the way, for chapters", "created 1 Maker on the way, for maker",
        "created 1 Place on the way, for seat", "created 3 Tag on the way, for tags",
      ])
    let saves = Saves(of: room.coordinator)
    let again = try room.run(json, as: "a.json", into: "Product", batch: batch, job: "2")
    #expect(again.tally == "0i 0u 3= 0r 0?")
    #expect(again.notes == [])
    for entity in ["Product", "Maker", "Place", "Tag", "Chapter"] { #expect(saves.count(of: entity) == 0) }
  }

  @Test(
    "change what they are about, and the record that has them counts as changed", arguments: StoreKind.allCases, batches
  )
  func changes(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    func line(_ sku: String, _ street: String, _ tags: String) -> String {
      #"{"sku":"\#(sku)","maker":{"name":"M\#(sku)","seat":{"street":"\#(street)"}},"tags":[\#(tags)]}"# + "\n"
    }
    let red = #"{"word":"red"}"#
    try room.run(line("a", "One", red) + line("b", "One", red), as: "a.ndjson", into: "Product", batch: batch)
    let end = try room.run(
      line("a", "Two", red) + line("b", "One", #"{"word":"red","rank":2},{"word":"blue"}"#), as: "b.ndjson",
      into: "Product", batch: batch, job: "2")
    #expect(end.tally == "0i 2u 0= 0r 0?")
    #expect(try room.rows("name", "seat.street", of: "Maker") == ["Ma|Two", "Mb|One"])
    #expect(try room.count(of: "Place") == 2)
    #expect(try room.sets("sku", "tags.word") == ["a|red", "b|blue,red"])
  }

  @Test("that the model refuses reject the whole record, with the path", arguments: StoreKind.allCases, batches)
  func refused(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let text = """
      {"sku":"a","maker":{"name":"Acme","seat":{"city":"Graz"}}}
      {"sku":"b","maker":{"name":"Acme","since":"x"}}
      {"sku":"c","maker":{"name":"Bad 1"}}
      {"sku":"d","maker":[{"name":"Acme"}]}
      {"sku":"e","maker":{"name":"Acme","seat":"Graz"}}
      {"sku":"f","maker":{"name":"Acme"},"chapters":[{"heading":"far too long a heading"}]}
      {"sku":"g","maker":{"name":"Acme","seat":{"street":"One","country":"XX"}}}
      """
    let end = try room.run(text, as: "a.ndjson", into: "Product", batch: batch)
    #expect(end.tally == "0i 0u 0= 7r 0?")
    for entity in ["Product", "Maker", "Place", "Chapter"] { #expect(try room.count(of: entity) == 0) }
    let rejects = try #require(room.rejects())
    for place in [
      "maker.seat.street", "maker.since", "maker.name", "maker.seat", "chapters.heading", "maker.seat.country",
    ] {
      #expect(rejects.contains("\"\(place)\""), "\(place)")
    }
  }

  @Test("may be composites and Codable values", arguments: StoreKind.allCases, batches)
  func attributes(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.run("name\nAcme\n", into: "Maker", job: "0")
    let text = """
      {"sku":"a","maker":"Acme","size":{"width":1,"height":2},"notes":["x","y"]}
      {"sku":"b","maker":"Acme","size":{"width":101}}
      {"sku":"c","maker":"Acme","size":5}
      {"sku":"a","size":{"height":3}}
      """
    let end = try room.run(text, as: "a.ndjson", into: "Product", batch: batch)
    #expect(end.tally == "1i 1u 0= 2r 0?")
    #expect(try room.rows("sku", "size.width", of: "Product").count == 1)
    let context = room.context()
    let product = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Product")).first)
    #expect(product.value(forKey: "size") == .composite(["height": .int(3)]))
    #expect(try product.transformable(forKey: "notes") == ["x", "y"])
    try room.run("sku,maker,size.width\nz,Acme,7\n", into: "Product", job: "2")
    #expect(try room.count(of: "Product") == 2)
  }

  @Test("are made once, whichever write fails", arguments: StoreKind.allCases)
  func killed(kind: StoreKind) throws {
    let text = (0..<7).map { number in
      #"{"sku":"p\#(number)","maker":{"name":"M","seat":{"street":"S\#(number % 2)"}},"#
        + #""parts":[{"sku":"p\#((number + 2) % 8)","maker":"M"}],"tags":[{"word":"t\#(number % 3)"}]}"# + "\n"
    }.joined()
    try Killing.everyWrite(kind) { room in
      try room.run("name\nM\n", into: "Maker", job: "0")
    } run: { room in
      try room.run(text, as: "a.ndjson", into: "Product", batch: 2)
    } traces: { room, end in
      try room.sets("sku", "parts.sku", "tags.word") + [end.tally, CountText.text(end.counts.created)]
        + room.rows("street", of: "Place")
    }
  }
}
