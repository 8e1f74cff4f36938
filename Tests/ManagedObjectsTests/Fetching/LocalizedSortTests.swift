import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Stores' own order is a case of the conformance suite; this is the order of what isn't saved yet, of controllers and of
/// arrays.
@Suite("Sorting text by language")
struct LocalizedSortTests {
  private let words = ["Zebra", "apple", "file 10", "Äpfel", "file 2", "Apple", "éta", "Eta", "zebra", "ßa", "ssb"]
  private let ordered = [
    "Äpfel", "apple", "Apple", "Eta", "éta", "file 2", "file 10", "ßa", "ssb", "zebra", "Zebra",
  ]

  private func request(_ comparison: FetchSortDescriptor.Comparison = .localizedStandard) -> FetchRequest<Person> {
    FetchRequest(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name", comparison: comparison)])
  }

  @Test("is the same for saved objects, for unsaved ones among them, and for arrays", arguments: StoreKind.allCases)
  func everywhere(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for word in words.prefix(6) { try context.person(word) }
    try context.save()
    for word in words.dropFirst(6) { try context.person(word) }
    #expect(try context.fetch(request()).map { $0.name ?? "" } == ordered)
    let controller = FetchedResultsController<Person>(fetchRequest: request(), managedObjectContext: context)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map { $0.name ?? "" } == ordered)
    let people = try context.all(Person.self).shuffled()
    #expect(try people.sorted(using: request().sortDescriptors).map { $0.name ?? "" } == ordered)
    #expect(try people.sorted(using: [FetchSortDescriptor]()) == people)
    try context.save()
    #expect(try stack.context().fetch(request()).map { $0.name ?? "" } == ordered)
    #expect(throws: FetchPredicateError.self) { try people.sorted(using: [FetchSortDescriptor("nome")]) }
  }

  @Test("puts an object that appears, or changes its name, where a fetch would find it", arguments: StoreKind.allCases)
  func controllers(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let controller = FetchedResultsController<Person>(fetchRequest: request(), managedObjectContext: context)
    try controller.performFetch()
    let list = ListView(controller) { $0.name ?? "-" }
    controller.delegate = list
    var made: [Person] = []
    for word in words.shuffled() {
      made.append(try context.person(word))
      context.processPendingChanges()
      #expect(try controller.fetchedObjects?.map(\.objectID) == context.fetchIDs(request()))
    }
    made[0].name = "Ærö"
    context.processPendingChanges()
    #expect(try controller.fetchedObjects?.map(\.objectID) == context.fetchIDs(request()))
  }

  @Test("doesn't depend on how a text is written, nor on its length")
  func keys() {
    let key = TextCollation.localizedStandard.key
    #expect(key("Z\u{FC}rich") == key("Zu\u{308}rich"))
    #expect(key("") == Data() || key("").count < key("a").count)
    let long = String(repeating: "é", count: 100_000)
    #expect(key(long + "a").lexicographicallyPrecedes(key(long + "b")))
    #expect(
      TextCollation.localizedCaseInsensitive.key(of: "ROLE") == TextCollation.localizedCaseInsensitive.key(of: "role"))
    #expect(TextCollation.localized.key(of: "role").lexicographicallyPrecedes(TextCollation.localized.key(of: "Role")))
    #expect(TextCollation.localized.key(of: "Role").lexicographicallyPrecedes(TextCollation.localized.key(of: "rôle")))
  }

  @Test("is asked for by Core Data's selectors, and any other is refused by name")
  func selectors() throws {
    let known = try FetchSortDescriptor(key: "name", ascending: false, selector: "localizedStandardCompare:")
    #expect(known == FetchSortDescriptor("name", ascending: false, comparison: .localizedStandard))
    #expect(try FetchSortDescriptor.Comparison(selector: "caseInsensitiveCompare") == .caseInsensitive)
    let error = #expect(throws: FetchPredicateError.self) {
      try FetchSortDescriptor(key: "name", ascending: true, selector: "finderCompare:")
    }
    #expect("\(try #require(error))".contains("sorting by finderCompare:"))
    let context = try CompanyStack(.inMemory).context()
    #expect(throws: FetchPredicateError.self) {
      try context.fetch(
        FetchRequest<Person>(
          entityName: "Person", sortDescriptors: [FetchSortDescriptor("age", comparison: .localizedStandard)]))
    }
  }
}
