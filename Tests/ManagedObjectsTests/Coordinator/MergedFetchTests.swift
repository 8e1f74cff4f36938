import Foundation
import ManagedObjects
import TestSupport
import Testing

/// Everything is asked of two stores and of one that holds the same: the answers are the same.
@Suite("Fetching from several stores")
struct MergedFetchTests {
  /// Twelve animals, every third without a weight and a price, of three owners of whom each store has its own.
  private func fill(_ stack: HerdStack) throws {
    let context = stack.context()
    var owners: [String: ManagedObject] = [:]
    for index in 0..<12 {
      let store = stack.stores[index % 5 % stack.stores.count]
      let name = "o\(index % 3)"
      let key = name + store.identifier
      let owner = try owners[key] ?? context.insert("Owner")
      if owners.updateValue(owner, forKey: key) == nil {
        try owner.setValue(.string(name), forKey: "name")
        try context.assign(owner, to: store)
      }
      let animal = try context.animal(
        index % 2 == 0 ? "a\((index * 7) % 12)" : "A\((index * 7) % 12)", index % 4 == 0 ? "Cat" : "Dog",
        legs: index % 3 == 0 ? nil : index % 4, in: store)
      if index % 3 != 1 {
        try animal.setValue(.double(Double(index) / 4), forKey: "weight")
        try animal.setValue(.decimal(Decimal(index) / 10), forKey: "price")
      }
      if index % 6 != 5 { try animal.setValue(.object(owner.objectID), forKey: "owner") }
    }
    try context.save()
  }

  private func stacks(_ pair: StorePair) throws -> (one: ManagedObjectContext, two: ManagedObjectContext) {
    let (one, two) = (try HerdStack([pair.first], configurations: ["herd"]), try HerdStack(pair))
    try fill(one)
    try fill(two)
    return (one.context(), two.context())
  }

  private typealias Change = (inout FetchRequest<ManagedObject>) -> Void

  private let requests: [(inout FetchRequest<ManagedObject>) -> Void] = [
    { _ in },
    { $0.sortDescriptors = [FetchSortDescriptor("name", ascending: false, comparison: .caseInsensitive)] },
    { $0.sortDescriptors = [FetchSortDescriptor("name", comparison: .localizedStandard)] },
    { $0.sortDescriptors = [FetchSortDescriptor("legs"), FetchSortDescriptor("name", ascending: false)] },
    { $0.sortDescriptors = [FetchSortDescriptor("owner.name", ascending: false), FetchSortDescriptor("name")] },
    { $0.sortDescriptors = [FetchSortDescriptor("price", ascending: false), FetchSortDescriptor("name")] },
    { ($0.fetchOffset, $0.fetchLimit) = (3, 4) },
    { $0.fetchOffset = 11 },
    { ($0.fetchOffset, $0.fetchLimit) = (20, 2) },
    { $0.entityName = "Dog" },
    { $0.predicate = .equal("legs", .int(2)) },
    { request in
      request.sortDescriptors = [FetchSortDescriptor("owner.name"), FetchSortDescriptor("weight"), .init("name")]
      (request.fetchOffset, request.fetchLimit) = (2, 5)
    },
    { $0.propertiesToFetch = ["legs"] },
    { $0.fetchBatchSize = 2 },
    { $0.includesPropertyValues = false },
    { $0.relationshipKeyPathsForPrefetching = ["owner"] },
  ]

  @Test("brings what one store would, in order and page by page", arguments: StorePair.all)
  func objects(_ pair: StorePair) throws {
    let (one, two) = try stacks(pair)
    for request in requests {
      #expect(try two.herd(request) == one.herd(request))
      #expect(try two.count(for: two.herdRequest(request)) == one.count(for: one.herdRequest(request)))
      let (ids, known) = (try two.fetchIDs(two.herdRequest(request)), try one.fetchIDs(one.herdRequest(request)))
      #expect(ids.map { two.object(with: $0).text("name") } == known.map { one.object(with: $0).text("name") })
      #expect(Set(ids).count == ids.count)
      let batched = try two.fetchBatched(two.herdRequest(request))
      #expect(try batched.map { $0.text("name") ?? "nil" } == one.herd(request))
    }
  }

  @Test("has pages that don't overlap where nothing says an order", arguments: StorePair.all)
  func unordered(_ pair: StorePair) throws {
    let (_, two) = try stacks(pair)
    var seen: [ManagedObjectID] = []
    for page in 0..<4 {
      seen += try two.fetchIDs(
        two.herdRequest {
          $0.sortDescriptors = []
          ($0.fetchOffset, $0.fetchLimit) = (page * 3, 3)
        })
    }
    #expect(Set(seen).count == 12)
    #expect(try Set(two.fetch(two.herdRequest { $0.sortDescriptors = [] }).map(\.objectID)) == Set(seen))
  }

  @Test("counts unsaved changes in", arguments: StorePair.all)
  func pending(_ pair: StorePair) throws {
    let (one, two) = try stacks(pair)
    for context in [one, two] {
      try context.animal("a3x", in: context.persistentStoreCoordinator.persistentStores.last)
      let objects = try context.fetch(context.herdRequest())
      context.delete(objects[4])
      try objects[6].setValue(.string("zz"), forKey: "name")
    }
    for request in requests.prefix(11) { #expect(try two.herd(request) == one.herd(request)) }
    try two.save()
    #expect(try two.herd().count == 12)
  }

  @Test("brings dictionaries as one store would", arguments: StorePair.all)
  func dictionaries(_ pair: StorePair) throws {
    let (one, two) = try stacks(pair)
    func aggregate(_ name: String, _ expression: ExpressionDescription.Expression) -> FetchedProperty {
      .expression(ExpressionDescription(name, expression))
    }
    let all: [FetchedProperty] = [
      aggregate("n", .count()), aggregate("weights", .count("weight")), aggregate("feet", .sum("legs")),
      aggregate("weight", .sum("weight")), aggregate("price", .sum("price")), aggregate("least", .minimum("name")),
      aggregate("most", .maximum("price")), aggregate("leg", .average("legs")), aggregate("mean", .average("weight")),
      aggregate("dear", .average("price")),
    ]
    let having = try FetchPredicate(format: "n > 2")
    let computed: [FetchedProperty] = [
      .expression(try ExpressionDescription("spread", format: "max:(weight) - min:(weight)")),
      .expression(try ExpressionDescription("mean", format: "average:(legs * 2)")),
      .expression(try ExpressionDescription("half", format: "average:(legs / 2.0)")),
      .expression(try ExpressionDescription("dear", format: "sum:(price * 2) + count:(SELF)")),
      .expression(try ExpressionDescription("label", format: "TERNARY(count:(SELF) > 1, max:(name), 'one')")),
    ]
    let each = FetchedProperty.expression(try ExpressionDescription("each", format: "weight * 2 + legs"))
    let changes: [Change] = [
      { $0.propertiesToFetch = ["name", "owner.name", "legs"] },
      { request in
        request.propertiesToFetch = computed
        request.sortDescriptors = []
      },
      { request in
        request.propertiesToFetch = computed + ["owner.name"]
        request.propertiesToGroupBy = ["owner.name", "legs"]
        request.sortDescriptors = [FetchSortDescriptor("label", ascending: false), FetchSortDescriptor("dear")]
      },
      { request in
        request.propertiesToFetch = [each, "name"]
        request.sortDescriptors = [FetchSortDescriptor("each", ascending: false), FetchSortDescriptor("tag")]
        (request.fetchOffset, request.fetchLimit) = (1, 6)
      },
      { request in
        request.propertiesToFetch = [each, .expression(ExpressionDescription("n", .count()))]
        request.propertiesToGroupBy = ["each"]
        request.sortDescriptors = [FetchSortDescriptor("each")]
      },
      { request in
        request.propertiesToFetch = ["legs"]
        request.sortDescriptors = [FetchSortDescriptor("owner.name"), FetchSortDescriptor("name")]
        (request.fetchOffset, request.fetchLimit) = (1, 6)
      },
      { request in
        request.propertiesToFetch = ["legs", "owner.name"]
        request.returnsDistinctResults = true
        request.sortDescriptors = [FetchSortDescriptor("legs", ascending: false)]
        (request.fetchOffset, request.fetchLimit) = (1, 3)
      },
      { request in
        request.propertiesToFetch = all
        request.sortDescriptors = []
      },
      { request in
        request.propertiesToFetch = all
        request.sortDescriptors = []
        request.predicate = .equal("name", .string("nobody"))
      },
      { request in
        request.propertiesToFetch = all + ["legs"]
        request.propertiesToGroupBy = ["legs"]
        request.sortDescriptors = [FetchSortDescriptor("n", ascending: false), FetchSortDescriptor("legs")]
        request.fetchLimit = 3
      },
      { request in
        request.propertiesToFetch = all
        request.propertiesToGroupBy = ["owner.name"]
        request.havingPredicate = having
        request.sortDescriptors = [FetchSortDescriptor("owner.name")]
      },
      { request in
        request.propertiesToFetch = ["owner.name", aggregate("kinds", .count("legs", distinct: true))]
        request.propertiesToGroupBy = ["owner.name"]
        request.sortDescriptors = [FetchSortDescriptor("owner.name")]
      },
      { request in
        request.propertiesToFetch = [aggregate("owners", .count("owner.name", distinct: true))]
        request.sortDescriptors = []
      },
    ]
    for change in changes {
      let (mine, theirs) = (two.herdRequest(change), one.herdRequest(change))
      #expect(try two.fetchDictionaries(mine) == one.fetchDictionaries(theirs))
    }
    let objects = try two.fetchDictionaries(two.herdRequest { $0.propertiesToFetch = ["objectID", "owner"] })
    #expect(Set(objects.compactMap { $0.objectID(forKey: "objectID") }).count == 12)
  }

  @Test("looks in the stores that a request names only", arguments: StorePair.all)
  func affectedStores(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    for (index, store) in stack.stores.enumerated() { try context.animal("saved \(index)", in: store) }
    try context.save()
    for (index, store) in stack.stores.enumerated() { try context.animal("new \(index)", "Cat", in: store) }
    for (index, store) in stack.stores.enumerated() {
      #expect(try context.herd { $0.affectedStores = [store] } == ["new \(index)", "saved \(index)"])
      let request = context.herdRequest { $0.affectedStores = [store] }
      #expect(try context.count(for: request) == 2)
      #expect(try context.fetchDictionaries(request).map { $0["name"] } == ["saved \(index)"])
    }
    #expect(try context.herd { $0.affectedStores = stack.stores }.count == 4)
    let other = try HerdStack([.inMemory], configurations: [nil])
    #expect(throws: PersistentStoreError.unknownStore(identifier: other.stores[0].identifier)) {
      try context.herd { $0.affectedStores = other.stores }
    }
    #expect(throws: PersistentStoreError.notHeld(entity: "Animal", stores: [])) {
      try context.herd { $0.affectedStores = [] }
    }
    let split = try HerdStack(pair, ["dogs", "cats"])
    #expect(throws: PersistentStoreError.notHeld(entity: "Cat", stores: [split.stores[0].identifier])) {
      try split.context().herd { ($0.entityName, $0.affectedStores) = ("Cat", [split.stores[0]]) }
    }
  }

  @Test("finds all of a superentity whose subentities other stores hold", arguments: StorePair.all)
  func superentities(_ pair: StorePair) throws {
    let stack = try HerdStack(pair, ["dogs", "cats"])
    let context = stack.context()
    let (rex, tom) = (try context.animal("Rex"), try context.animal("Tom", "Cat"))
    let yak = try context.animal("Yak", "Animal")
    try rex.setValue(.int(3), forKey: "tricks")
    try context.save()
    #expect(rex.objectID.storeIdentifier == stack.stores[0].identifier)
    #expect(tom.objectID.storeIdentifier == stack.stores[1].identifier)
    #expect(yak.objectID.storeIdentifier == stack.stores[1].identifier)
    let reader = stack.context()
    #expect(try reader.herd() == ["Rex", "Tom", "Yak"])
    #expect(try reader.herd { $0.predicate = .equal("legs", .int(4)) }.count == 3)
    #expect(try reader.herd { $0.includesSubentities = false } == ["Yak"])
    #expect(try reader.herd { $0.entityName = "Dog" } == ["Rex"])
    #expect(try reader.count(for: reader.herdRequest()) == 3)
    let objects = try reader.fetch(reader.herdRequest())
    #expect(objects.map(\.entity.name) == ["Dog", "Cat", "Animal"])
    #expect(objects[0].value(forKey: "tricks") == .int(3))
    #expect(
      try reader.fetchDictionaries(reader.herdRequest { $0.propertiesToFetch = ["objectID"] })
        .compactMap { $0.objectID(forKey: "objectID") } == objects.map(\.objectID))
    // By the superentity, as somebody who doesn't know better would say it.
    let uri = rex.objectID.uriRepresentation.absoluteString.replacingOccurrences(of: "/Dog/", with: "/Animal/")
    let id = try #require(URL(string: uri).flatMap(stack.coordinator.managedObjectID(forURIRepresentation:)))
    #expect(try stack.context().existingObject(with: id).text("name") == "Rex")
    try rex.setValue(.object(rex.objectID), forKey: "friend")
    try context.save()
    #expect(try stack.context().existingObject(with: rex.objectID).value(forKey: "friend") == .object(rex.objectID))
  }

  @Test("finds no objects behind relationships to what another store holds", arguments: StorePair.all)
  func elsewhere(_ pair: StorePair) throws {
    let stack = try HerdStack(pair, ["dogs", "strays"])
    let context = stack.context()
    let (rex, owner) = (try context.animal("Rex"), try context.insert("Owner"))
    try owner.setValue(.string("Ann"), forKey: "name")
    try rex.setValue(.object(owner.objectID), forKey: "owner")
    try context.animal("Tom", "Cat")
    try context.save()
    let reader = stack.context()
    let expected = [
      "owner.name == 'Ann'": ["Rex"], "owner.name == nil": ["Tom"], "owner == nil": ["Tom"],
      "owner.name != 'Bob'": ["Rex", "Tom"], "NOT owner.name BEGINSWITH 'A'": ["Tom"],
      "owner.animals.@count == 0": ["Tom"], "ANY owner.animals.name == 'Rex'": ["Rex"],
      "owner.animals.@sum.legs < 4": ["Tom"], "friend.owner.name == nil": ["Rex", "Tom"],
      "SUBQUERY(owner.animals, $a, $a.legs == 4).@count == 1": ["Rex"], "owner.name CONTAINS[c] 'AN'": ["Rex"],
    ]
    for (format, names) in expected {
      let predicate = try FetchPredicate(format: format)
      #expect(try reader.herd { $0.predicate = predicate } == names, "\(format)")
    }
    #expect(try reader.herd { $0.sortDescriptors = [FetchSortDescriptor("owner.name")] } == ["Tom", "Rex"])
    let request = reader.herdRequest { request in
      request.propertiesToFetch = ["owner.name", .expression(ExpressionDescription("n", .count()))]
      request.propertiesToGroupBy = ["owner.name"]
      request.sortDescriptors = [FetchSortDescriptor("owner.name")]
    }
    #expect(try reader.fetchDictionaries(request).map { $0["owner.name"] } == [nil, "Ann"])
  }

  @Test("reads a pinned state of all stores", arguments: StorePair.all)
  func generations(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let writer = stack.context()
    let old = try stack.stores.enumerated().map { try writer.animal("old \($0)", in: $1) }
    try writer.save()
    let pinned = stack.context()
    try pinned.setQueryGenerationFrom(.current)
    #expect(try pinned.herd() == ["old 0", "old 1"])
    for (index, store) in stack.stores.enumerated() { try writer.animal("new \(index)", in: store) }
    try old[1].setValue(.string("other"), forKey: "name")
    try writer.save()
    #expect(try pinned.herd() == ["old 0", "old 1"])
    try pinned.setQueryGenerationFrom(nil)
    #expect(try pinned.herd { $0.shouldRefreshRefetchedObjects = true } == ["new 0", "new 1", "old 0", "other"])
  }

  @Test("is followed by a controller, in the stores that its request names", arguments: StorePair.all)
  func controllers(_ pair: StorePair) throws {
    let stack = try HerdStack(pair)
    let context = stack.context()
    for (index, store) in stack.stores.enumerated() { try context.animal("a\(index)", in: store) }
    try context.save()
    let whole = FetchedResultsController(fetchRequest: context.herdRequest(), managedObjectContext: context)
    let part = FetchedResultsController(
      fetchRequest: context.herdRequest { $0.affectedStores = [stack.stores[1]] }, managedObjectContext: context)
    try whole.performFetch()
    try part.performFetch()
    for (index, store) in stack.stores.enumerated() { try context.animal("b\(index)", in: store) }
    context.processPendingChanges()
    #expect(whole.fetchedObjects?.map { $0.text("name") } == ["a0", "a1", "b0", "b1"])
    #expect(part.fetchedObjects?.map { $0.text("name") } == ["a1", "b1"])
    try context.save()
    #expect(part.fetchedObjects?.map { $0.text("name") } == ["a1", "b1"])
    let other = stack.context()
    for (index, store) in stack.stores.enumerated() { try other.animal("c\(index)", in: store) }
    if let save = try other.saveAndTell() { context.mergeChanges(fromContextDidSave: save) }
    #expect(whole.fetchedObjects?.count == 6)
    #expect(part.fetchedObjects?.map { $0.text("name") } == ["a1", "b1", "c1"])
  }
}
