import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Fetch requests and fetched properties of the model")
struct FetchTemplateTests {
  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext

  private static let model: ManagedObjectModel = {
    var person = EntityDefinition(
      "Person",
      attributes: [AttributeDefinition("name", .string), AttributeDefinition("age", .integer32)],
      relationships: [
        RelationshipDefinition("city", to: "City", inverse: "people"),
        RelationshipDefinition("friends", to: "Person", inverse: "friends", isToMany: true),
      ])
    person.fetchedProperties = [
      FetchedPropertyDefinition(
        "elders", entityName: "Person", predicateFormat: "age > $FETCH_SOURCE.age AND SELF != $FETCH_SOURCE"),
      FetchedPropertyDefinition(
        "neighbours", entityName: "Person", predicateFormat: "city == $FETCH_SOURCE.city AND SELF != $FETCH_SOURCE"),
      FetchedPropertyDefinition("weather", entityName: "Report", predicateFormat: "place == $FETCH_SOURCE.city.name"),
      FetchedPropertyDefinition("circle", entityName: "Person", predicateFormat: "SELF IN $FETCH_SOURCE.friends"),
      FetchedPropertyDefinition(
        "storms", entityName: "Report", predicateFormat: "text CONTAINS $FETCHED_PROPERTY.userInfo.word",
        userInfo: ["word": "storm"]),
      FetchedPropertyDefinition("wrong", entityName: "Person", predicateFormat: "name == $OTHER"),
    ]
    var few = FetchRequestTemplateDefinition("few", entityName: "Person", predicateFormat: nil, fetchLimit: 1)
    few.includesSubentities = false
    do {
      return try ManagedObjectModel(
        entities: [
          person, EntityDefinition("Child", parent: "Person"),
          EntityDefinition(
            "City", attributes: [AttributeDefinition("name", .string)],
            relationships: [RelationshipDefinition("people", to: "Person", inverse: "city", isToMany: true)]),
          EntityDefinition(
            "Report", attributes: [AttributeDefinition("place", .string), AttributeDefinition("text", .string)]),
        ], configurations: ["reports": ["Report"]],
        fetchRequestTemplates: [
          FetchRequestTemplateDefinition(
            "inCity", entityName: "Person", predicateFormat: "city == $city AND age IN $ages"),
          FetchRequestTemplateDefinition("byName", entityName: "Person", predicateFormat: "name BEGINSWITH $beginning"),
          few,
        ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: Self.model)
    try coordinator.addPersistentStore(.inMemory(configuration: "reports"))
    try coordinator.addPersistentStore(.sqlite(at: directory.file("people.sqlite")))
    context = ManagedObjectContext(.confinement, coordinator: coordinator)
  }

  private func insert(_ entity: String, _ values: [String: Value]) throws -> ManagedObject {
    let object = try context.insert(entity)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  private func names(_ objects: [ManagedObject]) -> [String] { objects.map { $0[0] ?? "" }.sorted() }

  @Test("a template's variables take the values that are given", arguments: [false, true])
  func substitution(isSaved: Bool) throws {
    let bern = try insert("City", ["name": .string("Bern")])
    _ = try insert("Person", ["name": .string("Ada"), "age": .int(36), "city": .object(bern.objectID)])
    _ = try insert("Person", ["name": .string("Bob"), "age": .int(70), "city": .object(bern.objectID)])
    _ = try insert("Child", ["name": .string("Alf"), "age": .int(7)])
    if isSaved { try context.save() }
    let model = coordinator.model
    let request = try model.fetchRequestFromTemplate(
      withName: "inCity", substitutionVariables: ["city": bern.objectID, "ages": [36, 40]])
    #expect(try names(context.fetch(request)) == ["Ada"])
    let byName = try model.fetchRequestFromTemplate(withName: "byName", substitutionVariables: ["beginning": "A"])
    #expect(try names(context.fetch(byName)) == ["Ada", "Alf"])
    let few = try model.fetchRequestFromTemplate(withName: "few", substitutionVariables: [:])
    #expect(few.fetchLimit == 1 && !few.includesSubentities)
    #expect(try context.fetch(few).count == 1)
  }

  @Test("a template as it is keeps its variables; an unknown one is nil, or an error with the known names")
  func templates() throws {
    let model = coordinator.model
    let template = try #require(try model.fetchRequestTemplate(forName: "inCity"))
    #expect(template.entityName == "Person" && template.predicate?.variables == ["city", "ages"])
    #expect(throws: FetchPredicateError.self) { try context.fetch(template) }
    #expect(try model.fetchRequestTemplate(forName: "nothing").map(\.entityName) == nil)
    #expect(throws: FetchTemplateError.unknownTemplate(name: "nothing", known: ["byName", "few", "inCity"])) {
      try model.fetchRequestFromTemplate(withName: "nothing", substitutionVariables: [:])
    }
    #expect(throws: FetchTemplateError.missingVariables(template: "inCity", names: ["ages"])) {
      try model.fetchRequestFromTemplate(withName: "inCity", substitutionVariables: ["city": nil])
    }
    #expect(throws: FetchPredicateError.self) {
      try model.fetchRequestFromTemplate(withName: "byName", substitutionVariables: ["beginning": context])
    }
  }

  @Test("a fetched property finds what its predicate says of the object it is asked of", arguments: [false, true])
  func fetchedProperties(isSaved: Bool) throws {
    let (bern, rome) = (try insert("City", ["name": .string("Bern")]), try insert("City", ["name": .string("Rome")]))
    let ada = try insert("Person", ["name": .string("Ada"), "age": .int(36), "city": .object(bern.objectID)])
    let bob = try insert("Person", ["name": .string("Bob"), "age": .int(70), "city": .object(bern.objectID)])
    let alf = try insert("Child", ["name": .string("Alf"), "age": .int(7), "city": .object(rome.objectID)])
    try alf.setValue(.objects([ada.objectID, bob.objectID]), forKey: "friends")
    for (place, text) in [("Bern", "sun"), ("Rome", "storm"), ("Bern", "rain")] {
      _ = try insert("Report", ["place": .string(place), "text": .string(text)])
    }
    if isSaved { try context.save() }
    #expect(try names(ada.fetchedObjects(forKey: "elders")) == ["Bob"])
    #expect(try names(alf.fetchedObjects(forKey: "elders")) == ["Ada", "Bob"])
    #expect(try names(ada.fetchedObjects(forKey: "neighbours")) == ["Bob"])
    #expect(try names(alf.fetchedObjects(forKey: "circle")) == ["Ada", "Bob"])
    #expect(ada.value(forKey: "neighbours") == .orderedObjects([bob.objectID]))
  }

  @Test("a fetched property leads into another store, and knows what the model notes of it", arguments: [false, true])
  func acrossStores(isSaved: Bool) throws {
    let bern = try insert("City", ["name": .string("Bern")])
    let ada = try insert("Person", ["name": .string("Ada"), "city": .object(bern.objectID)])
    let bob = try insert("Person", ["name": .string("Bob")])
    for (place, text) in [("Bern", "sun"), ("Rome", "storm"), ("Bern", "rain")] {
      _ = try insert("Report", ["place": .string(place), "text": .string(text)])
    }
    if isSaved { try context.save() }
    let texts = { (person: ManagedObject) in
      try (person.fetchedObjects(forKey: "weather") as [ManagedObject]).map { $0[1] ?? "" }.sorted()
    }
    #expect(try texts(ada) == ["rain", "sun"] && texts(bob) == [])
    #expect(try names(bob.fetchedObjects(forKey: "storms")) == ["Rome"])
  }

  @Test("errors name the property and the missing part, at once or at the next call that can throw")
  func errors() throws {
    let ada = try insert("Person", ["name": .string("Ada")])
    #expect(throws: FetchTemplateError.unknownFetchedProperty(entity: "Person", name: "nobody")) {
      try ada.fetchedObjects(forKey: "nobody") as [ManagedObject]
    }
    #expect(throws: FetchTemplateError.missingVariables(template: "Person.wrong", names: ["OTHER"])) {
      try ada.fetchedObjects(forKey: "wrong") as [ManagedObject]
    }
    #expect((ada.fetchedObjects("wrong") as [ManagedObject]).isEmpty)
    #expect(throws: FetchTemplateError.self) { try context.save() }
  }
}
