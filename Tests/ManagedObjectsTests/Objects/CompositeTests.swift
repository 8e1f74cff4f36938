import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Composite attributes")
struct CompositeTests {
  private static let model: ManagedObjectModel = {
    var position = AttributeDefinition("position", .composite)
    position.compositeElements = [
      AttributeDefinition("latitude", .double, minimumValue: .double(-90), maximumValue: .double(90)),
      AttributeDefinition("longitude", .double),
    ]
    var address = AttributeDefinition("address", .composite)
    address.compositeElements = [
      AttributeDefinition("street", .string), AttributeDefinition("city", .string, isOptional: false), position,
    ]
    var size = AttributeDefinition("size", .composite, isOptional: false)
    size.compositeElements = [
      AttributeDefinition("width", .integer32, defaultValue: .int(1)), AttributeDefinition("height", .integer32),
    ]
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Place", attributes: [AttributeDefinition("name", .string), address, size],
          relationships: [RelationshipDefinition("owner", to: "Place")], uniquenessConstraints: [["address.position"]]),
        EntityDefinition("House", parent: "Place", attributes: [AttributeDefinition("rooms", .integer32)]),
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private static let rome: Value = .composite([
    "city": .string("Rome"), "position": .composite(["latitude": .double(41.9), "longitude": .double(12.5)]),
  ])

  private func place(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    let found = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Place", predicate: .equal("name", .string(name))))
    return try #require(found.first)
  }

  @discardableResult
  private func insert(_ name: String, _ address: Value, _ context: ManagedObjectContext) throws -> ManagedObject {
    let place = try context.insert("House")
    try place.setValue(.string(name), forKey: "name")
    try place.setValue(address, forKey: "address")
    return place
  }

  private func names(_ format: String, sortedBy key: String, _ context: ManagedObjectContext) throws -> [Value?] {
    let request = FetchRequest<ManagedObject>(
      entityName: "Place", predicate: try FetchPredicate(format: format), sortDescriptors: [FetchSortDescriptor(key)])
    return try context.fetch(request).map { $0.value(forKey: "name") }
  }

  @Test("elements are properties with slots in the composite's place, and the composite is none")
  func numbering() throws {
    let house = try #require(Self.model.entitiesByName["House"])
    #expect(
      house.properties.map(\.name) == [
        "name", "address.street", "address.city", "address.position.latitude", "address.position.longitude",
        "size.width", "size.height", "owner", "rooms",
      ])
    let address = try #require(house.compositeAttributesByName["address"])
    #expect(
      address.attributes.map(\.slot) == [1, 2, 3, 4] && address.elements.map(\.name) == ["street", "city", "position"])
    #expect(house.compositeAttributesByName.keys.sorted() == ["address", "address.position", "size"])
  }

  @Test("it is one value by its name, and each element by its own", arguments: StoreKind.allCases)
  func values(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let context = stack.context()
    let place = try insert("Forum", Self.rome, context)
    #expect(place.value(forKey: "address") == Self.rome)
    #expect(place.value(forKey: "size") == .composite(["width": .int(1)]), "defaults of elements count")
    #expect(place.value(forKey: "address.city") == .string("Rome"))
    try place.setValue(.string("Via Sacra"), forKey: "address.street")
    try context.save()
    let read = try self.place("Forum", stack.context())
    #expect(
      read.value(forKey: "address.position") == .composite(["latitude": .double(41.9), "longitude": .double(12.5)]))
    try read.setValue(.composite(["city": .string("Oslo")]), forKey: "address")
    #expect(read.value(forKey: "address.street") == .null, "a composite is replaced as a whole")
    #expect(read.changedValues().keys.contains("address.city"))
    read.managedObjectContext?.rollback()
    #expect(read.value(forKey: "address.street") == .string("Via Sacra"))
    try read.setValue(.null, forKey: "address")
    #expect(read.value(forKey: "address") == .null)
    try read.managedObjectContext?.save()
    #expect(try self.place("Forum", stack.context()).value(forKey: "address") == .null)
  }

  @Test("what doesn't fit is refused, and nothing is changed")
  func refused() throws {
    let stack = try CompanyStack(.inMemory, model: Self.model)
    let place = try insert("Forum", Self.rome, stack.context())
    for wrong: Value in [
      .string("Rome"), .composite(["town": .string("Rome")]), .composite(["street": .string("x"), "city": .int(1)]),
      .composite(["position": .double(1)]),
    ] {
      #expect(throws: ManagedObjectError.self) { try place.setValue(wrong, forKey: "address") }
    }
    #expect(place.value(forKey: "address") == Self.rome)
  }

  @Test("key paths go into it, in predicates and sorts, also behind a relationship", arguments: StoreKind.allCases)
  func keyPaths(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let context = stack.context()
    let forum = try insert("Forum", Self.rome, context)
    let fjord = try insert("Fjord", .composite(["city": .string("Oslo")]), context)
    try fjord.setValue(.object(forum.objectID), forKey: "owner")
    for context in [context, stack.context()] {
      #expect(try names("address.city == 'Rome'", sortedBy: "name", context) == [.string("Forum")])
      #expect(try names("address.position.latitude > 40", sortedBy: "name", context) == [.string("Forum")])
      #expect(try names("owner.address.city == 'Rome'", sortedBy: "name", context) == [.string("Fjord")])
      #expect(try names("TRUEPREDICATE", sortedBy: "address.city", context) == [.string("Fjord"), .string("Forum")])
      #expect(throws: FetchPredicateError.self) { try names("address.town == 'Rome'", sortedBy: "name", context) }
      if context.hasChanges { try context.save() }
    }
  }

  @Test(
    "elements are validated: bounds, elements required once one is set, and the whole",
    arguments: StoreKind.allCases)
  func validation(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind, model: Self.model).context()
    func failures(_ place: ManagedObject) throws -> [String] {
      do {
        try context.save()
        return []
      } catch ManagedObjectError.validation(let failures) {
        return failures.map { "\($0.property) \($0.code)" }
      }
    }
    let place = try insert("Forum", .null, context)
    #expect(try failures(place) == [])
    try place.setValue(.composite(["street": .string("x")]), forKey: "address")
    #expect(try failures(place) == ["address.city missing_value"])
    try place.setValue(
      .composite(["city": .string("x"), "position": .composite(["latitude": .double(91)])]), forKey: "address")
    try place.setValue(.null, forKey: "size")
    #expect(try failures(place) == ["size missing_value", "address.position.latitude above_maximum"])
  }

  @Test("a uniqueness constraint over it is one over its elements", arguments: StoreKind.allCases)
  func unique(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let context = stack.context()
    try insert("Forum", Self.rome, context)
    try context.save()
    let second = stack.context()
    try insert("Colosseum", Self.rome, second)
    #expect(throws: ManagedObjectError.self) { try second.save() }
  }

  @Test("its elements stand in columns of their own")
  func columns() throws {
    let stack = try CompanyStack(.sqlite, model: Self.model)
    let context = stack.context()
    try insert("Forum", Self.rome, context)
    try context.save()
    #expect(try stack.column("SELECT address_city || address_position_latitude FROM Place") == ["Rome41.9"])
  }

  @Test("a merge brings each element by itself", arguments: StoreKind.allCases)
  func merging(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let (writer, other) = (stack.context(), stack.context())
    let forum = try insert("Forum", Self.rome, writer)
    try writer.save()
    let there = try place("Forum", other)
    try there.setValue(.string("mine"), forKey: "address.street")
    try forum.setValue(.string("Roma"), forKey: "address.city")
    other.mergeChanges(fromContextDidSave: try #require(try writer.saveAndTell()))
    #expect(there.value(forKey: "address.city") == .string("Roma"))
    #expect(there.value(forKey: "address.street") == .string("mine"))
    try other.save()
  }

  @Test("the summary of the model lists its elements")
  func summary() throws {
    let text = Self.model.summary().text
    #expect(text.contains("address.position.latitude"), "\(text)")
  }
}
