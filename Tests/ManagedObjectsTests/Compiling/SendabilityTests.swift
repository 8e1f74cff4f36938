import Testing

/// What the compiler lets out of a context's block and what it doesn't. Each piece of source is checked by the compiler
/// that built the tests.
@Suite("The compiler", .enabled(if: SwiftCompiler.isThere, "swiftc isn't in PATH"))
struct SendabilityTests {
  private static let start = """
    import Foundation
    import ManagedObjects
    import Synchronization

    extension ManagedObjectContext {
      func first() throws -> ManagedObject? { try fetch(FetchRequest<ManagedObject>(entityName: "Person")).first }
    }
    func look(_ id: ManagedObjectID, in context: ManagedObjectContext) -> ManagedObject { context.object(with: id) }


    """

  /// A class that says its objects are Sendable all the same.
  private static let disguised = "\nfinal class Person: ManagedObject, @unchecked Sendable {}\n"

  /// Code that calls from outside of any task.
  private static func ordinary(_ body: String) -> String {
    start + "func work(_ queue: ContextQueue, _ id: ManagedObjectID) throws {\n  \(body)\n}\n"
  }

  /// Code of a task.
  private static func asynchronous(_ body: String) -> String {
    start + "func work(_ queue: ContextQueue, _ id: ManagedObjectID) async throws {\n  \(body)\n}\n"
  }

  private func expectRefusal(_ source: String) async throws {
    let outcome = try await SwiftCompiler.check(source + Self.disguised)
    #expect(outcome.status != 0)
    let isAboutSendability = outcome.errors.contains { error in
      ["Sendable", "sending", "data race", "concurrently-executing", "task-isolated"].contains { error.contains($0) }
    }
    #expect(isAboutSendability, "\(outcome.text)")
  }

  @Test(
    "refuses to let a managed object out of its context's block",
    arguments: [
      // Returned.
      "let object = queue.performAndWait { context in context.object(with: id) }\n  print(object)",
      "let all = try queue.performAndWait { context in try context.first() }\n  print(all as Any)",
      // Captured, also with the context.
      "let context = ManagedObjectContext(.confinement, parent: queue)\n  let object = context.object(with: id)\n"
        + "  queue.perform { _ in print(object) }\n  print(object)",
      "queue.perform { context in queue.perform { _ in print(context.object(with: id)) } }",
      // Handed to a task, without being used afterwards.
      "queue.perform { context in\n    let object = context.object(with: id)\n    Task { print(object) }\n  }",
      "queue.perform { context in\n    let object = look(id, in: context)\n    Task { print(object) }\n  }",
      "queue.perform { context in\n    let object = try? context.first()\n    Task.detached { print(object as Any) }\n  }",
      "queue.perform { context in\n    let objects = context.registeredObjects\n    Task { print(objects) }\n  }",
      "queue.perform { context in\n    let other = context.object(with: id).managedObjectContext\n    Task { print(other as Any) }\n  }",
      "queue.perform { context in Task { print(context) } }",
      // Handed to a stream and to a continuation.
      "let (stream, objects) = AsyncStream<ManagedObject>.makeStream()\n  _ = stream\n"
        + "  queue.perform { context in objects.yield(context.object(with: id)) }",
      "func resume(_ continuation: CheckedContinuation<ManagedObject, Never>) {\n"
        + "    queue.perform { context in continuation.resume(returning: context.object(with: id)) }\n  }",
      // Kept outside.
      "var kept: ManagedObject?\n  queue.performAndWait { context in kept = context.object(with: id) }\n  print(kept as Any)",
      "var kept: ManagedObjectContext?\n  queue.performAndWait { context in kept = context }\n  print(kept as Any)",
      "let kept = Mutex<ManagedObject?>(nil)\n"
        + "  queue.performAndWait { context in kept.withLock { $0 = context.object(with: id) } }",
      "let kept = Mutex<ManagedObjectContext?>(nil)\n  queue.performAndWait { context in kept.withLock { $0 = context } }",
      // Of the disguised class.
      "queue.perform { context in\n    let person = context.object(with: id) as? Person\n"
        + "    Task { print(person as Any) }\n  }",
    ])
  func refuses(_ body: String) async throws { try await expectRefusal(Self.ordinary(body)) }

  @Test(
    "refuses to let a managed object out of a block that is awaited",
    arguments: [
      "let object: ManagedObject = await queue.perform { context in context.object(with: id) }\n  print(object)",
      "let all = try await queue.perform { context in try context.first() }\n  print(all as Any)",
      "let context: ManagedObjectContext = await queue.perform { context in context }\n  print(context)",
      "let person = try await queue.perform { context in try context.existingObject(with: id) as? Person }\n"
        + "  print(person as Any)",
      "let object = try await queue.fetch(FetchRequest<ManagedObject>(entityName: \"Person\")) { all in all.first }\n"
        + "  print(object as Any)",
    ])
  func refusesAwaited(_ body: String) async throws { try await expectRefusal(Self.asynchronous(body)) }

  @Test("refuses a class that declares its objects Sendable")
  func refusesConformance() async throws {
    try await expectRefusal(
      Self.start + """
        func need<T: Sendable>(_ value: T) {}
        func use(_ person: Person) { need(person) }
        """)
  }

  @Test(
    "refuses to let an object out of the actor that runs on its context's queue, and the context to any other",
    arguments: [
      "@MainActor func show(_ queue: ContextQueue, _ id: ManagedObjectID) {\n"
        + "  let object = queue.context().object(with: id)\n  Task.detached { print(object) }\n}",
      "actor Register {\n  let queue: ContextQueue\n  init(_ queue: ContextQueue) { self.queue = queue }\n"
        + "  func object(_ id: ManagedObjectID) -> ManagedObject { queue.context().object(with: id) }\n}\n"
        + "func use(_ register: Register, _ id: ManagedObjectID) async { print(await register.object(id)) }",
      "actor Register {}\nfunc use(_ queue: ContextQueue, _ register: Register) async {\n"
        + "  let context = await queue.context(isolation: register)\n  print(context)\n}",
    ])
  func refusesActors(_ source: String) async throws { try await expectRefusal(Self.start + source) }

  @Test("doesn't know a context where there is no actor")
  func nowhere() async throws {
    let outcome = try await SwiftCompiler.check(Self.ordinary("print(queue.context())"))
    #expect(outcome.status != 0)
  }

  @Test(
    "says where the context is, when its methods are called on its queue",
    arguments: [
      "print(try queue.fetch(FetchRequest<ManagedObject>(entityName: \"Person\")))", "print(queue.object(with: id))",
      "print(try queue.existingObject(with: id))", "try queue.save()",
    ])
  func directions(_ body: String) async throws {
    let outcome = try await SwiftCompiler.check(Self.ordinary(body))
    #expect(outcome.errors.contains { $0.contains("use perform { context in … }") }, "\(outcome.text)")
  }

  @Test("lets IDs, values and what was read of objects out")
  func letsOut() async throws {
    let outcome = try await SwiftCompiler.check(
      Self.asynchronous(
        """
        let ids = try await queue.perform { context in
            try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map(\\.objectID)
          }
          let name = await queue.perform { $0.object(with: id).value(forKey: "name") }
          let count = queue.performAndWait { context in context.registeredObjects.count }
          let number = await queue.perform(schedule: .enqueued) { context in context.insertedObjects.count }
          await queue.perform { context in
            let again = context.queue
            Task { await again.perform { context in context.reset() } }
          }
          print(ids, name as Any, count, number)
        """))
    #expect(outcome.status == 0 && !outcome.text.contains("warning:"), "\(outcome.text)")
  }

  @Test("lets actors that run on a context's queue keep its objects")
  func actors() async throws {
    let outcome = try await SwiftCompiler.check(
      Self.start + """
        @MainActor final class List {
          let container: PersistentContainer
          var people: [ManagedObject] = []
          init(_ container: PersistentContainer) { self.container = container }

          func reload() throws {
            let context = container.viewContext.context()
            people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
          }
        }

        actor Repository {
          private let queue: ContextQueue
          private var people: [ManagedObject] = []
          init(_ queue: ContextQueue) { self.queue = queue }
          nonisolated var unownedExecutor: UnownedSerialExecutor { queue.unownedExecutor }

          func reload() throws -> Int {
            people = try queue.context().fetch(FetchRequest<ManagedObject>(entityName: "Person"))
            return people.count
          }
        }
        """)
    #expect(outcome.status == 0 && !outcome.text.contains("warning:"), "\(outcome.text)")
  }
}
