import ManagedObjects
import Testing

@testable import Importing

@Suite("Finding what references point to")
struct ReferenceResolverTests {
  @Test("finds every key that the store has, however few it remembers", arguments: StoreKind.allCases, [0, 1, 3, 100])
  func remembersFew(kind: StoreKind, remembered: Int) throws {
    let room = try ImportRoom(kind)
    let codes = (0..<20).map { "c\($0)" }
    try room.furnish(countries: codes)
    let context = room.context()
    let country = try #require(context.model.entitiesByName["Person"]?.relationshipsByName["country"])
    let code = try #require(country.destinationEntity.attributesByName["code"])
    let resolver = ReferenceResolver(context: context, cacheSize: remembered)
    var lot = Lot(seed: 11)
    for _ in 0..<50 {
      let keys = Set((0..<5).map { _ in Value.string("c\(lot.draw(25))") })
      let found = try resolver.find(country, by: ReferenceKey(code), keys: keys)
      #expect(Set(found.keys) == keys.filter { codes.contains($0.plainText) })
      for (key, id) in found { #expect(try context.existingObject(with: id).value(forKey: "code") == key) }
    }
  }

  @Test("finds long keys, which it doesn't remember, beside short ones", arguments: StoreKind.allCases)
  func longKeys(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let long = String(repeating: "k", count: 60_000)
    try room.furnish(countries: ["a", "b", long + "1", long + "2"])
    let context = room.context()
    let country = try #require(context.model.entitiesByName["Person"]?.relationshipsByName["country"])
    let code = try #require(country.destinationEntity.attributesByName["code"])
    let resolver = ReferenceResolver(context: context)
    let codes = KeyCodes()
    let batches: [(keys: [String?], areAllThere: Bool)] = [
      (["a", long + "1", nil, long + "2", long + "1"], true), (["b", long + "1", "a", nil], true),
      (["a", long + "3"], false), ([long + "2", "c"], false), ([long + "2", "b"], true),
    ]
    for batch in batches {
      codes.begin(references: 1, rows: batch.keys.count)
      let keys = batch.keys.map { $0.map(Value.string) ?? .null }
      let numbers = keys.map { codes.code($0, 0) }
      for (key, number) in zip(batch.keys, numbers) {
        #expect((number == KeyCodes.unnumbered) == ((key?.utf8.count ?? 0) > 1_000))
      }
      let coded = CodedKeys(keys: keys[...], codes: numbers[...], generation: codes.generation)
      var found: [Int: ManagedObjectID] = [:]
      let missing = try resolver.findEach(country, by: ReferenceKey(code), of: coded) { found[$0] = $1 }
      #expect(missing.isEmpty == batch.areAllThere)
      #expect(Set(found.keys).union(missing) == Set(keys.indices.filter { !keys[$0].isNull }))
      #expect(missing.allSatisfy { found[$0] == nil })
      for (place, id) in found { #expect(try context.existingObject(with: id).value(forKey: "code") == keys[place]) }
    }
  }

  @Test("finds many keys by reading all objects once, and those that were added since", arguments: StoreKind.allCases)
  func manyKeys(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let codes = (0..<45_000).map { "c\($0)" }
    try room.furnish(countries: codes)
    let context = room.context()
    let country = try #require(context.model.entitiesByName["Person"]?.relationshipsByName["country"])
    let code = try #require(country.destinationEntity.attributesByName["code"])
    let resolver = ReferenceResolver(context: context)
    let numbers = KeyCodes()
    func find(_ texts: [String]) throws -> [Int: ManagedObjectID]? {
      numbers.begin(references: 1, rows: texts.count)
      let keys = texts.map(Value.string)
      let coded = CodedKeys(
        keys: keys[...], codes: keys.map { numbers.code($0, 0) }[...], generation: numbers.generation)
      var found: [Int: ManagedObjectID] = [:]
      return try resolver.findEach(country, by: ReferenceKey(code), of: coded) { found[$0] = $1 }.isEmpty ? found : nil
    }
    var lot = Lot(seed: 5)
    for _ in 0..<8 {
      let some = (0..<10_000).map { _ in codes[lot.draw(codes.count)] }
      let found = try #require(try find(some))
      #expect(found.count == some.count)
      for place in [0, 17, 9_999] {
        let object = try context.existingObject(with: try #require(found[place]))
        #expect(object.value(forKey: "code") == .string(some[place]))
      }
    }
    try room.furnish(countries: ["later"])
    #expect(try find([codes[3], "later"])?.count == 2)
    #expect(try find([codes[3], "unknown"]) == nil)
  }

  @Test("takes the first of several objects with a key", arguments: StoreKind.allCases)
  func severalObjects(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    try room.run("day,note\n20240101,a\n20240101,b\n20240101,c\n", into: "Visit", job: "1")
    try room.run("day,note,previous\n20240102,d,20240101\n", as: "b.csv", into: "Visit", job: "2")
    #expect(try room.rows("note", "previous.note", of: "Visit") == ["a|", "b|", "c|", "d|a"])
  }

  @Test("a key matches by its bytes, and not when a part is missing")
  func uniqueKey() {
    #expect(UniqueKey([.string("e\u{301}")]) != UniqueKey([.string("\u{E9}")]))
    #expect(UniqueKey([.string("a"), .int(1)]) == UniqueKey([.string("a"), .int(1)]))
    #expect(Set([UniqueKey([.string("a"), .null]), UniqueKey([.string("a"), .int(1)])]).count == 2)
    #expect(UniqueKey([.string("a"), .null]).isPartial && !UniqueKey([.string(""), .int(0)]).isPartial)
  }
}
