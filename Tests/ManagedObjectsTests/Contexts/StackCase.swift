import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// One of the three stacks over one of the stores.
struct StackCase: CustomTestStringConvertible, Sendable {
  let stack: PersistentContainer.Stack
  let store: StoreKind

  static let all = PersistentContainer.Stack.allCases.flatMap { stack in
    StoreKind.allCases.map { StackCase(stack: stack, store: $0) }
  }

  var testDescription: String { "\(stack.rawValue), \(store)" }
  var isNested: Bool { stack != .independent }

  func make(viewQueue: ManagedObjectContext.ConcurrencyType = .privateQueue) throws -> StackFixture {
    StackFixture(self, try CompanyStack(store), viewQueue)
  }
}

/// A container over a store that can be watched.
struct StackFixture: Sendable {
  let company: CompanyStack
  let container: PersistentContainer
  var view: ContextQueue { container.viewContext }

  init(_ kind: StackCase, _ company: CompanyStack, _ viewQueue: ManagedObjectContext.ConcurrencyType) {
    self.company = company
    container = PersistentContainer(coordinator: company.coordinator, stack: kind.stack, viewQueue: viewQueue)
    if kind.stack == .independent { container.viewContext.automaticallyMergesChangesFromParent = true }
  }

  /// What the store holds: the people's names and ages.
  func stored() throws -> [String] {
    let reader = ContextQueue(.privateQueue, coordinator: company.coordinator)
    return try names(in: reader)
  }

  /// What a context shows: the people's names and ages.
  func names(in context: ContextQueue) throws -> [String] {
    try context.performAndWait { context in
      try context.all(Person.self, sortedBy: "name").map { "\($0.name ?? "") \($0.age ?? 0)" }
    }
  }

  /// Inserts a person in a context and keeps it there.
  @discardableResult
  func insert(
    _ name: String, age: Int32 = 0, email: String? = nil, in context: ContextQueue
  ) throws -> ManagedObjectID {
    try context.performAndWait { context in
      context.retainsRegisteredObjects = true
      return try context.person(name, age: age, email: email).objectID
    }
  }

  /// A person saved in the store, known to the view.
  func savedPerson(_ name: String, age: Int32) async throws -> ManagedObjectID {
    try insert(name, age: age, in: view)
    try await view.saveToPersistentStore()
    return try view.performAndWait { view in try view.named(name, Person.self)?.objectID } ?? insert(name, in: view)
  }

  func setAge(_ age: Int32, of id: ManagedObjectID, in context: ContextQueue) {
    context.performAndWait { context in
      context.retainsRegisteredObjects = true
      (context.object(with: id) as? Person)?.age = age
    }
  }

  func age(of id: ManagedObjectID, in context: ContextQueue) -> Int32? {
    context.performAndWait { context in
      context.retainsRegisteredObjects = true
      return (context.object(with: id) as? Person)?.age
    }
  }

  func save(_ context: ContextQueue) throws { try context.performAndWait { context in try context.save() } }

  /// Waits until the view has merged what was saved before.
  func settle() {
    container.writerContext?.performAndWait { _ in }
    view.performAndWait { _ in }
  }
}
