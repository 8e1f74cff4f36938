import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Inferred migration of relationships", .onEveryStore)
struct RelationshipMigrationTests {
  private let store: MigratedStore
  private let name = AttributeDefinition("name", .string)

  init() throws { store = try MigratedStore() }

  /// Owners and pets, with a relationship of each shape; nil for none.
  private func zoo(_ pets: RelationshipDefinition?, _ owner: RelationshipDefinition?) -> [EntityDefinition] {
    [
      EntityDefinition("Owner", attributes: [name], relationships: pets.map { [$0] } ?? []),
      EntityDefinition("Pet", attributes: [name], relationships: owner.map { [$0] } ?? []),
    ]
  }

  private func pets(inverse: String? = "owner", isToMany: Bool = true, isOrdered: Bool = false)
    -> RelationshipDefinition
  {
    RelationshipDefinition("pets", to: "Pet", inverse: inverse, isToMany: isToMany, isOrdered: isOrdered)
  }

  private func owner(_ name: String = "owner", inverse: String? = "pets", isToMany: Bool = false)
    -> RelationshipDefinition
  {
    RelationshipDefinition(name, to: "Owner", inverse: inverse, isToMany: isToMany)
  }

  /// Ada has Rex and Tom, Bob has none, Kit has no owner.
  private func fill(_ context: ManagedObjectContext) throws {
    let ada = try context.add("Owner", ["name": .string("Ada")])
    try context.add("Owner", ["name": .string("Bob")])
    for name in ["Rex", "Tom"] {
      try context.add("Pet", ["name": .string(name), "owner": .object(ada.objectID)])
    }
    try context.add("Pet", ["name": .string("Kit")])
  }

  /// The names at the other end of a relationship, by the names at this end.
  private func names(_ context: ManagedObjectContext, _ entity: String, _ key: String) throws -> [String: Set<String>] {
    try context.every(entity).reduce(into: [:]) { names, object in
      let ids: Set<ManagedObjectID>
      switch object.value(forKey: key) {
      case .object(let id): ids = [id]
      case let value: ids = value?.objectIDs ?? []
      }
      let others = try ids.map { try context.existingObject(with: $0).value(forKey: "name")?.plainText ?? "" }
      names[object.value(forKey: "name")?.plainText ?? ""] = Set(others)
    }
  }

  private let petsOfOwners: [String: Set<String>] = ["Ada": ["Rex", "Tom"], "Bob": []]
  private let ownersOfPets: [String: Set<String>] = ["Rex": ["Ada"], "Tom": ["Ada"], "Kit": []]

  private func expect(_ context: ManagedObjectContext, pets: Bool = true, owner: String? = "owner") throws {
    let found = (
      pets ? try names(context, "Owner", "pets") : petsOfOwners, try owner.map { try names(context, "Pet", $0) }
    )
    #expect(found.0 == petsOfOwners && found.1 ?? ownersOfPets == ownersOfPets)
  }

  @Test("to-one becomes to-many, and one-to-many many-to-many")
  func toMany() throws {
    try store.open(zoo(pets(), owner())) { try fill($0) }
    try store.open(zoo(pets(), owner(isToMany: true))) { try expect($0) }
    #expect(try store.column("SELECT \"Pet_id\" FROM \"Owner_pets\" ORDER BY 1") == ["1", "2"])
  }

  @Test("a relationship is renamed on both sides, and loses its inverse or gains one")
  func renaming() throws {
    try store.open(zoo(pets(), owner())) { try fill($0) }
    var keeper = owner("keeper", inverse: "pets")
    keeper.renamingIdentifier = "owner"
    try store.open(zoo(pets(inverse: "keeper"), keeper)) { try expect($0, owner: "keeper") }
    try store.open(zoo(nil, keeper.withoutInverse)) { try expect($0, pets: false, owner: "keeper") }
    try store.open(zoo(pets(inverse: "keeper"), keeper)) { try expect($0, owner: "keeper") }
    try store.open(zoo(pets(inverse: nil), nil)) { try expect($0, owner: nil) }
    #expect(try store.obstacles(zoo(pets(), owner())).map(\.property) == ["pets"], "a pet may have several owners")
    try store.open(zoo(pets(), owner(isToMany: true))) { try expect($0) }
    #expect(try store.obstacles(zoo(pets(isToMany: false), owner(isToMany: true))).map(\.property) == ["pets"])
  }

  @Test("a to-one relationship without inverse becomes to-many")
  func withoutInverse() throws {
    try store.open(zoo(nil, owner(inverse: nil))) { try fill($0) }
    try store.open(zoo(nil, owner(inverse: nil, isToMany: true))) { try expect($0, pets: false) }
    #expect(try store.columns(of: "Pet") == ["id", "name"])
  }

  @Test("an order comes, is kept through other changes, and goes")
  func order() throws {
    try store.open(zoo(pets(), owner())) { try fill($0) }
    try store.open(zoo(pets(isOrdered: true), owner())) { context in
      try expect(context)
      let (ada, pets) = (try context.every("Owner")[0], try context.every("Pet"))
      try ada.setValue(.orderedObjects([pets[1].objectID, pets[0].objectID]), forKey: "pets")
    }
    func expectOrder(_ context: ManagedObjectContext) throws {
      guard case .orderedObjects(let ids) = try context.every("Owner")[0].value(forKey: "pets") else {
        Issue.record("pets aren't ordered")
        return
      }
      #expect(ids.map(\.uriRepresentation.lastPathComponent) == ["p2", "p1"])
    }
    var renamed = zoo(pets(isOrdered: true), owner())
    renamed[1].attributes.append(AttributeDefinition("age", .integer16))
    try store.open(renamed) { try expectOrder($0) }
    try store.open(zoo(pets(isOrdered: true), owner(isToMany: true))) { try expectOrder($0) }
    renamed = zoo(pets(inverse: nil, isOrdered: true), nil)
    try store.open(renamed) { try expectOrder($0) }
    try store.open(zoo(pets(), owner(isToMany: true))) { try expect($0) }
  }

  @Test("what pointed to an entity that is gone points nowhere, and a required relationship says so")
  func removal() throws {
    let base = [
      EntityDefinition("Animal", attributes: [name]), EntityDefinition("Dog", parent: "Animal"),
      EntityDefinition(
        "Owner", attributes: [name],
        relationships: [
          RelationshipDefinition("pet", to: "Animal"), RelationshipDefinition("likes", to: "Animal", isToMany: true),
        ]),
    ]
    try store.open(base) { context in
      let (dog, cat) = (try context.add("Dog"), try context.add("Animal"))
      let ids: Set = [dog.objectID, cat.objectID]
      try context.add("Owner", ["pet": .object(dog.objectID), "likes": .objects(ids)])
      try context.add("Owner", ["pet": .object(cat.objectID), "likes": .objects([dog.objectID])])
    }
    var fewer = base.filter { $0.name != "Dog" }
    fewer[1].relationships[0].isOptional = false
    #expect(try store.obstacles(fewer).map(\.property) == ["pet"])
    fewer[1].relationships[0].isOptional = true
    try store.open(fewer) { context in
      let animals = try context.every("Animal").map(\.objectID)
      #expect(animals.map(\.uriRepresentation.lastPathComponent) == ["p2"])
      try context.expect("Owner", "pet", [.null, .object(animals[0])])
      try context.expect("Owner", "likes", [.objects([animals[0]]), .objects([])])
    }
  }

  @Test("a relationship can't turn to an entity that the rows aren't of")
  func destination() throws {
    try store.open(zoo(nil, owner(inverse: nil))) { try fill($0) }
    var other = zoo(nil, RelationshipDefinition("owner", to: "Zoo"))
    other.append(EntityDefinition("Zoo"))
    #expect(try store.obstacles(other).map(\.description).first?.contains("leads to Zoo, and led to Owner") == true)
    var parent = zoo(nil, RelationshipDefinition("owner", to: "Zoo"))
    parent[0].parent = "Zoo"
    parent.append(EntityDefinition("Zoo"))
    try store.open(parent) { try expect($0, pets: false) }
  }

  @Test("an entity is renamed with all that points to it")
  func renamedEntity() throws {
    try store.open(zoo(pets(), owner())) { try fill($0) }
    var entities = zoo(pets(), RelationshipDefinition("owner", to: "Keeper", inverse: "pets"))
    entities[0].name = "Keeper"
    entities[0].renamingIdentifier = "Owner"
    try store.open(entities) { context in
      let found = (try names(context, "Keeper", "pets"), try names(context, "Pet", "owner"))
      #expect(found == (petsOfOwners, ownersOfPets))
      try context.add("Keeper")
    }
    #expect(try store.column("SELECT id FROM \"Keeper\" ORDER BY id").prefix(2) == ["1", "2"])
    #expect(try !store.relations().contains("Owner"))
    if store.isPostgres { return }
    #expect(try store.column("SELECT key FROM lade_metadata WHERE key LIKE 'last_number.%'").count == 2)
  }

  @Test("friends stay friends")
  func ownInverse() throws {
    let friends = RelationshipDefinition("friends", to: "Owner", inverse: "friends", isToMany: true)
    try store.open([EntityDefinition("Owner", attributes: [name], relationships: [friends])]) { context in
      let ada = try context.add("Owner", ["name": .string("Ada")])
      try context.add("Owner", ["name": .string("Bob"), "friends": .objects([ada.objectID])])
    }
    var mates = RelationshipDefinition("mates", to: "Person", inverse: "mates", isToMany: true)
    mates.renamingIdentifier = "friends"
    var person = EntityDefinition("Person", attributes: [name], relationships: [mates])
    person.renamingIdentifier = "Owner"
    let found = try store.open([person]) { try names($0, "Person", "mates") }
    #expect(found == ["Ada": ["Bob"], "Bob": ["Ada"]])
  }

  @Test("a to-one relationship whose column gets another name keeps its objects")
  func columnName() throws {
    func entities(_ info: [String: String]) -> [EntityDefinition] {
      [
        EntityDefinition(
          "Owner", relationships: [RelationshipDefinition("pets", to: "Pet", inverse: "owner", isToMany: true)]),
        EntityDefinition(
          "Pet", relationships: [RelationshipDefinition("owner", to: "Owner", inverse: "pets", userInfo: info)]),
      ]
    }
    try store.open(entities([:])) { context in
      let owner = try context.add("Owner")
      try context.add("Pet", ["owner": .object(owner.objectID)])
      try context.add("Pet")
    }
    for info in [["columnName": "owner_row"], ["columnName": "keeper"], [:]] {
      try store.open(entities(info)) { context in
        let owners = try context.values("Pet", "owner")
        #expect(owners.map(\.isNull) == [false, true])
      }
      let column = info["columnName"] ?? "owner_id"
      #expect(try store.column("SELECT \(column) FROM \"Pet\" ORDER BY id") == ["1", "NULL"])
    }
  }
}

extension RelationshipDefinition {
  /// The same without its inverse.
  fileprivate var withoutInverse: RelationshipDefinition {
    var copy = self
    copy.inverse = nil
    return copy
  }
}
