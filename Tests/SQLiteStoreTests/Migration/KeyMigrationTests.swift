import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// `primaryKey` in an entity's user info: which attribute numbers its rows.
@Suite("Migration of primary keys", .onEveryStore)
struct KeyMigrationTests {
  private let store: MigratedStore

  init() throws { store = try MigratedStore() }

  /// Countries numbered by an attribute or not, with regions, neighbours, a mother country, and visitors.
  private func world(key: String?, isOptional: Bool = false) -> [EntityDefinition] {
    [
      EntityDefinition(
        "Country",
        attributes: [
          AttributeDefinition("name", .string),
          AttributeDefinition("code", .integer64, isOptional: isOptional && key != "code"),
          AttributeDefinition("area", .integer64, isOptional: isOptional && key != "area"),
        ],
        relationships: [
          RelationshipDefinition("mother", to: "Country", inverse: "daughters"),
          RelationshipDefinition("daughters", to: "Country", inverse: "mother", isToMany: true),
          RelationshipDefinition("neighbours", to: "Country", inverse: "neighbours", isToMany: true),
          RelationshipDefinition("regions", to: "Region", inverse: "country", isToMany: true),
          RelationshipDefinition("visitors", to: "Person", inverse: "visited", isToMany: true),
        ], userInfo: key.map { ["primaryKey": $0] } ?? [:]),
      EntityDefinition("Island", parent: "Country", attributes: [AttributeDefinition("coast", .integer64)]),
      EntityDefinition(
        "Region", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("country", to: "Country", inverse: "regions")]),
      EntityDefinition(
        "Person", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("visited", to: "Country", inverse: "visitors", isToMany: true)]),
    ]
  }

  private func fill(_ context: ManagedObjectContext) throws {
    func country(_ entity: String, _ name: String, _ code: Int64, _ area: Int64, _ mother: ManagedObject? = nil) throws
      -> ManagedObject
    {
      try context.add(
        entity,
        [
          "name": .string(name), "code": .int(code), "area": .int(area),
          "mother": mother.map { .object($0.objectID) } ?? .null,
        ])
    }
    let chad = try country("Country", "Chad", 148, 1284)
    let chile = try country("Country", "Chile", 152, 756, chad)
    let cuba = try country("Island", "Cuba", 192, 110, chile)
    try chad.setValue(.objects([chile.objectID]), forKey: "neighbours")
    for owner in [chile, cuba] {
      guard case .string(let name)? = owner.value(forKey: "name") else { continue }
      try context.add("Region", ["name": .string("North " + name), "country": .object(owner.objectID)])
    }
    try context.add("Person", ["name": .string("Ada"), "visited": .objects([chad.objectID, cuba.objectID])])
  }

  /// What `fill` put in, by names.
  private func expect(_ context: ManagedObjectContext, numberedBy key: String?) throws {
    func names(_ object: ManagedObject, _ relationship: String) throws -> [String] {
      try object.objectIDs(forRelationshipNamed: relationship).map {
        try context.existingObject(with: $0).value(forKey: "name")?.plainText ?? ""
      }.sorted()
    }
    var found: [String: String] = [:]
    for country in try context.every("Country") {
      let parts = try ["mother", "daughters", "neighbours", "regions", "visitors"].map { try names(country, $0) }
      found[country.value(forKey: "name")?.plainText ?? ""] =
        country.entity.name + " " + parts.map { $0.joined(separator: "+") }.joined(separator: ",")
      if let key { #expect(country.value(forKey: key) == .int(country.objectID.number)) }
    }
    #expect(
      found == [
        "Chad": "Country ,Chile,Chile,,Ada", "Chile": "Country Chad,Cuba,Chad,North Chile,",
        "Cuba": "Island Chile,,,North Cuba,Ada",
      ])
    #expect(
      try context.every("Country").compactMap { $0.value(forKey: "area")?.plainText }.sorted() == [
        "110", "1284", "756",
      ])
  }

  @Test("an attribute becomes the key, another takes its place, and none", arguments: [false, true])
  func changes(_ isOptional: Bool) throws {
    try store.open(world(key: nil, isOptional: isOptional)) { try fill($0) }
    try store.open(world(key: "code", isOptional: isOptional)) { try expect($0, numberedBy: "code") }
    #expect(try store.column("SELECT code FROM \"Country\" ORDER BY 1") == ["148", "152", "192"])
    try store.open(world(key: "area", isOptional: isOptional)) { try expect($0, numberedBy: "area") }
    try store.open(world(key: nil, isOptional: isOptional)) { context in
      try expect(context, numberedBy: nil)
      let new = try context.add("Country", ["name": .string("New"), "code": .int(1), "area": .int(1)])
      try context.save()
      #expect(new.objectID.number > 1284)
    }
  }

  @Test("values that clash, or aren't there, are named, and nothing is changed")
  func clashes() throws {
    try store.open(world(key: nil, isOptional: true)) { context in
      for (name, code) in [("a", 7), ("b", 7), ("c", 8)] as [(String, Int64)] {
        try context.add("Country", ["name": .string(name), "code": .int(code)])
      }
      try context.add("Island", ["name": .string("d"), "code": .int(8)])
    }
    let error = #expect(throws: MigrationError.self) { try store.migrate(world(key: "code", isOptional: true)) }
    guard case .notUnique(_, let violations)? = error else { throw try #require(error) }
    #expect(
      violations.map(\.values) == [["7"], ["8"]] && violations.allSatisfy { $0.count == 2 && $0.entity == "Country" })
    #expect(
      try store.obstacles(world(key: "area", isOptional: true)).map(\.description).first?.contains(
        "4 of them have no value") == true)
    #expect(try store.column("SELECT count(*) FROM \"Country\"") == ["4"])
  }

  @Test("the history has the new numbers, and no changes of removed rows")
  func history() throws {
    func open(_ key: String?, _ body: (ManagedObjectContext) throws -> Void) throws {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: world(key: key)))
      try coordinator.addPersistentStore(store.description(tracksHistory: true))
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      try body(context)
      try context.save()
      try coordinator.close()
    }
    try open(nil) { context in
      let gone = try context.add("Country", ["name": .string("gone"), "code": .int(1), "area": .int(1)])
      try context.add("Country", ["name": .string("there"), "code": .int(148), "area": .int(2)])
      try context.save()
      context.delete(gone)
    }
    try open("code") { context in
      let result = try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
      let changes = result.transactions.flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changedObjectID.number) == [148] && changes.first?.changeType == .insert)
    }
  }

  @Test("a key that is new has no values")
  func new() throws {
    func country(_ attributes: [AttributeDefinition], _ key: String?) -> [EntityDefinition] {
      [EntityDefinition("Country", attributes: attributes, userInfo: key.map { ["primaryKey": $0] } ?? [:])]
    }
    let name = AttributeDefinition("name", .string)
    try store.open(country([name], nil)) { try $0.add("Country", ["name": .string("a")]) }
    let code = AttributeDefinition("code", .integer64, isOptional: false)
    #expect(try store.obstacles(country([name, code], "code")).map(\.property) == ["code"])
  }

  @Test("entities that become one hierarchy with one key keep their rows apart, or their conflict is reported")
  func merged() throws {
    func parts(_ isTogether: Bool) -> [EntityDefinition] {
      let code = AttributeDefinition("code", .integer64, isOptional: false)
      let key = ["primaryKey": "code"]
      guard isTogether else {
        return ["Book", "Film"].map { EntityDefinition($0, attributes: [code], userInfo: key) }
      }
      return ["Book", "Film"].map { EntityDefinition($0, parent: "Work") }
        + [EntityDefinition("Work", isAbstract: true, attributes: [code], userInfo: key)]
    }
    try store.open(parts(false)) { context in
      for code in [1, 2] as [Int64] { try context.add("Book", ["code": .int(code)]) }
      for code in [2, 3] as [Int64] { try context.add("Film", ["code": .int(code)]) }
    }
    let error = #expect(throws: MigrationError.self) { try store.migrate(parts(true)) }
    guard case .notUnique(_, let violations)? = error else { throw try #require(error) }
    #expect(violations.map(\.description) == ["2 rows of Work have code = 2"])
    try store.open(parts(false)) { context in
      let film = try #require(try context.every("Film").first)
      context.delete(film)
    }
    try store.open(parts(true)) { try $0.expect("Work", "code", [.int(1), .int(2), .int(3)]) }
  }
}
