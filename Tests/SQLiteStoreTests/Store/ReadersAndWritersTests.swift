import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("Readers and writers of one file")
struct ReadersAndWritersTests {
  @Test("a reader doesn't wait while somebody else holds a write transaction open")
  func readersDontWait() async throws {
    let stack = try CompanyStack(.sqlite)
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "writer")
    try writer.performAndWait { writer in
      try writer.person("Ada")
      try writer.save()
    }
    let blocker = try stack.connection()
    let hold = DispatchSemaphore(value: 0)
    let (holding, isHolding) = AsyncStream.makeStream(of: Void.self)
    let (ended, hasEnded) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
    Thread.detachNewThread {
      let result = Result {
        try blocker.writeWithoutTransaction { db in
          try db.inTransaction(.immediate) {
            try db.execute(sql: "UPDATE Person SET age = 99")
            isHolding.finish()
            hold.wait()
            return .rollback
          }
        }
      }
      isHolding.finish()
      hasEnded.yield(result)
      hasEnded.finish()
    }
    for await _ in holding {}
    // This save waits for the transaction to end.
    let saving = Task {
      try await writer.perform { writer in
        try writer.person("Bob")
        try writer.save()
      }
    }
    let reader = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "reader")
    let names = try await reader.perform { reader in
      try reader.all(Person.self).map { "\($0.name ?? "") \($0.age ?? 0)" }
    }
    #expect(names == ["Ada 0"])
    hold.signal()
    try await saving.value
    for await result in ended { try result.get() }
    #expect(try await reader.perform { reader in try reader.all(Person.self).count } == 2)
  }

  @Test("what one coordinator saves, another on the same file reads")
  func twoCoordinators() throws {
    let stack = try CompanyStack(.sqlite)
    let second = try stack.secondCoordinator()
    let here = stack.context()
    let there = ManagedObjectContext(.confinement, coordinator: second)
    let ada = try here.person("Ada", age: 30)
    try here.save()
    let other = try #require(try there.named("Ada", Person.self))
    #expect(other.objectID == ada.objectID)
    other.age = 31
    try there.save()
    ada.age = 32
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: ada.objectID, isDeleted: false)])) {
      try here.save()
    }
  }

  @Test("many contexts save at the same time, and every row arrives once", arguments: StoreKind.allCases)
  func manyWriters(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          let context = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "writer \(writer)")
          for batch in 0..<5 {
            try await context.perform { context in
              for number in 0..<20 { try context.person("w\(writer).\(batch).\(number)") }
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let reader = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    let names = try await reader.perform { reader in try reader.all(Person.self).map { $0.name ?? "" } }
    #expect(names.count == 800 && Set(names).count == 800)
  }

  @Test("a fetch sees a save whole or not at all", arguments: StoreKind.allCases)
  func wholeSaves(_ kind: StoreKind) async throws {
    let stack = try CompanyStack(kind)
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "writer")
    let reader = ContextQueue(.privateQueue, coordinator: stack.coordinator, name: "reader")
    let writing = Task {
      for _ in 1...50 {
        try await writer.perform { writer in
          for name in ["one", "two", "three"] { try writer.person(name) }
          try writer.save()
          writer.reset()
        }
      }
    }
    for _ in 1...50 {
      let count = try await reader.perform { reader in
        try reader.count(for: FetchRequest<Person>(entityName: "Person"))
      }
      #expect(count.isMultiple(of: 3))
    }
    try await writing.value
  }
}
