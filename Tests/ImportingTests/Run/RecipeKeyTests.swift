import ManagedObjects
import Testing

@testable import Importing

@Suite("A key that the recipe says and the model doesn't")
struct RecipeKeyTests {
  private static let key = MappingOptions { $0.key = ["street", "zip"] }

  @Test("finds the objects that records update", arguments: StoreKind.allCases, [1, 2, 100])
  func upserts(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    let first = try room.run(
      "street,city,postcode\nA,X,1\nB,Y,2\nA,Z,1\n", into: "Place", batch: batch, job: "1", mapping: Self.key)
    #expect(first.tally == "2i 1u 0= 0r 0?")
    let second = try room.run(
      "street,city,postcode\nA,Z,1\nB,W,2\nA,Q,3\n", as: "b.csv", into: "Place", batch: batch, job: "2",
      mapping: Self.key)
    #expect(second.tally == "1i 1u 1= 0r 0?")
    #expect(try room.rows("street", "zip", "city", of: "Place") == ["A|1|Z", "A|3|Q", "B|2|W"])
    #expect(
      second.notes == [
        "no index of Place begins with street or zip, so each batch reads the whole table: add a fetch index to the model"
      ])
  }

  @Test(
    "finds nothing where a part is null, and nothing to update where there is no object", arguments: StoreKind.allCases)
  func missing(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "street,city,postcode\nA,X,\nB,Y,2\n"
    #expect(try room.run(text, into: "Place", job: "1", mapping: Self.key).tally == "2i 0u 0= 0r 0?")
    #expect(try room.run(text, into: "Place", job: "2", mapping: Self.key).tally == "1i 0u 1= 0r 0?")
    let update = try room.run(
      "street,city,postcode\nA,X,\nB,Z,2\nC,Z,3\n", as: "b.csv", into: "Place", mode: .update, job: "3",
      mapping: Self.key)
    #expect(update.tally == "0i 1u 0= 2r 0?")
    let rejects = try #require(room.rejects("3"))
    #expect(rejects.contains("no_key") && rejects.contains("no_such_object"))
    #expect(try room.rows("street", "zip", "city", of: "Place") == ["A||X", "A||X", "B|2|Z"])
  }

  @Test(
    "rejects a record that several objects have the key of, and deletes none of them", arguments: StoreKind.allCases)
  func ambiguous(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("street,city,postcode\nA,X,1\nA,Y,1\nB,Z,2\nC,Z,3\n", into: "Place", mode: .insert, job: "1")
    for (mode, job) in [(ImportMode.upsert, "2"), (.synchronise, "3"), (.replace, "4")] {
      let end = try room.run(
        "street,city,postcode\nA,Q,1\nB,\(job),2\n", as: "\(job).csv", into: "Place", mode: mode, job: job,
        mapping: Self.key)
      #expect(end.tally == "0i 1u 0= 1r 0?")
      #expect(try #require(room.rejects(job)).contains("ambiguous_key"))
      #expect(end.counts.deleted == (mode == .synchronise ? 1 : 0))
    }
    #expect(try room.rows("street", "zip", "city", of: "Place") == ["A|1|X", "A|1|Y", "B|2|4"])
  }

  @Test("is refused if it leads to far more objects than there are keys", arguments: StoreKind.allCases)
  func unselective(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let text = "street,city,postcode\n" + (0..<30).map { "S\($0),\($0 % 3 == 0 ? "X" : "Y"),\($0)\n" }.joined()
    try room.run(text, into: "Place", mode: .insert, job: "1")
    let context = room.context()
    let entity = try #require(context.model.entitiesByName["Place"])
    let city = try #require(entity.attributesByName["city"])
    func find(_ cities: [String], surplus: Int?) throws -> Int {
      let keys = Set(cities.map { UniqueKey([.string($0)]) })
      let existing = try ExistingObjects(
        entity, [.init(attributes: [city], columns: [])], keys: [0: keys], surplus: surplus, in: context)
      return keys.reduce(0) { $0 + existing.objects($1, 0).count }
    }
    #expect(try find(["X", "Z"], surplus: 8) == 10)
    #expect(try find(["X", "Y"], surplus: nil) == 30)
    let expected = MappingError.unselectiveKey(entity: "Place", key: ["city"], keys: 2)
    #expect(throws: expected) { try find(["X", "Z"], surplus: 7) }
    #expect(throws: expected) { try find(["X", "Y"], surplus: 8) }
    #expect("\(expected)".contains("at least 100003 Place"))
  }

  @Test("goes before the model's constraints, which are held all the same", arguments: StoreKind.allCases, [1, 100])
  func beforeConstraints(kind: StoreKind, batch: Int) throws {
    let room = try ImportRoom(kind)
    try room.furnish(people: ["a", "b"])
    let end = try room.run(
      "name,code,age\na,q,5\nb,q,6\nz,y,7\n", batch: batch, mapping: MappingOptions { $0.key = ["name"] })
    #expect(end.tally == "1i 1u 0= 1r 0?")
    #expect(room.refusals() == ["3,code,duplicate_key"])
    #expect(try room.rows("name", "code", "age") == ["a|q|5", "b|b|", "z|y|7"])
  }

  @Test("that the model has as its only one changes nothing", arguments: StoreKind.allCases)
  func asModelled(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = MappingOptions { $0.key = ["number", "row"] }
    try room.run("row,number,price\n1,1,1\n1,2,2\n", into: "Seat", job: "1", mapping: mapping)
    let end = try room.run("row,number,price\n1,1,3\n1,2,2\n", as: "b.csv", into: "Seat", job: "2", mapping: mapping)
    #expect(end.tally == "0i 1u 1= 0r 0?")
    #expect(end.notes.isEmpty)
  }

  @Test("needs its columns", arguments: StoreKind.allCases)
  func columns(kind: StoreKind) throws {
    let failure = try ImportRoom(kind).failure("street,city\nA,X\n", into: "Place", mapping: Self.key)
    guard case MappingError.noKey(entity: "Place", constraints: [["street", "zip"]], _, _)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test(
    "leaves what one run leaves, at whichever write it is killed", arguments: StoreKind.allCases,
    [
      ImportMode.upsert, .synchronise, .replace,
    ])
  func killed(kind: StoreKind, mode: ImportMode) throws {
    try Killing.everyWrite(
      kind,
      furnish: { try $0.run("street,city,postcode\nA,X,1\nB,Y,2\nC,Z,3\n", as: "0.csv", into: "Place", job: "0") },
      run: { room in
        try room.run(
          "street,city,postcode\nB,new,2\nD,new,4\nA,X,1\nE,new,x\nF,new,\nG,new,7\n", into: "Place", mode: mode,
          batch: 2, mapping: MappingOptions { $0.key = ["street"] })
      },
      traces: { room, end in
        [try room.rows("street", "zip", "city", of: "Place"), [end.tally, room.rejects() ?? ""]]
      })
  }

  @Test("is refused when it can't be one, with the reason")
  func refused() throws {
    let model = try StaffModel.model.get()
    func problems(_ key: [String], of entity: String, _ mode: ImportMode? = nil) throws -> [String] {
      var options = ImportOptions(mode: mode)
      options.mapping.key = key
      let entity = try #require(model.entitiesByName[entity])
      do throws(MappingError) {
        try options.check(against: entity)
        return []
      } catch {
        guard case .badRules(_, let problems) = error else { return ["\(error)"] }
        return problems
      }
    }
    #expect(try problems(["street", "zip"], of: "Place").isEmpty)
    #expect(
      try problems(["stret", "country", "zip", "zip"], of: "Place") == [
        "Place has no property stret; did you mean street?",
        "key names country, which is a relationship: objects are identified by attributes", "key names zip twice",
      ])
    #expect(try problems(["data"], of: "Everything") == ["key names data, which is Binary: nothing is found by that"])
    #expect(
      try problems(["street"], of: "Place", .insert) == [
        "key has no effect in mode insert, which looks for no object: leave it out, or use mode upsert"
      ])
    #expect(try problems([], of: "Place", .update).first?.contains("as the recipe's key") == true)
    let person = try #require(model.entitiesByName["Person"])
    #expect(throws: MappingError.self) { try MappingOptions { $0.key = ["code"] }.check(ofFeed: [person]) }
  }
}
