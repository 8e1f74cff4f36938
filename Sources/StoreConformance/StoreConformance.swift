import Foundation
public import ManagedObjects

/// A test suite for stores: whether a store keeps the contract of `IncrementalStore`.
///
/// It belongs to no test framework. With Swift Testing:
///
/// ```swift
/// @Test(arguments: StoreConformance.cases)
/// func conforms(_ test: StoreConformance.Case) throws {
///   try test.run { PersistentStoreDescription { _, entities in MyStore(entities: entities) } }
/// }
/// ```
///
/// Every case opens a store of its own, works on it through contexts, as programs do, and throws a
/// ``ConformanceFailure`` when the store doesn't do what every store must.
public enum StoreConformance {
  /// What a store must be able to keep.
  public enum Demands: Sendable {
    /// Everything.
    case all
    /// What Core Data's own files can keep: no relationship to several objects without an inverse, and fifteen digits of a
    /// decimal.
    case coreData
  }

  /// One case of the suite.
  public struct Case: Sendable, CustomStringConvertible {
    /// What must be so, as a sentence.
    public let name: String
    let body: @Sendable (Stack) throws -> Void

    /// The name.
    public var description: String { name }

    /// Runs the case on the calling thread.
    /// - Parameters:
    ///   - demands: what the store must be able to keep.
    ///   - makeStore: describes a new store without content.
    /// - Throws: ``ConformanceFailure``, or an error of the store.
    public func run(demands: Demands = .all, _ makeStore: () throws -> PersistentStoreDescription) throws {
      let stack = try Stack(makeStore(), demands: demands)
      do {
        try body(stack)
      } catch {
        // The case's error says more than one of closing after it.
        _ = Result { try stack.coordinator.close() }
        throw error
      }
      try stack.coordinator.close()
    }
  }

  /// The result of one case.
  public struct Outcome: Sendable {
    /// The case's name.
    public let name: String
    /// Why it failed; nil if it passed.
    public let error: (any Error)?
  }

  /// Every case.
  public static let cases: [Case] =
    identityCases + rowCases + fetchCases + relationshipCases + conflictCases + transactionCases

  /// Runs every case.
  /// - Parameter makeStore: describes a new store without content, for each case another.
  public static func run(_ makeStore: () throws -> PersistentStoreDescription) -> [Outcome] {
    cases.map { test in
      do {
        try test.run(makeStore)
        return Outcome(name: test.name, error: nil)
      } catch {
        return Outcome(name: test.name, error: error)
      }
    }
  }

  /// Checks that a store in a file keeps its content: writes with one coordinator, closes it, and reads with another.
  /// - Parameters:
  ///   - demands: as for ``Case/run(demands:_:)``.
  ///   - store: describes the same file each time. It is new at the first opening.
  /// - Throws: ``ConformanceFailure``, or an error of the store.
  public static func checkReopening(
    demands: Demands = .all, _ store: () throws -> PersistentStoreDescription
  ) throws {
    let first = try Stack(store(), demands: demands)
    let context = first.context()
    let ada = try context.person("Ada", age: 36)
    try ada.set("tags", to: [context.tag("a"), context.tag("b")])
    let department = try context.department("Sales", board: [context.person("Bob"), ada])
    try context.save()
    let last = try context.person("Last")
    try context.save()
    let lastID = last.objectID
    context.delete(last)
    try context.save()
    // Each opening has a model of its own, so that IDs are compared as URIs.
    let (identifier, uri) = (first.store.identifier, ada.objectID.uriRepresentation)
    let board = department.get("board").uris
    try first.coordinator.close()

    let second = try Stack(store(), demands: demands)
    let again = second.context()
    try expect(second.store.identifier, equals: identifier, "the identifier")
    guard let id = second.coordinator.managedObjectID(forURIRepresentation: uri) else {
      throw ConformanceFailure(description: "a URI of the store stands for no object of it")
    }
    let found = try again.existingObject(with: id)
    try expect(found.get("age"), equals: .int(36), "a value")
    try expect(found.get("tags").memberCount, equals: 2, "the number of pairs of a many-to-many relationship")
    try expect(
      try again.all("Department").first?.get("board").uris, equals: board, "the order of an ordered relationship")
    var ids = Set(try again.all("Person").map { $0.objectID.uriRepresentation })
    ids.insert(lastID.uriRepresentation)
    let new = try again.person("New")
    try again.save()
    try expect(!ids.contains(new.objectID.uriRepresentation), "an ID was given again")
    try second.coordinator.close()
  }
}

/// What a store does wrong.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// What it does, in words.
  public let description: String
}

/// Throws a ``ConformanceFailure`` unless the condition holds.
func expect(_ condition: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String) throws {
  guard try condition() else { throw ConformanceFailure(description: message()) }
}

/// Throws a ``ConformanceFailure`` unless both are equal.
func expect<T: Equatable>(_ found: T, equals expected: T, _ what: String) throws {
  guard found == expected else {
    throw ConformanceFailure(description: "\(what): expected \(expected), found \(found)")
  }
}

/// Runs `body`, which must throw an error that `isExpected` accepts.
func expectError(_ what: String, _ isExpected: (ManagedObjectError) -> Bool, _ body: () throws -> Void) throws {
  do {
    try body()
  } catch let error as ManagedObjectError where isExpected(error) {
    return
  } catch {
    throw ConformanceFailure(description: "\(what): it throws \(error)")
  }
  throw ConformanceFailure(description: "\(what): it throws nothing")
}
