import Testing

/// What the compiler lets out of a context's closure and what it doesn't. Each piece of source is checked by the
/// compiler that built the tests.
@Suite("The compiler", .enabled(if: SwiftCompiler.isThere, "swiftc isn't in PATH"))
struct SendabilityTests {
  private static let start = """
    import Foundation
    import ManagedObjects

    func work(_ context: ManagedObjectContext, _ id: ManagedObjectID) async throws {

    """

  @Test(
    "refuses to let a managed object out of its context's closure",
    arguments: [
      // Returned, waited for and awaited; captured; handed to a task; kept outside.
      "let object = context.performAndWait { context.object(with: id) }\n  print(object)",
      "let object: ManagedObject = try await context.perform { context.object(with: id) }\n  print(object)",
      "let all = try await context.perform { try context.fetch(FetchRequest<ManagedObject>(entityName: \"Person\")) }\n  print(all)",
      "let object = context.object(with: id)\n  context.perform { print(object) }",
      "try await context.perform {\n    let object = context.object(with: id)\n    Task { print(object) }\n    print(object)\n  }",
      "var kept: ManagedObject?\n  context.performAndWait { kept = context.object(with: id) }\n  print(kept as Any)",
    ])
  func refuses(_ body: String) async throws {
    let outcome = try await SwiftCompiler.check(Self.start + "  " + body + "\n}\n")
    #expect(outcome.status != 0)
    let isAboutSendability = outcome.errors.contains { error in
      ["Sendable", "sending", "data race", "concurrently-executing"].contains { error.contains($0) }
    }
    #expect(isAboutSendability, "\(outcome.text)")
  }

  @Test("refuses a class that declares its objects Sendable")
  func refusesConformance() async throws {
    let outcome = try await SwiftCompiler.check(
      """
      import ManagedObjects
      final class Person: ManagedObject {}
      func need<T: Sendable>(_ value: T) {}
      func use(_ person: Person) { need(person) }
      """)
    #expect(outcome.errors.contains { $0.contains("Sendable") }, "\(outcome.text)")
  }

  @Test("lets IDs, values and what was read of objects out")
  func letsOut() async throws {
    let outcome = try await SwiftCompiler.check(
      Self.start + """
          let ids = try await context.perform { try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map(\\.objectID) }
          let name = try await context.perform { try context.object(with: id).value(forKey: "name") }
          let count = context.performAndWait { context.registeredObjects.count }
          print(ids, name, count)
        }

        """)
    #expect(outcome.status == 0, "\(outcome.text)")
  }
}
