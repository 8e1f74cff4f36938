import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// A class that no model of another test has.
private class Vehicle: ManagedObject {
  override class var propertyNames: [String]? { ["wheels"] }
  var wheels: Int? {
    get { self[0] }
    set { self[0] = newValue }
  }
  private(set) var wakes = 0
  override func awakeFromInsert() {
    wakes += 1
    wheels = 4
  }

  convenience init(wheels: Int, context: ManagedObjectContext) {
    self.init(context: context)
    self.wheels = wheels
  }
}

private final class Bicycle: Vehicle {
  override class var propertyNames: [String]? { super.propertyNames }
}

private final class Unknown: ManagedObject {}

@Suite("Making objects by their class")
struct ObjectCreationTests {
  private static func model(_ classes: [String: ManagedObject.Type]) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
        EntityDefinition("Vehicle", attributes: [AttributeDefinition("wheels", .integer16)]),
        EntityDefinition("Bicycle", parent: "Vehicle"),
      ], classes: classes)
  }

  @Test("an initializer inserts an object of its class's entity, also from an initializer of the class's own")
  func initializers() throws {
    let stack = try CompanyStack(.inMemory, model: Self.model(["Vehicle": Vehicle.self, "Bicycle": Bicycle.self]))
    let context = stack.context()
    let car = Vehicle(context: context)
    #expect(car.entity.name == "Vehicle" && car.isInserted && car.wheels == 4 && car.wakes == 1)
    let bicycle = Bicycle(wheels: 2, context: context)
    #expect(bicycle.entity.name == "Bicycle" && bicycle.wheels == 2 && bicycle.wakes == 1)
    #expect(type(of: bicycle) == Bicycle.self && bicycle.managedObjectContext === context)
    #expect(context.insertedObjects == [car, bicycle])
    let kind: Vehicle.Type = Bicycle.self
    #expect(kind.init(context: context) is Bicycle)
    try context.save()
    #expect(try context.count(for: Vehicle.fetchRequest()) == 3 && context.count(for: Bicycle.fetchRequest()) == 2)
  }

  @Test("an object made by its entity or its entity's name has the entity's class")
  func byEntity() throws {
    let stack = try CompanyStack(.inMemory, model: Self.model(["Vehicle": Vehicle.self, "Bicycle": Bicycle.self]))
    let context = stack.context()
    let entity = try #require(EntityDescription.entity(forEntityName: "Bicycle", in: context))
    #expect(type(of: ManagedObject(entity: entity, insertInto: context)) == Bicycle.self)
    let vehicle = Vehicle(entity: entity, insertInto: context)
    #expect(vehicle is Bicycle && vehicle.wheels == 4)
    let named = EntityDescription.insertNewObject(forEntityName: "Vehicle", into: context)
    #expect(type(of: named) == Vehicle.self && named.isInserted)
    #expect(EntityDescription.entity(forEntityName: "Ship", in: context) == nil)
  }

  @Test("a class knows its entity and makes requests for it once a model has it")
  func classEntities() throws {
    let model = try Self.model(["Vehicle": Vehicle.self, "Bicycle": Bicycle.self])
    #expect(Vehicle.entity().name == "Vehicle" && Bicycle.entity().name == "Bicycle")
    let request: FetchRequest<Bicycle> = Bicycle.fetchRequest()
    #expect(request.entityName == "Bicycle" && model.entitiesByName["Bicycle"] != nil)
  }

  @Test("a class without an entity, or with several, is refused by name")
  func refused() throws {
    let context = try CompanyStack(.inMemory).context()
    #expect(
      throws: ManagedObjectError.unknownEntity(name: "Unknown", known: CompanyModel.model.entities.map(\.name))
    ) { try context.insert(Unknown.self) }
    let error = #expect(throws: ManagedObjectError.self) {
      try CompanyStack(.inMemory, model: ManagedObjectModel(entities: [EntityDefinition("A"), EntityDefinition("B")]))
        .context().insert(ManagedObject.self)
    }
    #expect(error == .severalEntities(className: "ManagedObject", entities: ["A", "B"]))
  }

  @Test("inserting a deleted object takes its deletion back", arguments: StoreKind.allCases)
  func reinserted(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada", age: 36)
    try context.save()
    context.delete(ada)
    context.insert(ada)
    #expect(!ada.isDeleted && !ada.hasChanges && !context.hasChanges && context.deletedObjects.isEmpty)
    context.delete(ada)
    try context.save()
    #expect(try stack.context().all(Person.self).isEmpty)
    context.insert(ada)
    #expect(ada.isInserted && ada.managedObjectContext === context && ada.name == "Ada")
    try context.save()
    #expect(try stack.context().named("Ada", Person.self)?.age == 36)
    context.insert(ada)
    #expect(!context.hasChanges, "inserting an object that is there changes nothing")
    let bo = try context.person("Bo")
    context.delete(bo)
    context.insert(bo)
    #expect(bo.isInserted && !bo.isDeleted && context.deletedObjects.isEmpty)
    try context.save()
    #expect(try stack.context().named("Bo", Person.self) != nil)
  }
}
