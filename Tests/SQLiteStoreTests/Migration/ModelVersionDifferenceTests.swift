import ManagedObjects
import Testing

@Suite("The difference of two versions of a model")
struct ModelVersionDifferenceTests {
  private typealias Difference = ModelVersionDifference

  private static let old = [
    EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition("name", .string), AttributeDefinition("age", .integer16),
        AttributeDefinition("shoe", .double), AttributeDefinition("scratch", .string, isTransient: true),
      ], relationships: [RelationshipDefinition("home", to: "Town", inverse: "people")]),
    EntityDefinition(
      "Town", attributes: [AttributeDefinition("name", .string)],
      relationships: [RelationshipDefinition("people", to: "Person", inverse: "home", isToMany: true)]),
    EntityDefinition("Ghost", attributes: [AttributeDefinition("cry", .string)]),
  ]

  private static var new: [EntityDefinition] {
    var surname = AttributeDefinition("surname", .string)
    surname.renamingIdentifier = "name"
    return [
      EntityDefinition(
        "Person",
        attributes: [
          surname, AttributeDefinition("age", .integer32),
          AttributeDefinition("points", .integer32, isOptional: false, defaultValue: .int(5)),
          AttributeDefinition("note", .string),
        ], relationships: [RelationshipDefinition("home", to: "Town", inverse: "people")],
        uniquenessConstraints: [["surname"]]),
      EntityDefinition(
        "Town", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("people", to: "Person", inverse: "home", isToMany: true)]),
      EntityDefinition("Pet", attributes: [AttributeDefinition("name", .string)]),
    ]
  }

  private func difference(_ old: [EntityDefinition], _ new: [EntityDefinition]) throws -> Difference {
    Difference(from: try ManagedObjectModel(entities: old), to: try ManagedObjectModel(entities: new))
  }

  private func lines(_ difference: Difference) -> Set<String> {
    Set(difference.changes.map { "\($0.kind) \($0.entity).\($0.property ?? "") \($0.effect)" })
  }

  @Test("says what was added, removed, renamed and changed, and what becomes of the data")
  func changes() throws {
    let difference = try difference(Self.old, Self.new)
    #expect(
      lines(difference) == [
        "added Pet. empty", "removed Ghost. lost", "renamed Person.surname kept", "changed Person.age converted",
        "added Person.points filled", "added Person.note empty", "removed Person.shoe lost", "changed Person. kept",
      ])
    #expect(difference.obstacles.isEmpty)
    #expect(difference.losses.map { "\($0.entity).\($0.property ?? "")" }.sorted() == ["Ghost.", "Person.shoe"])
    let age = try #require(difference.changes.first { $0.property == "age" })
    #expect(age.old == "Integer 16, optional" && age.new == "Integer 32, optional")
    #expect(difference.changes.first { $0.kind == .renamed }?.old == "name")
  }

  @Test("says what keeps a store from being migrated")
  func obstacles() throws {
    let difference = try difference(Self.new, Self.old)
    #expect(lines(difference).contains("changed Person.age refused"), "\(lines(difference))")
    #expect(difference.obstacles.contains { $0.property == "age" })
    let required = [
      EntityDefinition(
        "Pet",
        attributes: [AttributeDefinition("name", .string), AttributeDefinition("age", .double, isOptional: false)])
    ]
    let other = try self.difference(
      [EntityDefinition("Pet", attributes: [AttributeDefinition("name", .string)])], required)
    #expect(lines(other) == ["added Pet.age refused"])
  }

  @Test("is empty between equal versions")
  func same() throws {
    let same = try difference(Self.old, Self.old)
    #expect(same.changes.isEmpty && same.obstacles.isEmpty && same.losses.isEmpty)
  }
}
