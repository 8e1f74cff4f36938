import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Dictionary results")
struct DictionaryResultTests {
  /// Acme employs Ada 30, Bob 40 and Cid 50; Bell employs Dot 20, a manager; Eve has no employer and no age.
  private func company(_ kind: StoreKind) throws -> (stack: CompanyStack, context: ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, bell) = (try context.company("Acme"), try context.company("Bell"))
    for (name, age) in [("Ada", 30), ("Bob", 40), ("Cid", 50)] {
      try context.person(name, age: Int32(age)).employer = acme
    }
    let dot = try context.insert(Manager.self)
    (dot.name, dot.age, dot.employer, dot.budget) = ("Dot", 20, bell, Decimal(string: "0.1"))
    try context.person("Eve")
    try context.save()
    return (stack, context)
  }

  private func request(_ properties: [FetchedProperty]?, sortedBy key: String? = nil) -> FetchRequest<Person> {
    var request = FetchRequest<Person>(entityName: "Person")
    request.propertiesToFetch = properties
    request.sortDescriptors = key.map { [FetchSortDescriptor($0)] } ?? []
    return request
  }

  private func expression(_ name: String, _ expression: ExpressionDescription.Expression) -> FetchedProperty {
    .expression(ExpressionDescription(name, expression))
  }

  @Test("hold the properties asked for, also along key paths", arguments: StoreKind.allCases)
  func properties(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    let found = try context.fetchDictionaries(request(["name", "age", "employer.name"], sortedBy: "name"))
    #expect(found.map { $0["name"] } == ["Ada", "Bob", "Cid", "Dot", "Eve"] as [String?])
    #expect(found.map { $0["age"] } == [30, 40, 50, 20, nil] as [Int?])
    #expect(found.map { $0["employer.name"] } == ["Acme", "Acme", "Acme", "Bell", nil] as [String?])
    #expect(found[0].keys == ["name", "age", "employer.name"])
    #expect(found[4].value(forKey: "age") == .null && found[4].value(forKey: "email") == nil)
    #expect(found[4].valuesByName == ["name": .string("Eve")])
  }

  @Test("hold every attribute unless properties are named", arguments: StoreKind.allCases)
  func everything(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    #expect(try context.fetchDictionaries(request(nil)).first?.keys == ["name", "email", "age"])
  }

  @Test("hold relationships and the object itself as IDs", arguments: StoreKind.allCases)
  func ids(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    let ada = try #require(try context.named("Ada", Person.self))
    var request = request(["objectID", "employer"])
    request.predicate = .equal("name", .string("Ada"))
    let found = try context.fetchDictionaries(request)
    #expect(found.first?.objectID(forKey: "objectID") == ada.objectID)
    #expect(found.first?.objectID(forKey: "employer") == ada.employer?.objectID)
  }

  @Test("come a page at a time, filtered, and without subentities if asked", arguments: StoreKind.allCases)
  func page(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = request(["name"], sortedBy: "name")
    request.predicate = try FetchPredicate(format: "employer != nil")
    (request.fetchOffset, request.fetchLimit) = (1, 2)
    #expect(try context.fetchDictionaries(request).map { $0["name"] } == ["Bob", "Cid"] as [String?])
    request.includesSubentities = false
    request.fetchOffset = 2
    #expect(try context.fetchDictionaries(request).map { $0["name"] } == ["Cid"] as [String?])
  }

  @Test("are distinct if asked", arguments: StoreKind.allCases)
  func distinct(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = request(["employer.name"])
    #expect(try context.fetchDictionaries(request).count == 5)
    request.returnsDistinctResults = true
    request.sortDescriptors = [FetchSortDescriptor("employer.name", ascending: false)]
    #expect(try context.fetchDictionaries(request).map { $0["employer.name"] } == ["Bell", "Acme", nil] as [String?])
    (request.fetchOffset, request.fetchLimit) = (1, 1)
    #expect(try context.fetchDictionaries(request).map { $0["employer.name"] } == ["Acme"] as [String?])
    request.sortDescriptors = [FetchSortDescriptor("name")]
    #expect(throws: FetchRequestError.notAColumn(sortKey: "name", columns: ["employer.name"])) {
      try context.fetchDictionaries(request)
    }
  }

  @Test("aggregate over all rows", arguments: StoreKind.allCases)
  func aggregates(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    let all: [FetchedProperty] = [
      expression("people", .count()), expression("ages", .count("age")), expression("sum", .sum("age")),
      expression("average", .average("age")), expression("least", .minimum("age")),
      expression("last", .maximum("name")), expression("employers", .count("employer.name", distinct: true)),
    ]
    let found = try context.fetchDictionaries(request(all))
    #expect(found.count == 1)
    let values = found[0].keys.map { found[0].value(forKey: $0) }
    #expect(values == [.int(5), .int(4), .int(140), .double(35), .int(20), .string("Eve"), .int(2)])
    var none = request(all)
    none.predicate = .equal("name", .string("Nobody"))
    let empty = try #require(try context.fetchDictionaries(none).first)
    let nothing = empty.keys.map { empty.value(forKey: $0) }
    #expect(nothing == [.int(0), .int(0), .int(0), .null, .null, .null, .int(0)])
  }

  @Test("aggregate by group, choose among groups, and sort them", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = request(["employer.name", expression("people", .count()), expression("oldest", .maximum("age"))])
    request.propertiesToGroupBy = ["employer.name"]
    request.sortDescriptors = [FetchSortDescriptor("people", ascending: false)]
    func rows() throws -> [String] {
      try context.fetchDictionaries(request).map { row in
        let (name, people, oldest): (String?, Int?, Int?) = (row["employer.name"], row["people"], row["oldest"])
        return "\(name ?? "-") \(people ?? 0) \(oldest ?? 0)"
      }
    }
    #expect(try rows() == ["Acme 3 50", "- 1 0", "Bell 1 20"])
    request.havingPredicate = try FetchPredicate(format: "people < 3 AND employer.name != nil")
    #expect(try rows() == ["Bell 1 20"])
    request.havingPredicate = try FetchPredicate(format: "oldest > %d", 20)
    request.predicate = try FetchPredicate(format: "age < %d", 50)
    #expect(try rows() == ["Acme 2 40"])
    request.havingPredicate = nil
    (request.fetchOffset, request.fetchLimit) = (1, 5)
    #expect(try rows() == ["Bell 1 20"])
  }

  @Test("group by what isn't among the columns", arguments: StoreKind.allCases)
  func hiddenGroups(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = request([expression("people", .count())], sortedBy: "people")
    request.propertiesToGroupBy = ["employer"]
    #expect(try context.fetchDictionaries(request).map { $0["people"] } == [1, 1, 3] as [Int?])
    let acme = try #require(try context.named("Acme", Company.self))
    request.havingPredicate = .equal("employer", .object(acme.objectID))
    #expect(try context.fetchDictionaries(request).map { $0["people"] } == [3] as [Int?])
    request.havingPredicate = nil
    request.returnsDistinctResults = true
    #expect(try context.fetchDictionaries(request).map { $0["people"] } == [1, 3] as [Int?])
  }

  @Test("aggregate values of every type as they are", arguments: StoreKind.allCases)
  func types(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let days = [0.25, 86_400.5].map { Date(timeIntervalSince1970: $0) }
    for (index, amount) in ["0.1", "0.2", "12345678901234567890.123456789", "-3"].enumerated() {
      let sample = try context.insert(Sample.self)
      sample.amount = Decimal(string: amount)
      sample.ratio = Double(index) / 2
      (sample.day, sample.instant) = (days[index % 2], days[index % 2])
      try sample.setValue(.bool(index == 0), forKey: "flag")
    }
    try context.save()
    var request = FetchRequest<Sample>(entityName: "Sample")
    func one(_ expression: ExpressionDescription.Expression, as type: AttributeType = .undefined) throws -> Value? {
      request.propertiesToFetch = [.expression(ExpressionDescription("x", expression, expressionResultType: type))]
      return try context.fetchDictionaries(request).first?.value(forKey: "x")
    }
    func decimal(_ text: String) -> Value? { Decimal(string: text).map(Value.decimal) }
    #expect(try one(.sum("amount")) == decimal("12345678901234567887.423456789"))
    #expect(try one(.minimum("amount")) == decimal("-3"))
    #expect(try one(.maximum("amount")) == decimal("12345678901234567890.123456789"))
    #expect(try one(.sum("ratio")) == .double(3))
    #expect(try one(.sum("ratio"), as: .integer32) == .int(3))
    #expect(try one(.average("ratio"), as: .integer64) == .int(0))
    #expect(try one(.average("ratio"), as: .decimal) == decimal("0.75"))
    #expect(try one(.sum("flag")) == .int(1))
    #expect(try one(.maximum("flag")) == .bool(true))
    #expect(try one(.minimum("day")) == .date(days[0]))
    #expect(try one(.maximum("instant")) == .date(days[1]))
    #expect(throws: FetchRequestError.self) { try one(.sum("text")) }
    #expect(throws: FetchRequestError.self) { try one(.minimum("bytes")) }
    #expect(throws: FetchRequestError.self) { try one(.maximum("day"), as: .string) }
    request.predicate = try FetchPredicate(format: "ratio < 1")
    #expect(try one(.average("amount")) == decimal("0.15"))
  }

  @Test("a sum that doesn't fit 64 bits is an error", arguments: StoreKind.allCases)
  func overflow(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    for _ in 0..<2 { try context.insert(Sample.self).large = .max }
    try context.save()
    var request = FetchRequest<Sample>(entityName: "Sample")
    request.propertiesToFetch = [expression("sum", .sum("large"))]
    #expect {
      try context.fetchDictionaries(request)
    } throws: { error in
      guard case ManagedObjectError.store(let failure) = error else { return false }
      return failure.kind == .outOfRange
    }
  }

  @Test("show the stored values, whatever the context has changed", arguments: StoreKind.allCases)
  func unsavedChanges(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    let child = ManagedObjectContext(.confinement, parent: context)
    try context.person("Flo", age: 99)
    try #require(try context.named("Ada", Person.self)).age = 98
    let oldest = request([expression("oldest", .maximum("age"))])
    #expect(try context.fetchDictionaries(oldest).first?["oldest"] == 50)
    #expect(try child.fetchDictionaries(oldest).first?["oldest"] == 50)
  }

  @Test("a request that doesn't fit together is refused, with the part named", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = request(["name", expression("people", .count())])
    #expect(throws: FetchRequestError.notGrouped(column: "name")) { try context.fetchDictionaries(request) }
    request.propertiesToGroupBy = ["employer"]
    #expect(throws: FetchRequestError.notGrouped(column: "name")) { try context.fetchDictionaries(request) }
    request.propertiesToGroupBy = []
    request.propertiesToFetch = ["name", "name"]
    #expect(throws: FetchRequestError.columnTwice("name")) { try context.fetchDictionaries(request) }
    request.propertiesToFetch = ["name"]
    request.havingPredicate = .equal("name", .string("Ada"))
    #expect(throws: FetchRequestError.havingWithoutGroups) { try context.fetchDictionaries(request) }
    request.propertiesToGroupBy = ["name"]
    request.havingPredicate = .equal("age", .int(1))
    #expect(throws: FetchPredicateError.self) { try context.fetchDictionaries(request) }
    var samples = FetchRequest<Sample>(entityName: "Sample")
    samples.propertiesToFetch = ["mood"]
    #expect(throws: FetchRequestError.notStored(entity: "Sample", property: "mood")) {
      try context.fetchDictionaries(samples)
    }
  }
}
