import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Objects that only their context holds are never out of date")
struct UnheldObjectsTests {
  /// Ways to reach a person's age by ID or over a relationship.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case objectWithID = "object(with:)"
    case existingObject = "existingObject(with:)"
    case registeredObject = "registeredObject(for:)"
    case toMany = "a to-many relationship"
    case toOne = "a to-one relationship"

    var testDescription: String { rawValue }

    func age(
      of ada: ManagedObjectID, _ acme: ManagedObjectID, _ desk: ManagedObjectID, in context: ManagedObjectContext
    ) throws -> Int32? {
      switch self {
      case .objectWithID: (context.object(with: ada) as? Person)?.age
      case .existingObject: try (context.existingObject(with: ada) as? Person)?.age
      case .registeredObject: (context.registeredObject(for: ada) as? Person)?.age
      case .toMany: (context.object(with: acme) as? Company)?.employees.first?.age
      case .toOne: (context.object(with: desk) as? Desk)?.occupant?.age
      }
    }
  }

  private struct Office {
    let stack: CompanyStack
    let writer: ManagedObjectContext
    let ada: Person
    let acme: Company
    let desk: Desk

    init(_ kind: StoreKind) throws {
      stack = try CompanyStack(kind)
      writer = stack.context()
      (ada, acme, desk) = (
        try writer.person("Ada", age: 30), try writer.company("Acme"), try writer.insert(Desk.self)
      )
      (ada.employer, ada.desk) = (acme, desk)
      try writer.save()
    }

    func age(_ way: Way, in context: ManagedObjectContext) throws -> Int32? {
      try way.age(of: ada.objectID, acme.objectID, desk.objectID, in: context)
    }
  }

  @Test("another context's save is seen at the next look-up", arguments: StoreKind.allCases, Way.allCases)
  func saves(_ kind: StoreKind, _ way: Way) throws {
    let office = try Office(kind)
    let reader = office.stack.context()
    #expect(
      try Way.existingObject.age(of: office.ada.objectID, office.acme.objectID, office.desk.objectID, in: reader) == 30)
    #expect(try office.age(way, in: reader) == 30)
    office.ada.age = 31
    try office.writer.save()
    #expect(try office.age(way, in: reader) == 31)
    office.writer.delete(office.ada)
    try office.writer.save()
    if way == .existingObject {
      #expect(throws: ManagedObjectError.objectNotFound(office.ada.objectID)) { try office.age(way, in: reader) }
    } else {
      #expect(try office.age(way, in: reader) == nil)
    }
  }

  @Test("a batch request is seen at the next look-up", arguments: StoreKind.allCases)
  func batches(_ kind: StoreKind) throws {
    let office = try Office(kind)
    let reader = office.stack.context()
    #expect(try office.age(.existingObject, in: reader) == 30)
    var update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["age": try .init(format: "age + 1")]
    try office.writer.execute(update)
    #expect(try office.age(.existingObject, in: reader) == 31)
  }

  @Test("each piece of work sees what another process has saved before it")
  func otherProcess() throws {
    let office = try Office(.sqlite)
    let reader = ContextQueue(.privateQueue, coordinator: office.stack.coordinator)
    let id = office.ada.objectID
    let age: @Sendable () throws -> Int32? = {
      try reader.performAndWait { reader in try (reader.existingObject(with: id) as? Person)?.age }
    }
    #expect(try age() == 30)
    try office.stack.execute("UPDATE Person SET age = 31")
    #expect(try age() == 31)
  }

  @Test("an object that the program holds keeps its values, and so does each of a context that retains its objects")
  func held() throws {
    let office = try Office(.sqlite)
    let (reader, retaining) = (office.stack.context(), office.stack.context())
    retaining.retainsRegisteredObjects = true
    let mine = try #require(try reader.existingObject(with: office.ada.objectID) as? Person)
    #expect(try office.age(.existingObject, in: retaining) == 30)
    office.ada.age = 31
    try office.writer.save()
    #expect(try reader.existingObject(with: office.ada.objectID) === mine)
    #expect(mine.age == 30)
    #expect(try office.age(.existingObject, in: retaining) == 30)
  }

  @Test("a change here isn't forgotten, held or not", arguments: StoreKind.allCases)
  func changed(_ kind: StoreKind) throws {
    let office = try Office(kind)
    let reader = office.stack.context()
    (try reader.existingObject(with: office.ada.objectID) as? Person)?.age = 40
    office.ada.name = "Ada Lovelace"
    try office.writer.save()
    #expect(try office.age(.existingObject, in: reader) == 40)
    #expect(reader.updatedObjects.count == 1)
  }

  @Test("a loop over objects that refer to the same one reads it once", arguments: StoreKind.allCases)
  func loops(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    for number in 1...100 { try writer.person("Person \(number)").employer = acme }
    try writer.save()
    let reader = stack.context()
    let people = try reader.all(Person.self)
    let before = stack.reads.items.count
    #expect(people.allSatisfy { $0.employer?.name == "Acme" })
    #expect(stack.reads.items.count == before + 1)
    people[0].age = 1
    try reader.save()
    #expect(people.allSatisfy { $0.employer?.name == "Acme" })
    #expect(stack.reads.items.count == before + 1, "the context's own save makes nothing out of date")
  }

  @Test("a child sees its parent's changes at the next look-up", arguments: StoreKind.allCases)
  func children(_ kind: StoreKind) throws {
    let office = try Office(kind)
    let child = ManagedObjectContext(.confinement, parent: office.writer)
    #expect(try office.age(.existingObject, in: child) == 30)
    office.ada.age = 31
    office.writer.processPendingChanges()
    #expect(try office.age(.existingObject, in: child) == 31)
    let sibling = ManagedObjectContext(.confinement, parent: office.writer)
    (try sibling.existingObject(with: office.ada.objectID) as? Person)?.age = 32
    try sibling.save()
    #expect(try office.age(.existingObject, in: child) == 32)
  }

  @Test("what becomes a fault again is asked, and nothing is announced")
  func callbacks() throws {
    let stack = try DiaryModel.stack(.sqlite)
    let (writer, reader) = (stack.context(), stack.context())
    let item = try writer.insert(Item.self)
    item.name = "before"
    try writer.save()
    _ = try reader.existingObject(with: item.objectID)
    _ = reader.diary.take()
    var changes = 0
    let observation = reader.observeChanges { _ in changes += 1 }
    item.name = "after"
    try writer.save()
    #expect(reader.object(with: item.objectID).isFault)
    #expect(reader.diary.take() == ["willTurnIntoFault", "didTurnIntoFault"])
    reader.processPendingChanges()
    #expect(changes == 0)
    observation.cancel()
  }
}
