import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Computed columns of dictionary results")
struct ComputedResultTests {
  /// Acme employs Ada 30, Bob 40 and Cid 50; Bell employs Dot 20; Eve has no employer and no age.
  private func company(_ kind: StoreKind) throws -> (stack: CompanyStack, context: ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, bell) = (try context.company("Acme"), try context.company("Bell"))
    for (name, age, employer) in [("Ada", 30, acme), ("Bob", 40, acme), ("Cid", 50, acme), ("Dot", 20, bell)] {
      try context.person(name, age: Int32(age)).employer = employer
    }
    try context.person("Eve")
    try context.save()
    return (stack, context)
  }

  private func expression(_ name: String, _ format: String) throws -> FetchedProperty {
    .expression(try ExpressionDescription(name, format: format))
  }

  private func summary(_ rows: [FetchedDictionary]) -> [String] {
    rows.map { row in row.keys.map { row.value(forKey: $0)?.plainText ?? "-" }.joined(separator: " ") }
  }

  @Test("are worked out for each row", arguments: StoreKind.allCases)
  func rows(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")])
    func values(_ format: String) throws -> [Value] {
      request.propertiesToFetch = [try expression("x", format)]
      return try context.fetchDictionaries(request).map { $0.value(forKey: "x") ?? .unresolved }
    }
    #expect(try values("age * 2") == [.int(60), .int(80), .int(100), .int(40), .null])
    #expect(try values("age / 20.0") == [.double(1.5), .double(2), .double(2.5), .double(1), .null])
    #expect(try values("uppercase(employer.name)") == ["ACME", "ACME", "ACME", "BELL"].map(Value.string) + [.null])
    #expect(try values("TERNARY(age > 35, TRUE, FALSE)") == [false, true, true, false, false].map(Value.bool))
    #expect(try values("TERNARY(age > 35, TRUE, 5)") == [.int(5), .int(1), .int(1), .int(5), .int(5)])
    #expect(try values("employer.employees.@count") == [3, 3, 3, 1, 0].map { .int($0) })
    #expect(try values("employer.employees.@avg.age") == [40, 40, 40, 20].map { .double($0) } + [.null])
    #expect(try values("SUBQUERY(employer.employees, $e, $e.age > 35).@count") == [2, 2, 2, 0, 0].map { .int($0) })
    #expect(try values("CAST(age, 'NSDecimalNumber') * 1.1") == [33, 44, 55, 22].map { .decimal($0) } + [.null])
    #expect(try values("'x'") == Array(repeating: .string("x"), count: 5))
    let objects = try values("TERNARY(age > 35, SELF, nil)")
    let bob = try #require(try context.named("Bob", Person.self))
    #expect(objects[0] == .null && objects[1] == .object(bob.objectID))
    request.propertiesToFetch = [
      .expression(
        try ExpressionDescription("x", format: "age / %f", 40, expressionResultType: .decimal)),
      .expression(
        ExpressionDescription("y", .computed(.path("age") * .constant(.double(0.5))), expressionResultType: .integer16)),
    ]
    #expect(summary(try context.fetchDictionaries(request)) == ["0.75 15", "1 20", "1.25 25", "0.5 10", " "])
  }

  @Test("of dates are dates", arguments: StoreKind.allCases)
  func dates(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let day = Date(timeIntervalSince1970: 86_400.5)
    for hours in 0..<3 {
      let sample = try context.insert(Sample.self)
      (sample.day, sample.instant) = (day + Double(hours * 3600), day)
    }
    try context.save()
    var request = FetchRequest<Sample>(entityName: "Sample")
    request.propertiesToFetch = [
      try expression("next", "max:(day + 60)"), try expression("span", "max:(day) - min:(day)"),
      try expression("now", "max:(day) + 1"), try expression("instant", "max:(instant) - 1"),
    ]
    let row = try #require(try context.fetchDictionaries(request).first)
    #expect(row.value(forKey: "next") == .date(day + 7260) && row.value(forKey: "span") == .double(7200))
    #expect(row.value(forKey: "now") == .date(day + 7201) && row.value(forKey: "instant") == .date(day - 1))
    request.propertiesToFetch = [try expression("later", "instant + 0.25")]
    request.sortDescriptors = [FetchSortDescriptor("later")]
    request.fetchLimit = 1
    #expect(try context.fetchDictionaries(request).map { $0["later"] } == [day + 0.25])
    request.fetchLimit = 0
    request.propertiesToFetch = [try expression("later", "day + 1"), try expression("count", "count:(SELF)")]
    request.propertiesToGroupBy = ["later"]
    request.havingPredicate = .comparison(.path("later"), .greater, .constant(.date(day + 1)))
    let found = try context.fetchDictionaries(request)
    #expect(found.map { $0["later"] } == [day + 3601, day + 7201] && found.map { $0["count"] } == [1, 1] as [Int?])
  }

  @Test("are worked out for each group, chosen by, and sorted by", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = FetchRequest<Person>(entityName: "Person")
    request.propertiesToGroupBy = ["employer.name"]
    request.propertiesToFetch = [
      "employer.name", try expression("spread", "max:(age) - min:(age)"),
      try expression("mean", "sum:(age) / count:(age)"), try expression("double", "sum:(age * 2) + 0.5"),
      try expression("label", "TERNARY(count:(SELF) > 1, uppercase(employer.name), 'one')"),
    ]
    request.sortDescriptors = [FetchSortDescriptor("spread", ascending: false), FetchSortDescriptor("employer.name")]
    #expect(
      summary(try context.fetchDictionaries(request)) == ["Acme 20 40 240.5 ACME", "Bell 0 20 40.5 one", "   0.5 one"])
    request.havingPredicate = try FetchPredicate(format: "double > %d AND label != 'x'", 40)
    #expect(summary(try context.fetchDictionaries(request)) == ["Acme 20 40 240.5 ACME", "Bell 0 20 40.5 one"])
    request.predicate = try FetchPredicate(format: "age < %d", 50)
    (request.fetchOffset, request.fetchLimit) = (0, 1)
    #expect(summary(try context.fetchDictionaries(request)) == ["Acme 10 35 140.5 ACME"])
    request.propertiesToFetch = [try expression("name", "lowercase(employer.name)")]
    (request.havingPredicate, request.sortDescriptors) = (nil, [FetchSortDescriptor("name", ascending: false)])
    request.returnsDistinctResults = true
    #expect(summary(try context.fetchDictionaries(request)) == ["bell"])
  }

  @Test("of all rows are one dictionary, of no rows too", arguments: StoreKind.allCases)
  func all(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = FetchRequest<Person>(entityName: "Person")
    request.propertiesToFetch = [
      try expression("spread", "max:(age) - min:(age)"), try expression("people", "count:(SELF) * 2"),
      try expression("names", "max:(lowercase(name))"), try expression("letters", "sum:(length(name))"),
    ]
    #expect(summary(try context.fetchDictionaries(request)) == ["30 10 eve 15"])
    request.predicate = .constant(false)
    #expect(summary(try context.fetchDictionaries(request)) == [" 0  0"])
  }

  @Test("can be grouped by, sorted by, and made distinct", arguments: StoreKind.allCases)
  func byColumn(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = FetchRequest<Person>(entityName: "Person")
    request.propertiesToFetch = [
      try expression("decade", "age / 20"), .expression(ExpressionDescription("people", .count())),
      try expression("label", "CAST(decade, 'NSString')"),
    ]
    request.propertiesToGroupBy = ["decade"]
    #expect(throws: FetchPredicateError.self) { try context.fetchDictionaries(request) }
    request.propertiesToFetch?.removeLast()
    request.sortDescriptors = [FetchSortDescriptor("people", ascending: false), FetchSortDescriptor("decade")]
    #expect(summary(try context.fetchDictionaries(request)) == ["1 2", "2 2", " 1"])
    request.propertiesToGroupBy = ["people"]
    #expect(throws: FetchRequestError.notGrouped(column: "people")) { try context.fetchDictionaries(request) }
    request.propertiesToGroupBy = []
    request.propertiesToFetch = [try expression("rest", "modulus:by:(age, 40)"), "name"]
    request.sortDescriptors = [FetchSortDescriptor("rest", ascending: false), FetchSortDescriptor("age")]
    #expect(summary(try context.fetchDictionaries(request)) == ["30 Ada", "20 Dot", "10 Cid", "0 Bob", " Eve"])
    (request.fetchOffset, request.fetchLimit) = (1, 2)
    #expect(summary(try context.fetchDictionaries(request)) == ["20 Dot", "10 Cid"])
  }

  @Test("that don't fit are refused, with the part named", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let (_, context) = try company(kind)
    var request = FetchRequest<Person>(entityName: "Person")
    func refuse(_ format: String, _ error: FetchRequestError) throws {
      request.propertiesToFetch = [try expression("x", format)]
      #expect(throws: error, "\(format)") { try context.fetchDictionaries(request) }
    }
    try refuse("max:(age) - age", .notGrouped(column: "x"))
    try refuse("max:(age) + employer.employees.@count", .notGrouped(column: "x"))
    for format in ["sum:(max:(age))", "sum:(name)", "employees", "name + 1", "$x", "min:(employer)"] {
      request.propertiesToFetch = [try expression("x", format)]
      #expect(throws: FetchPredicateError.self, "\(format)") { try context.fetchDictionaries(request) }
    }
    request.propertiesToFetch = [
      .expression(try ExpressionDescription("x", format: "name", expressionResultType: .integer16))
    ]
    #expect(throws: FetchRequestError.self) { try context.fetchDictionaries(request) }
    var samples = FetchRequest<Sample>(entityName: "Sample")
    for format in ["uppercase(mood)", "max:(mood)", "TERNARY(mood == 'x', 1, 2)"] {
      samples.propertiesToFetch = [try expression("x", format)]
      #expect(throws: FetchRequestError.notStored(entity: "Sample", property: "mood"), "\(format)") {
        try context.fetchDictionaries(samples)
      }
    }
  }
}
