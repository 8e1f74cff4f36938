import ManagedObjects
import TestSupport
import Testing

@Suite("Classes written by hand are checked against the model")
struct ClassMismatchTests {
  private final class Wrong: ManagedObject {
    override class var propertyNames: [String]? { ["second", "first"] }
  }

  private final class Short: ManagedObject {
    override class var propertyNames: [String]? { ["first"] }
  }

  @Test("every mismatch is in one message, and no store is added")
  func mismatches() throws {
    let attributes = [AttributeDefinition("first", .string), AttributeDefinition("second", .string)]
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition("A", attributes: attributes), EntityDefinition("B", attributes: attributes),
        EntityDefinition("C", attributes: attributes),
      ], classes: ["A": Wrong.self, "B": Short.self])
    let coordinator = PersistentStoreCoordinator(model: model)
    #expect {
      try coordinator.addPersistentStore(.inMemory())
    } throws: { error in
      guard case ManagedObjectError.classMismatch(let mismatches) = error else { return false }
      return mismatches.count == 2 && mismatches[0].contains("Wrong")
        && mismatches[0].contains("[\"second\", \"first\"]")
        && mismatches[1].contains("Short") && mismatches[1].contains("B")
    }
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("classes that fit pass, subclasses of entities that inherit too")
  func fits() throws {
    try PersistentStoreCoordinator(model: CompanyModel.model).addPersistentStore(.inMemory())
  }
}
