import ManagedObjects
import TestSupport
import Testing

@Suite("Typed classes are checked against the model")
struct ClassMismatchTests {
  private class Swapped: ManagedObject {
    override class var propertyNames: [String]? { ["second", "first"] }
  }

  private class Short: ManagedObject {
    override class var propertyNames: [String]? { ["first", "third", "first"] }
  }

  private class Typed: ManagedObject {
    override class var propertyNames: [String]? { ["first", "second", "next", "others"] }
    override class var propertyTypes: [PropertyType]? {
      [.attribute(.string), .attribute(.date), .toMany("A"), .toMany("A")]
    }
  }

  private class Named: ManagedObject {
    override class var propertyNames: [String]? { ["first", "second"] }
  }

  private final class Extended: Named {}

  private class Plain: ManagedObject {}
  private final class Below: Plain {}
  private final class Aside: ManagedObject {}

  private let attributes = [AttributeDefinition("first", .string), AttributeDefinition("second", .string)]

  private func mismatches(
    _ entities: [EntityDefinition], _ classes: [String: ManagedObject.Type], _ layouts: [String: ClassLayout] = [:]
  ) throws -> [String] {
    let model = try ManagedObjectModel(entities: entities, classes: classes, layouts: layouts)
    let coordinator = PersistentStoreCoordinator(model: model)
    do {
      try coordinator.addPersistentStore(.inMemory())
      return []
    } catch ManagedObjectError.classMismatch(let mismatches) {
      #expect(coordinator.persistentStores.isEmpty)
      return mismatches
    }
  }

  @Test("every mismatch of every class is in one message, and no store is added")
  func everything() throws {
    let related = EntityDefinition(
      "C", attributes: attributes,
      relationships: [
        RelationshipDefinition("next", to: "A"), RelationshipDefinition("others", to: "B", isToMany: true),
      ])
    let found = try mismatches(
      [
        EntityDefinition("A", attributes: attributes), EntityDefinition("B", attributes: attributes), related,
        EntityDefinition("D", className: "Dee"), EntityDefinition("E", parent: "A"),
      ], ["A": Swapped.self, "B": Short.self, "C": Typed.self, "F": Plain.self])
    #expect(
      found == [
        "Plain is registered for F, which the model has neither as entity nor as class name",
        "Swapped for A has the order second, first where the model has first, second",
        "Short for B lacks second; it names third, which B doesn't have; it names first twice",
        "Typed for C takes second for Date, which the model has as String; "
          + "it takes next for to-many A, which the model has as to-one A; "
          + "it takes others for to-many A, which the model has as to-many B",
        "D has the class Dee in the model, and none is registered for it",
        "E has no class and inherits from A: register a subclass of Swapped",
      ])
  }

  @Test("a class serves one entity, and inherits as the entities do")
  func hierarchy() throws {
    let entities = [
      EntityDefinition("A", className: "One"), EntityDefinition("B", parent: "A"), EntityDefinition("C"),
    ]
    #expect(
      try mismatches(entities, ["One": Plain.self, "B": Aside.self, "C": Plain.self]) == [
        "Plain is the class of both A and C: each needs one of its own",
        "Aside of B isn't a subclass of Plain, the class of A",
      ])
    #expect(try mismatches(entities, ["One": Plain.self, "B": Below.self]) == [])
  }

  @Test("accessors in an extension are checked by the layout that the model is given")
  func layouts() throws {
    let entity = EntityDefinition("A", attributes: attributes)
    let fits = ClassLayout(
      propertyNames: ["first", "second"], propertyTypes: [.attribute(.string), .attribute(.string)])
    let reversed = ClassLayout(propertyNames: ["second", "first"])
    #expect(try mismatches([entity], ["A": Plain.self], ["A": fits]) == [])
    #expect(try mismatches([entity], ["A": Plain.self], ["A": reversed]).count == 1)
    let below = EntityDefinition("B", parent: "A", attributes: [AttributeDefinition("third", .string)])
    let classes = ["A": Named.self, "B": Extended.self]
    let layout = ClassLayout(propertyNames: ["first", "second", "third"])
    #expect(try mismatches([entity, below], classes, ["B": layout]) == [])
    #expect(try mismatches([entity, below], classes) == ["Extended for B lacks third"])
  }

  @Test("a model without classes is used by name, whatever classes it names")
  func untyped() throws {
    #expect(try mismatches([EntityDefinition("A", className: "Apple")], [:]) == [])
  }

  @Test("classes that fit pass, subclasses of entities that inherit too")
  func fits() throws {
    try PersistentStoreCoordinator(model: CompanyModel.model).addPersistentStore(.inMemory())
  }
}
