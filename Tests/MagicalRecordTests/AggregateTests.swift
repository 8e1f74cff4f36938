import Foundation
import MagicalRecord
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// MagicalRecord's aggregates, controllers and lesser conveniences, with a context given.
@Suite("Aggregating and following by class")
struct AggregateTests {
  /// Acme employs Ada 30, Bob 41; Bell employs Cid 50; Eve has no employer and no age.
  private func people(_ kind: StoreKind) throws -> (CompanyStack, ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, bell) = (try context.company("Acme"), try context.company("Bell"))
    for (name, age, employer) in [("Ada", 30, acme), ("Bob", 41, acme), ("Cid", 50, bell)] {
      try context.person(name, age: Int32(age)).employer = employer
    }
    try context.person("Eve")
    try context.save()
    return (stack, context)
  }

  @Test("makes one value of many, by the attribute's name", arguments: StoreKind.allCases)
  func operations(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    func value(_ function: ExpressionDescription.Aggregate, _ format: String? = nil) throws -> Value {
      let predicate = try format.map { try FetchPredicate(format: $0) }
      return try Person.aggregateOperation(function, onAttribute: "age", matching: predicate, in: context)
    }
    #expect(try value(.sum) == .int(121))
    #expect(try value(.count) == .int(3))
    #expect(try value(.minimum) == .int(30))
    #expect(try value(.maximum, "employer.name == 'Acme'") == .int(41))
    #expect(try value(.average, "employer.name == 'Acme'") == .double(35.5))
    #expect(try value(.sum, "age > 100") == .int(0))
    #expect(try value(.average, "age > 100") == .null)
    #expect(
      try Person.aggregateOperation(.maximum, onAttribute: "employer.name", in: context) == .string("Bell"))
    #expect(throws: FetchRequestError.self) {
      try Person.aggregateOperation(.sum, onAttribute: "name", in: context)
    }
  }

  @Test("makes one value of each group", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let rows = try Person.aggregateOperation(
      .sum, onAttribute: "age", matching: .notEqual("age", .null), groupBy: "employer.name", in: context)
    #expect(rows.map { $0["employer.name"] } == ["Acme", "Bell"] as [String?])
    #expect(rows.map { $0[Person.aggregateKey] } == [71, 50] as [Int?])
  }

  @Test("makes one value of many, by key path", arguments: StoreKind.allCases)
  func typed(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let acme = FetchPredicate.equal("employer.name", .string("Acme"))
    #expect(try Person.sum(of: \.age, in: context) == 121)
    #expect(try Person.average(of: \.age, matching: acme, in: context) == 35.5)
    #expect(try Person.minimum(of: \.name, in: context) == "Ada")
    #expect(try Person.maximum(of: \.employer?.name, in: context) == "Bell")
    let sample = try context.insert(Sample.self)
    (sample.amount, sample.ratio) = (Decimal(string: "0.1"), 0.5)
    try context.save()
    #expect(try Sample.sum(of: \.amount, in: context) == Decimal(string: "0.1"))
    #expect(try Sample.average(of: \.amount, in: context) == Decimal(string: "0.1"))
    #expect(try Sample.maximum(of: \.ratio, in: context) == 0.5)
    #expect(try City.sum(of: \.code, in: context) == 0)
    #expect(try City.maximum(of: \.code, in: context) == nil)
  }

  @Test("brings the values of an attribute, in order", arguments: StoreKind.allCases)
  func select(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    #expect(
      try Person.selectAttribute("age", ascending: false, matching: .notEqual("age", .null), in: context) == [
        .int(50), .int(41), .int(30),
      ])
  }

  @Test("gives a controller that has fetched, in sections, and follows", arguments: StoreKind.allCases)
  func controllers(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let grown = FetchPredicate.notEqual("age", .null)
    let controller = try Person.fetchAll(
      groupedBy: "employer.name", matching: grown, sortedBy: "age:NO", in: context)
    #expect(controller.sections?.map(\.name) == ["Acme", "Bell"])
    #expect(controller.fetchedObjects?.map(\.name) == ["Bob", "Ada", "Cid"])
    let changes = ChangeCounter()
    controller.delegate = changes
    try context.named("Eve", Person.self)?.age = 7
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.map(\.name) == ["Eve", "Bob", "Ada", "Cid"])
    #expect(changes.count == 1)
    let all = try Person.fetchAll(delegate: nil, in: context)
    #expect(all.fetchedObjects?.count == 4)
    #expect(all.sectionNameKeyPath == nil)
  }

  @Test("makes requests for the first, and carries them out", arguments: StoreKind.allCases)
  func requests(_ kind: StoreKind) throws {
    let (_, context) = try people(kind)
    let request = try Person.requestFirst(by: "name", with: "Bob", in: context)
    #expect(try Person.executeFetchRequest(request, in: context).map(\.age) == [41])
    #expect(try Person.executeFetchRequestAndReturnFirstObject(request, in: context)?.age == 41)
    #expect(try Person.requestFirst(in: context).fetchLimit == 1)
    #expect(try Person.entityDescription(in: context).name == "Person")
    let other = ManagedObjectContext(.confinement, coordinator: context.persistentStoreCoordinator)
    let ada = try Person.findFirst(orderedBy: "name", andRetrieve: ["name"], in: other)
    #expect(ada?.isFault == true && ada?.age == 30)
    #expect(
      try Person.sortAscending(false, attributes: ["name", "age:YES"]) == [
        FetchSortDescriptor("name", ascending: false), FetchSortDescriptor("age"),
      ])
  }

  @Test("deletes in another context, and reports what is gone", arguments: StoreKind.allCases)
  func otherContext(_ kind: StoreKind) throws {
    let (stack, context) = try people(kind)
    let other = stack.context()
    let ada = try #require(try context.named("Ada", Person.self))
    #expect(try ada.deleteEntity(in: other))
    #expect(!ada.isEntityDeleted)
    try other.save()
    #expect(try !ada.deleteEntity(in: stack.context()))
    let new = try Manager.createEntity(with: Manager.entityDescription(in: context), in: context)
    new.name = nil
    #expect(!new.isValidForInsert)
    #expect(try new.inContextIfTemporaryObject(other) === new)
    new.name = "New"
    #expect(new.isValidForInsert)
    try new.obtainPermanentObjectID()
    #expect(!new.objectID.isTemporaryID)
    try context.save()
    #expect(try new.inContextIfTemporaryObject(other) !== new)
    try new.inContext(other).name = "Newer"
    try other.save()
    new.refresh()
    #expect(new.name == "Newer")
    context.deleteObjects([new])
    #expect(new.isEntityDeleted)
    #expect(throws: ManagedObjectError.self) {
      try Manager.createEntity(with: Company.entityDescription(in: context), in: context)
    }
  }
}

/// Counts the changes of content that a controller reports.
private final class ChangeCounter: FetchedResultsControllerDelegate {
  private(set) var count = 0
  func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { count += 1 }
}
