import Foundation
public import ManagedObjects
import Synchronization

/// A coordinator with the store under test, over a model with every kind of property.
final class Stack: Sendable {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let demands: StoreConformance.Demands
  /// Objects live no longer than their context, and cases write `stack.context().all(…)`.
  private let contexts = Mutex<[ContextQueue]>([])

  init(_ description: PersistentStoreDescription, demands: StoreConformance.Demands = .all) throws {
    self.demands = demands
    coordinator = PersistentStoreCoordinator(model: try StoreConformance.model(demands))
    store = try coordinator.addPersistentStore(description)
  }

  /// A context of the calling thread.
  func context() -> ManagedObjectContext {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    contexts.withLock { $0.append(context.queue) }
    return context
  }

}

extension StoreConformance {
  /// The model of the suite's cases, for stores that must be made before they are opened.
  public static func model(_ demands: Demands = .all) throws -> ManagedObjectModel {
    let board = RelationshipDefinition(
      "board", to: "Person", inverse: demands == .all ? nil : "boards", isToMany: true, isOrdered: true)
    let boards = RelationshipDefinition("boards", to: "Department", inverse: "board", isToMany: true)
    var photo = AttributeDefinition("photo", .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    return try ManagedObjectModel(entities: [
      EntityDefinition(
        "Person",
        attributes: [
          AttributeDefinition("name", .string), AttributeDefinition("email", .string),
          AttributeDefinition("age", .integer32), AttributeDefinition("number", .integer64),
          AttributeDefinition("height", .double), AttributeDefinition("salary", .decimal),
          AttributeDefinition("born", .date), AttributeDefinition("isActive", .boolean),
          photo, AttributeDefinition("badge", .uuid),
          AttributeDefinition("page", .uri), AttributeDefinition("note", .string, isTransient: true),
        ],
        relationships: [RelationshipDefinition("tags", to: "Tag", inverse: "people", isToMany: true)]
          + (demands == .all ? [] : [boards]),
        uniquenessConstraints: [["email"]]),
      EntityDefinition(
        "Employee", parent: "Person", attributes: [AttributeDefinition("title", .string)],
        relationships: [RelationshipDefinition("department", to: "Department", inverse: "staff")]),
      EntityDefinition(
        "Department", attributes: [AttributeDefinition("name", .string)],
        relationships: [
          RelationshipDefinition("staff", to: "Employee", inverse: "department", isToMany: true),
          board,
        ]),
      EntityDefinition(
        "Tag", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("people", to: "Person", inverse: "tags", isToMany: true)]),
    ])
  }
}

extension ManagedObjectContext {
  @discardableResult
  func person(_ name: String, age: Int64? = nil, email: String? = nil) throws -> ManagedObject {
    try fill(insert("Person"), name, age, email)
  }

  @discardableResult
  func employee(
    _ name: String, age: Int64? = nil, in department: ManagedObject? = nil
  ) throws -> ManagedObject {
    let employee = try fill(insert("Employee"), name, age, nil)
    if let department { try employee.setValue(.object(department.objectID), forKey: "department") }
    return employee
  }

  func department(_ name: String, board: [ManagedObject] = []) throws -> ManagedObject {
    let department = try insert("Department")
    try department.setValue(.string(name), forKey: "name")
    for member in board {
      if let relationship = department.entity.relationshipsByName["board"] {
        department.add(member, to: relationship.slot)
      }
    }
    return department
  }

  func tag(_ name: String) throws -> ManagedObject {
    let tag = try insert("Tag")
    try tag.setValue(.string(name), forKey: "name")
    return tag
  }

  private func fill(_ person: ManagedObject, _ name: String, _ age: Int64?, _ email: String?) throws -> ManagedObject {
    try person.setValue(.string(name), forKey: "name")
    if let age { try person.setValue(.int(age), forKey: "age") }
    if let email { try person.setValue(.string(email), forKey: "email") }
    return person
  }

  /// The objects of an entity for which a predicate holds, by name.
  func all(_ entity: String, _ format: String? = nil) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(
      entityName: entity, predicate: try format.map { try FetchPredicate(format: $0) },
      sortDescriptors: [FetchSortDescriptor("name")])
    return try fetch(request)
  }

  /// The names of those objects.
  func names(_ entity: String, _ format: String? = nil) throws -> [String] {
    try all(entity, format).map { object in
      guard case .string(let name) = object.get("name") else { return "" }
      return name
    }
  }
}

extension ManagedObject {
  /// A property's value, null where there is no such property.
  func get(_ name: String) -> Value { value(forKey: name) ?? .null }

  /// Replaces the objects of an unordered to-many relationship.
  func set(_ name: String, to others: [ManagedObject]) throws {
    guard let relationship = entity.relationshipsByName[name] else { return }
    setObjects(Set(others), relationship.slot)
  }
}

extension Value {
  /// The URIs of the objects of a to-many relationship, in their order.
  var uris: [String] {
    switch self {
    case .objects(let ids): ids.map(\.uriRepresentation.absoluteString).sorted()
    case .orderedObjects(let ids): ids.map(\.uriRepresentation.absoluteString)
    default: []
    }
  }

  /// The number of objects of a to-many relationship.
  var memberCount: Int {
    switch self {
    case .objects(let ids): ids.count
    case .orderedObjects(let ids): ids.count
    default: 0
    }
  }
}
