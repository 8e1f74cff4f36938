import Dispatch
import Foundation
import Glibc
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@Suite("A context used where it doesn't belong stops the program, and says why")
struct WrongQueueTests {
  private static func coordinator() throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
    try coordinator.addPersistentStore(.inMemory())
    return coordinator
  }

  /// Runs `body` on a thread of its own and waits for its end.
  private static func onThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      done.signal()
    }
    done.wait()
  }

  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test("a private context outside its queue")
  func privateContext() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ContextQueue(.privateQueue, coordinator: try Self.coordinator(), name: "import 7")
      let kept = Kept()
      context.performAndWait { context in kept.context = context }
      Self.onThread { _ = kept.context?.hasChanges }
    }
    #expect(text(result).contains("ManagedObjectContext \"import 7\", privateQueue"))
    #expect(text(result).contains("belongs on: its private queue, inside perform or performAndWait"))
    #expect(text(result).contains("touched on: thread"))
  }

  @Test("a property of an object outside its context's queue")
  func property() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ContextQueue(.privateQueue, coordinator: try Self.coordinator(), name: "objects")
      let kept = Kept()
      try context.performAndWait { context in kept.person = try context.person("Ada") }
      _ = kept.person?.name
    }
    #expect(text(result).contains("ManagedObjectContext \"objects\", privateQueue"))
    #expect(text(result).contains("touched on: thread"))
  }

  @Test("even what identifies an object, and its state, outside its context's queue", arguments: Accessor.allCases)
  func accessor(_ accessor: Accessor) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [accessor = accessor as Accessor] in
      let context = ContextQueue(.privateQueue, coordinator: try Self.coordinator(), name: "objects")
      let kept = Kept()
      try context.performAndWait { context in kept.person = try context.person("Ada") }
      if let person = kept.person { accessor.read(person) }
    }
    #expect(text(result).contains("ManagedObjectContext \"objects\", privateQueue"))
  }

  enum Accessor: String, Codable, CaseIterable {
    case objectID, entity, managedObjectContext, isInserted, isUpdated, isDeleted, isFault, faultingState, hasChanges

    func read(_ object: ManagedObject) {
      switch self {
      case .objectID: _ = object.objectID
      case .entity: _ = object.entity
      case .managedObjectContext: _ = object.managedObjectContext
      case .isInserted: _ = object.isInserted
      case .isUpdated: _ = object.isUpdated
      case .isDeleted: _ = object.isDeleted
      case .isFault: _ = object.isFault
      case .faultingState: _ = object.faultingState
      case .hasChanges: _ = object.hasChanges
      }
    }
  }

  @Test("a private context's object on another context's queue")
  func anotherQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let coordinator = try Self.coordinator()
      let (one, two) = (
        ContextQueue(.privateQueue, coordinator: coordinator, name: "one"),
        ContextQueue(.privateQueue, coordinator: coordinator, name: "two")
      )
      let kept = Kept()
      try one.performAndWait { one in kept.person = try one.person("Ada") }
      two.performAndWait { _ in kept.person?.name = "Eve" }
    }
    #expect(text(result).contains("ManagedObjectContext \"one\""))
    #expect(text(result).contains("touched on: the queue of context \"two\""))
  }

  @Test("a main-queue context off the main queue")
  func mainContext() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ContextQueue(.mainQueue, coordinator: try Self.coordinator(), name: "main")
      Self.onThread { _ = try? context.current.all(Person.self) }
    }
    #expect(text(result).contains("ManagedObjectContext \"main\", mainQueue"))
    #expect(text(result).contains("belongs on: the main queue"))
  }

  @Test("a confinement context on another thread, also through performAndWait")
  func confinement() async {
    let direct = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ManagedObjectContext(.confinement, coordinator: try Self.coordinator(), name: "mine")
      let kept = Kept()
      kept.context = context
      Self.onThread { _ = kept.context?.registeredObjects }
    }
    #expect(text(direct).contains("ManagedObjectContext \"mine\", confinement"))
    #expect(text(direct).contains("belongs on: the thread that made it"))
    let waiting = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = ManagedObjectContext(.confinement, coordinator: try Self.coordinator(), name: "mine")
      let queue = context.queue
      Self.onThread { queue.performAndWait { _ in } }
    }
    #expect(text(waiting).contains("ManagedObjectContext \"mine\", confinement"))
  }

  @Test("a confinement context whose thread has ended, on a new thread with the same pthread_t")
  func reusedThread() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let coordinator = try Self.coordinator()
      let made = Mutex<(context: ContextQueue?, thread: pthread_t)>((nil, pthread_self()))
      try JoinedThread.run {
        made.withLock {
          $0 = (ContextQueue(.confinement, coordinator: coordinator, name: "mine"), pthread_self())
        }
      }
      // glibc gives the stack of a thread that has ended, and so its pthread_t, to the next one of the same size.
      for _ in 0..<64 {
        try JoinedThread.run {
          let (context, thread) = made.withLock { $0 }
          guard pthread_equal(thread, pthread_self()) != 0 else { return }
          _ = context?.current.registeredObjects
        }
      }
    }
    #expect(text(result).contains("belongs on: the thread that made it"))
  }
}

/// A thread that is waited for until it has really ended, so that the next one may get its `pthread_t`.
private enum JoinedThread {
  struct NotStarted: Error { let code: Int32 }

  static func run(_ body: @escaping @Sendable () -> Void) throws {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Body(body)).toOpaque()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, context)
    guard code == 0 else { throw NotStarted(code: code) }
    pthread_join(thread, nil)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

/// Lets an object out of its context, as only a mistake would.
private final class Kept: @unchecked Sendable {
  // Not safe at all: that is what the tests are about.
  var person: Person?
  var context: ManagedObjectContext?
}
