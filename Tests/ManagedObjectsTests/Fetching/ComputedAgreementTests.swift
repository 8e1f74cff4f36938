import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Computed columns, of both stores")
struct ComputedAgreementTests {
  private static let leaves = [
    "age", "employer.employees.@count", "length(name)", "2", "1.5", "employer.employees.@avg.age", "nil",
    "CAST(age, 'NSDecimalNumber')", "TERNARY(age > 30, TRUE, 3)", "TERNARY(name CONTAINS 'a', 0.5, age)",
  ]
  private static let forms = [
    "%a + %b", "%a * %b", "%a / %b", "modulus:by:(%a, %b)", "max(%a, %b)", "sum(%a, %b)",
    "TERNARY(age > 35, %a, %b)", "floor(%a - %b)", "CAST(%a, 'NSString')",
  ]

  private static let formats: [String] = leaves.flatMap { a in
    leaves.flatMap { b in
      forms.map { $0.replacingOccurrences(of: "%a", with: a).replacingOccurrences(of: "%b", with: b) }
    }
  }

  private func context(_ kind: StoreKind) throws -> (CompanyStack, ManagedObjectContext) {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let (acme, bell) = (try context.company("Acme"), try context.company("Bell"))
    for (name, age, employer) in [("Ada", 30, acme), ("Bob", 40, acme), ("Cid", 51, acme), ("Dot", 0, bell)] {
      try context.person(name, age: Int32(age)).employer = employer
    }
    try context.person("Eve")
    try context.save()
    return (stack, context)
  }

  /// The values of each row; nil where the expression is refused.
  private func rows(_ format: String, _ context: ManagedObjectContext) throws -> [Value]? {
    var request = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")])
    request.propertiesToFetch = [.expression(try ExpressionDescription("x", format: format))]
    do {
      return try context.fetchDictionaries(request).map { $0.value(forKey: "x") ?? .unresolved }
    } catch is FetchPredicateError {
      return nil
    }
  }

  /// Aggregates of groups; nil where the expression has none.
  private func groups(_ format: String, _ context: ManagedObjectContext) throws -> [String]? {
    var request = FetchRequest<Person>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("employer.name")])
    request.propertiesToGroupBy = ["employer.name"]
    request.propertiesToFetch = try ["sum", "min", "max", "average", "count"].map {
      .expression(try ExpressionDescription($0, format: "\($0):(\(format))"))
    }
    request.propertiesToFetch?.append(
      .expression(try ExpressionDescription("range", format: "max:(\(format)) - min:(\(format)) + 1")))
    do {
      return try context.fetchDictionaries(request).map { row in
        row.keys.map { key -> String in
          let value = row.value(forKey: key) ?? .null
          // Of an integer and a double that are equal either may be the least.
          if ["min", "max", "range"].contains(key) { return value.plainText }
          // The order in which doubles are added shows in their last digits.
          guard case .double(let double) = value else { return "\(value)" }
          return String(format: "double %.9g", double)
        }.joined(separator: ", ")
      }
    } catch is FetchPredicateError {
      return nil
    }
  }

  @Test("hold the same values, of the same types")
  func agreement() throws {
    let (memory, sqlite) = (try context(.inMemory), try context(.sqlite))
    var answered = 0
    for format in Set(Self.formats).sorted() {
      let expected = try rows(format, memory.1)
      #expect(try rows(format, sqlite.1) == expected, "\(format)")
      #expect(try groups(format, sqlite.1) == groups(format, memory.1), "\(format)")
      if expected != nil { answered += 1 }
    }
    #expect(answered > 500)
  }
}
