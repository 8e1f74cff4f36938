import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A context whose waiting saves don't keep the rows that they insert")
struct WaitingRowsTests {
  private func follower(_ stack: CompanyStack) -> ContextQueue {
    let context = ContextQueue(
      .privateQueue, mergingSavesOf: stack.coordinator, name: "follower", needsRows: false)
    context.mergingInterval = .seconds(3600)
    context.performAndWait { context in context.retainsRegisteredObjects = true }
    return context
  }

  @discardableResult
  private func hire(_ name: String, at company: ManagedObjectID?, _ stack: CompanyStack) throws -> ManagedObjectID {
    let writer = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    return try writer.performAndWait { writer in
      let person = try writer.person(name)
      if let company { person.employer = writer.object(with: company) as? Company }
      try writer.save()
      return person.objectID
    }
  }

  private func employees(of company: ManagedObjectID, in context: ContextQueue) -> Set<String?> {
    context.performAndWait { context in
      Set((context.registeredObject(for: company) as? Company)?.employees.map(\.name) ?? [])
    }
  }

  @Test("follows the sets of what it inserted, though it has fetched nothing", arguments: StoreKind.allCases)
  func insertedSets(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = follower(stack)
    try hire("Ada", at: nil, stack)
    let company = try context.performAndWait { context in
      let company = try context.company("Acme")
      try context.save()
      return company.objectID
    }
    try hire("Ben", at: company, stack)
    try hire("Cleo", at: company, stack)
    #expect(employees(of: company, in: context) == ["Ben", "Cleo"])
    try hire("Dora", at: company, stack)
    #expect(employees(of: company, in: context) == ["Ben", "Cleo", "Dora"])
  }

  @Test("follows the sets of a row that its new object has become", arguments: StoreKind.allCases)
  func settledSets(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    (acme.country, acme.registration) = ("DE", 1)
    try writer.save()
    let row = acme.objectID
    let context = follower(stack)
    try hire("Ben", at: row, stack)
    try context.performAndWait { context in
      context.mergePolicy = .mergeByPropertyObjectTrump
      let company = try context.company("Acme Ltd")
      (company.country, company.registration) = ("DE", 1)
      try context.save()
      #expect(company.objectID == row)
    }
    #expect(employees(of: row, in: context) == ["Ben"])
    try hire("Cleo", at: row, stack)
    #expect(employees(of: row, in: context) == ["Ben", "Cleo"])
  }

  @Test("announces the IDs of a save that was made while it saved", arguments: StoreKind.allCases)
  func announcedIDs(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = follower(stack)
    let (others, merged) = (Recorder<ManagedObjectID>(), Recorder<ManagedObjectID>())
    let observers = [
      // The other's save precedes this context's, and waits until that is made.
      context.observe(ManagedObjectContext.willSaveObjectsNotification) { _ in
        #expect(throws: Never.self) { others.note(try hire("Ada", at: nil, stack)) }
      },
      context.observe(ManagedObjectContext.didMergeChangesObjectIDsNotification) { note in
        for id in ContextSave(note)?.insertedObjectIDs ?? [] { merged.note(id) }
      },
    ]
    defer { for observer in observers { observer.cancel() } }
    try context.performAndWait { context in
      try context.company("Acme")
      try context.save()
    }
    context.performAndWait { _ in }
    #expect(others.items.count == 1)
    #expect(merged.items == others.items)
  }
}
