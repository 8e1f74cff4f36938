import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// What CoreDataPlus's tests say of coordinators, their stores' metadata and fetched properties.
@Suite("What programs expect of a coordinator")
struct StoreHabitsTests {
  private func coordinator(_ file: URL) throws -> (PersistentStoreCoordinator, PersistentStore) {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    return (coordinator, try coordinator.addPersistentStore(.sqlite(at: file)))
  }

  @Test("metadata has the model's hashes and what a program notes, for the next one, too")
  func metadata() throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("noted.sqlite")
    let (first, store) = try coordinator(file)
    let metadata = try first.metadata(for: store)
    #expect(metadata.modelVersionHashes["Person"] != nil && metadata.modelVersionHashes["Company"] != nil)
    #expect(!metadata.storeType.isEmpty && metadata.storeIdentifier == store.identifier)
    try first.setMetadata(["testKey": "Test"], for: store)
    #expect(try first.metadata(for: store).userInfo["testKey"] == "Test")
    let (second, same) = try coordinator(file)
    #expect(try second.metadata(for: same).userInfo["testKey"] == "Test")
    try first.remove(store)
    let again = try first.addPersistentStore(.sqlite(at: file))
    #expect(try first.metadata(for: again).userInfo["testKey"] == "Test")
  }

  @Test("one save in each of two stores: each request finds what its stores have")
  func affectedStores() throws {
    let scratch = try ScratchDirectory()
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    let stores = try ["1", "2"].map { try coordinator.addPersistentStore(.sqlite(at: scratch.file("\($0).sqlite"))) }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let people = try stores.map { store in
      let person = try context.person("Ada")
      try context.assign(person, to: store)
      try context.save()
      return person.objectID
    }
    context.reset()
    func request(_ stores: [PersistentStore]?) -> FetchRequest<Person> {
      var request = FetchRequest<Person>(entityName: "Person", predicate: .equal("name", "Ada"))
      request.affectedStores = stores
      return request
    }
    #expect(try context.count(for: request(nil)) == 2 && context.fetchIDs(request(nil)) == people)
    for (store, id) in zip(stores, people) {
      #expect(try context.count(for: request([store])) == 1 && context.fetchIDs(request([store])) == [id])
      #expect(try context.fetch(request([store])).map(\.objectID) == [id])
    }
    var first = request(nil)
    first.fetchLimit = 1
    // Both have the same number in their store, and then the identifiers of the stores decide.
    let least = try #require(zip(stores, people).min { $0.0.identifier < $1.0.identifier }).1
    #expect(people[0].number == people[1].number)
    #expect(try context.fetch(first).map(\.objectID) == [least])
    for person in try context.fetch(request([stores[0]])) { context.delete(person) }
    #expect(try context.count(for: request([stores[0]])) == 0 && context.count(for: request([stores[1]])) == 1)
    try context.save()
    var insert = BatchInsertRequest(entityName: "Person", objects: [["name": "Bob"], ["name": "Cid"]])
    insert.affectedStores = [stores[1]]
    try context.execute(insert)
    var update = BatchUpdateRequest(entityName: "Person")
    (update.propertiesToUpdate, update.affectedStores) = (["age": 7], [stores[0]])
    update.resultType = .count
    #expect(try context.execute(update).count == 0)
    var delete = BatchDeleteRequest(fetchRequest: FetchRequest<Person>(entityName: "Person"))
    (delete.affectedStores, delete.resultType) = ([stores[1]], .count)
    #expect(try context.execute(delete).count == 3)
    #expect(try context.count(for: FetchRequest<Person>(entityName: "Person")) == 0)
  }

  @Test("a store that moves to another file is removed and added, and IDs that programs hold lead to it")
  func migrated() throws {
    let scratch = try ScratchDirectory()
    let (coordinator, store) = try coordinator(scratch.file("old.sqlite"))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let people = [try context.person("Ada"), try context.person("Bob")]
    try context.save()
    let held = people.map(\.objectID)
    context.reset()
    let told = Recorder<String>()
    let observer = NotificationCenter.default.addObserver(
      forName: PersistentStoreCoordinator.storesDidChangeNotification, object: coordinator, queue: nil
    ) { note in
      for (key, stores) in note.userInfo as? [String: [PersistentStore]] ?? [:] {
        for store in stores { told.note("\(key) \(store.url?.lastPathComponent ?? "-")") }
      }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let moved = try coordinator.migratePersistentStore(store, to: .sqlite(at: scratch.file("new.sqlite")))
    #expect(coordinator.persistentStores == [moved])
    #expect(try held.map { (try context.existingObject(with: $0) as? Person)?.name } == ["Ada", "Bob"])
    try coordinator.remove(moved)
    #expect(told.items.sorted() == ["added new.sqlite", "removed new.sqlite", "removed old.sqlite"])
  }

  @Test("a fetched property finds objects by the values and annotations of its own")
  func fetchedProperties() throws {
    var author = EntityDefinition("Author", attributes: [AttributeDefinition("alias", .string)])
    author.fetchedProperties = [
      FetchedPropertyDefinition("reviews", entityName: "Review", predicateFormat: "author == $FETCH_SOURCE.alias"),
      FetchedPropertyDefinition(
        "praise", entityName: "Review",
        predicateFormat: "author == $FETCH_SOURCE.alias AND text CONTAINS $FETCHED_PROPERTY.userInfo.search",
        userInfo: ["search": "great"]),
    ]
    let review = EntityDefinition(
      "Review", attributes: [AttributeDefinition("author", .string), AttributeDefinition("text", .string)])
    let model = try ManagedObjectModel(entities: [author, review])
    for kind in StoreKind.allCases {
      let context = try CompanyStack(kind, model: model).context()
      let ada = try context.insert("Author")
      try ada.setValue("Ada", forKey: "alias")
      for (name, text) in [("Ada", "great book"), ("Ada", "great reading"), ("Ada", "interesting"), ("Bob", "great")] {
        try context.insert("Review").setValuesForKeys(["author": .string(name), "text": .string(text)])
      }
      try context.save()
      context.reset()
      let again = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).first)
      let (reviews, praise): ([ManagedObject], [ManagedObject]) = (
        try again.fetchedObjects(forKey: "reviews"), try again.fetchedObjects(forKey: "praise")
      )
      #expect(reviews.count == 3 && praise.count == 2)
    }
  }

  @Test("a store that isn't there isn't migrated")
  func missing() throws {
    let scratch = try ScratchDirectory()
    let url = scratch.file("folder/nothing.sqlite")
    #expect(throws: (any Error).self) {
      _ = try PersistentStoreCoordinator.metadataForPersistentStore(at: url)
    }
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }
}
