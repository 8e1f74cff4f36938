import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// Two stores side by side, of every combination of kinds.
struct StorePair: Sendable, CustomTestStringConvertible {
  let first: StoreKind
  let second: StoreKind
  var testDescription: String { "\(first.rawValue) and \(second.rawValue)" }

  static let all = StoreKind.allCases.flatMap { first in
    StoreKind.allCases.map { StorePair(first: first, second: $0) }
  }
}

/// Animals and their owners, whom several stores may hold.
enum HerdModel {
  /// Configurations: `dogs` without the superentity and the cats, `cats` without the dogs, `herd` with everything, and
  /// `strays`, who have no owners.
  static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        entities: [
          EntityDefinition(
            "Animal",
            attributes: [
              AttributeDefinition("name", .string), AttributeDefinition("legs", .integer16),
              AttributeDefinition("weight", .double), AttributeDefinition("price", .decimal),
              AttributeDefinition("tag", .integer64),
            ],
            relationships: [
              RelationshipDefinition("owner", to: "Owner", inverse: "animals"),
              RelationshipDefinition("friend", to: "Animal"),
            ], uniquenessConstraints: [["tag"]]),
          EntityDefinition("Dog", parent: "Animal", attributes: [AttributeDefinition("tricks", .integer32)]),
          EntityDefinition("Cat", parent: "Animal"),
          EntityDefinition(
            "Owner", attributes: [AttributeDefinition("name", .string)],
            relationships: [RelationshipDefinition("animals", to: "Animal", inverse: "owner", isToMany: true)]),
        ],
        configurations: [
          "dogs": ["Dog", "Owner"], "cats": ["Animal", "Cat", "Owner"], "herd": ["Animal", "Dog", "Cat", "Owner"],
          "strays": ["Animal", "Cat"],
        ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()
}

/// A coordinator with stores of the herd, in memory and in files of a directory of their own.
final class HerdStack: Sendable {
  let coordinator = PersistentStoreCoordinator(model: HerdModel.model)
  let stores: [PersistentStore]
  /// Make the stores fail, one each.
  let breakers: [Breaker]
  private let directory: ScratchDirectory

  init(_ kinds: [StoreKind], configurations: [String?], options: SQLiteStoreOptions = .init()) throws {
    let directory = try ScratchDirectory()
    self.directory = directory
    let breakers = kinds.map { _ in Breaker() }
    self.breakers = breakers
    stores = try kinds.indices.map { [coordinator] index in
      let name = configurations[index]
      let description =
        kinds[index] == .inMemory
        ? PersistentStoreDescription.inMemory(configuration: name)
        : .sqlite(at: directory.file("\(index).sqlite"), configuration: name, options: options)
      // History is a store's own: one that tracks it isn't watched.
      if options.persistentHistoryTracking { return try coordinator.addPersistentStore(description) }
      return try coordinator.addPersistentStore(
        PersistentStoreDescription(configuration: name) { model, entities in
          WatchedStore(
            try description.open(model, entities), noting: Recorder(), breaker: breakers[index], in: directory)
        })
    }
  }

  convenience init(_ pair: StorePair, _ configurations: [String?] = ["herd", "herd"]) throws {
    try self.init([pair.first, pair.second], configurations: configurations)
  }

  func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  var file: URL { directory.file("0.sqlite") }
}

extension ManagedObjectContext {
  /// Inserts an animal, to be saved to a store.
  @discardableResult
  func animal(
    _ name: String, _ entity: String = "Dog", legs: Int? = 4, tag: Int? = nil, in store: PersistentStore? = nil
  ) throws -> ManagedObject {
    let animal = try insert(entity)
    try animal.setValue(.string(name), forKey: "name")
    try animal.setValue(legs.map { .int(Int64($0)) } ?? .null, forKey: "legs")
    try animal.setValue(tag.map { .int(Int64($0)) } ?? .null, forKey: "tag")
    if let store { try assign(animal, to: store) }
    return animal
  }

  func herd(_ change: (inout FetchRequest<ManagedObject>) -> Void = { _ in }) throws -> [String] {
    try fetch(herdRequest(change)).map { $0.text("name") ?? "nil" }
  }

  func herdRequest(
    _ change: (inout FetchRequest<ManagedObject>) -> Void = { _ in }
  ) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(
      entityName: "Animal", sortDescriptors: [FetchSortDescriptor("name")])
    change(&request)
    return request
  }
}

extension ManagedObject {
  func text(_ key: String) -> String? {
    guard case .string(let text)? = value(forKey: key) else { return nil }
    return text
  }
}
