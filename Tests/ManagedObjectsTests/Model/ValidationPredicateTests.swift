import ManagedObjects
import StoreTestSupport
import Testing

@Suite("A model's validation predicates")
struct ValidationPredicateTests {
  private func model(_ predicates: [ValidationPredicate], on type: AttributeType = .string) throws -> ManagedObjectModel
  {
    var attribute = AttributeDefinition("value", type)
    attribute.validationPredicates = predicates
    return try ManagedObjectModel(entities: [EntityDefinition("Item", attributes: [attribute])])
  }

  @Test("refuse a save with their warnings, all of them, and let nil pass", arguments: StoreKind.allCases)
  func refuse(_ kind: StoreKind) throws {
    let secure = ValidationPredicate("SELF BEGINSWITH 'https:'", warning: "must be secure")
    let short = ValidationPredicate("length <= 10 OR SELF == 'https://example.org'", warning: "is too long")
    let context = try CompanyStack(kind, model: model([secure, short])).context()
    let item = try context.insert("Item")
    try context.save()
    try item.setValue(.string("http://somewhere"), forKey: "value")
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    guard case .validation(let failures)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failures.map(\.reason) == [.failsPredicate(secure), .failsPredicate(short)])
    #expect(failures.first?.code == "fails_predicate")
    #expect(failures.first?.description == "Item.value: must be secure (SELF BEGINSWITH 'https:')")
    #expect(throws: ManagedObjectError.self) { try item.validateForUpdate() }
    for text in ["https:", "https://example.org"] {
      try item.setValue(.string(text), forKey: "value")
      try context.save()
    }
  }

  @Test("compare numbers, dates and lists of values")
  func types() throws {
    for (type, format, good, bad): (AttributeType, String, Value, Value) in [
      (.integer16, "SELF IN {1, 2, 5}", .int(5), .int(3)), (.double, "SELF * 2 < 5", .double(2.4), .double(2.5)),
      (.date, "SELF > '2000-01-01'", .date(.init(timeIntervalSince1970: 1_000_000_000)), .date(.distantPast)),
      (.boolean, "SELF == YES", .bool(true), .bool(false)),
    ] {
      let context = try CompanyStack(.inMemory, model: model([.init(format, warning: "no")], on: type)).context()
      let item = try context.insert("Item")
      try item.setValue(bad, forKey: "value")
      #expect(throws: ManagedObjectError.self, "\(format)") { try context.save() }
      try item.setValue(good, forKey: "value")
      try context.save()
    }
  }

  @Test("that can't be evaluated make the model inconsistent, by name")
  func inconsistent() throws {
    for format in ["SELF >", "other == 1", "SELF > 3", "SELF.name == 'x'"] {
      let error = #expect(throws: ModelError.self) { try model([.init(format, warning: "no")]) }
      #expect("\(try #require(error))".contains("Item.value's validation predicate \(format)"), "\(format)")
    }
  }

  @Test("are kept with the model in the store, and models that were kept without them are read")
  func kept() throws {
    let model = try model([.init("length > 1", warning: "is too short")])
    let text = try ModelDefinition(model).text()
    #expect(try ModelDefinition(text: text, store: "") == ModelDefinition(model))
    let former = text.replacing(
      #/"validationPredicates":\[[^\]]*\],?/#, with: "")
    #expect(former != text)
    let read = try ModelDefinition(text: former, store: "")
    #expect(read.entities[0].attributes[0].validationPredicates.isEmpty)
  }
}
