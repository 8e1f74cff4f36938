import Foundation
package import ManagedObjects
import Synchronization

/// What notifications said, kept for the test to look at. Safe from any thread.
package final class Recorder<Item: Sendable>: Sendable {
  private let content = Mutex<[Item]>([])
  package init() {}
  package func note(_ item: Item) { content.withLock { $0.append(item) } }
  package var items: [Item] { content.withLock { $0 } }
}

extension ManagedObjectContext {
  /// All objects of an entity, sorted if the key is given.
  package func all<T: ManagedObject>(_ type: T.Type, sortedBy key: String? = nil) throws -> [T] {
    try fetch(FetchRequest(entityName: "\(type)", sortDescriptors: key.map { [FetchSortDescriptor($0)] } ?? []))
  }

  /// The objects of an entity for which `predicate` holds.
  package func all<T: ManagedObject>(_ type: T.Type, _ predicate: FetchPredicate) throws -> [T] {
    try fetch(FetchRequest(entityName: "\(type)", predicate: predicate))
  }

  /// The object of an entity with that name; nil unless there is exactly one.
  package func named<T: ManagedObject>(_ name: String, _ type: T.Type) throws -> T? {
    let found = try all(type, .equal("name", .string(name)))
    return found.count == 1 ? found[0] : nil
  }

  /// Saves, and returns what the did-save notification tells; nil when there was nothing to save.
  package func saveAndTell() throws -> ContextSave? {
    let saves = Recorder<ContextSave>()
    let observer = NotificationCenter.default.addObserver(
      forName: Self.didSaveObjectsNotification, object: self, queue: nil
    ) { note in
      if let save = ContextSave(note) { saves.note(save) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try save()
    return saves.items.last.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Inserts a person.
  @discardableResult
  package func person(_ name: String, age: Int32? = nil, email: String? = nil) throws -> Person {
    let person = try insert(Person.self)
    person.name = name
    person.age = age
    person.email = email
    return person
  }

  /// Inserts a company.
  @discardableResult
  package func company(_ name: String) throws -> Company {
    let company = try insert(Company.self)
    company.name = name
    return company
  }

  /// Inserts a city.
  @discardableResult
  package func city(_ code: Int, _ name: String) throws -> City {
    let city = try insert(City.self)
    city.code = code
    city.name = name
    return city
  }
}
