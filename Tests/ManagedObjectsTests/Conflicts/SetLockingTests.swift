import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Sets that another context has changed")
struct SetLockingTests {
  /// Acme in two contexts, in one of which its employees have perhaps been read.
  private struct Twice {
    let stack: CompanyStack
    let here: ManagedObjectContext
    let mine: Company
    let there: ManagedObjectContext
    let theirs: Company

    init(_ kind: StoreKind, reads: Bool = false) throws {
      stack = try CompanyStack(kind)
      let writer = stack.context()
      try writer.person("Ada").employer = try writer.company("Acme")
      try writer.save()
      (here, there) = (stack.context(), stack.context())
      mine = try #require(try here.named("Acme", Company.self))
      theirs = try #require(try there.named("Acme", Company.self))
      if reads { #expect(mine.employees.count == 1) }
    }

    var stored: [String] {
      get throws { try stack.context().named("Acme", Company.self)?.employees.compactMap(\.name).sorted() ?? [] }
    }
  }

  @Test("both have added a member: that is a conflict of the owner", arguments: StoreKind.allCases, [false, true])
  func bothAdd(_ kind: StoreKind, reads: Bool) throws {
    let two = try Twice(kind, reads: reads)
    try two.there.person("Bob").employer = two.theirs
    try two.there.save()
    try two.here.person("Cid").employer = two.mine
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: two.mine.objectID, isDeleted: false)])) {
      try two.here.save()
    }
    #expect(try two.stored == ["Ada", "Bob"])
    two.here.refresh(two.mine, mergeChanges: true)
    try two.here.save()
    #expect(try two.stored == ["Ada", "Bob", "Cid"])
    #expect(Set(two.mine.employees.compactMap(\.name)) == ["Ada", "Bob", "Cid"])
  }

  @Test("a policy settles it, and keeps the members of both", arguments: StoreKind.allCases)
  func policies(_ kind: StoreKind) throws {
    for policy in MergePolicyTests.policies {
      let two = try Twice(kind)
      two.here.mergePolicy = policy
      try two.there.person("Bob").employer = two.theirs
      try two.there.save()
      try two.here.person("Cid").employer = two.mine
      try two.here.save()
      #expect(try two.stored == ["Ada", "Bob", "Cid"], "\(policy.mergeType)")
      #expect(!two.here.hasChanges)
    }
  }

  @Test("whoever has merged the other's save may change the set", arguments: StoreKind.allCases, [false, true])
  func merged(_ kind: StoreKind, reads: Bool) throws {
    let two = try Twice(kind, reads: reads)
    try two.there.person("Bob").employer = two.theirs
    two.here.mergeChanges(fromContextDidSave: try #require(try two.there.saveAndTell()))
    try two.here.person("Cid").employer = two.mine
    try two.here.save()
    try two.here.person("Dee").employer = two.mine
    try two.here.save()
    #expect(try two.stored == ["Ada", "Bob", "Cid", "Dee"])
  }

  @Test("a set that only one of them changes is no conflict", arguments: StoreKind.allCases)
  func otherChanges(_ kind: StoreKind) throws {
    let two = try Twice(kind)
    try two.there.named("Ada", Person.self)?.employer = nil
    try two.there.save()
    two.mine.name = "Acme Ltd"
    try two.here.save()
    #expect(two.mine.name == "Acme Ltd", "its row is as it was read")
    let other = try two.there.company("Mill")
    try two.there.person("Eve").employer = other
    try two.there.save()
    try two.here.person("Fay").employer = two.here.named("Mill", Company.self)
    try two.here.save()
  }

  @Test("a counter that the owner keeps comes out right, as in objc.io's Moody", arguments: StoreKind.allCases)
  func counters(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    func insertPart(_ context: ManagedObjectContext, of item: ManagedObjectID) throws {
      try context.insert(Part.self).setValue(.object(item), forKey: "owner")
      try context.save()
    }
    let (here, there) = (stack.context(), stack.context())
    for context in [here, there] {
      context.mergePolicy = CountingPolicy(merge: .mergeByPropertyObjectTrump)
      context.diary.onEvent["willSave"] = { object in
        guard let item = object as? Item, item.changedValues()["parts"] != nil else { return }
        let count = Int32(item.parts.count)
        if item.count != count { item.count = count }
      }
    }
    let item = try here.insert(Item.self)
    try insertPart(here, of: item.objectID)
    #expect(item.count == 1)
    try insertPart(there, of: item.objectID)
    try insertPart(here, of: item.objectID)
    #expect(item.count == 3)
    #expect(try stack.context().all(Item.self).first?.count == 3)
  }

  @Test("an owner whose row has changed, or is gone, is a conflict, too", arguments: StoreKind.allCases, [false, true])
  func rows(_ kind: StoreKind, deletes: Bool) throws {
    let two = try Twice(kind)
    if deletes { two.there.delete(two.theirs) } else { two.theirs.country = "DE" }
    try two.there.save()
    try two.here.person("Cid").employer = two.mine
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: two.mine.objectID, isDeleted: deletes)])) {
      try two.here.save()
    }
  }

  @Test("an owner that wasn't known before is as it is when the save reads it", arguments: StoreKind.allCases)
  func unknown(_ kind: StoreKind) throws {
    let two = try Twice(kind)
    let context = two.stack.context()
    let company = try #require(context.object(with: two.mine.objectID) as? Company)
    try two.there.person("Bob").employer = two.theirs
    try two.there.save()
    try context.person("Cid").employer = company
    try context.save()
    #expect(try two.stored == ["Ada", "Bob", "Cid"])
  }

  @Test("the row of an owner isn't written")
  func notWritten() throws {
    let two = try Twice(.sqlite)
    try two.stack.execute(
      "CREATE TRIGGER untouched AFTER UPDATE ON Company BEGIN SELECT RAISE(ABORT, 'an owner was written'); END")
    try two.here.person("Cid").employer = two.mine
    try two.here.save()
    #expect(try two.stored == ["Ada", "Cid"])
  }

  @Test("children of one parent meet there without a conflict, and the parent's save is one", arguments: StackCase.all)
  func children(_ kind: StackCase) throws {
    let stack = try kind.make()
    let writer = stack.company.context()
    let acme = try writer.company("Acme")
    try writer.save()
    let id = acme.objectID
    let contexts = [stack.container.newBackgroundContext(), stack.container.newBackgroundContext()]
    for context in contexts {
      try context.performAndWait { context in
        context.retainsRegisteredObjects = true
        let company = try #require(try context.existingObject(with: id) as? Company)
        try context.person("Pat").employer = company
      }
    }
    try stack.save(contexts[0])
    if kind.isNested {
      try stack.save(contexts[1])
      let count = stack.view.performAndWait { view in (view.object(with: id) as? Company)?.employees.count }
      #expect(count == 2)
    } else {
      #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: id, isDeleted: false)])) {
        try stack.save(contexts[1])
      }
    }
  }

  @Test("whoever has merged the other's save by its IDs may change the set, too", arguments: StoreKind.allCases)
  func mergedByIDs(_ kind: StoreKind) throws {
    let two = try Twice(kind)
    try two.there.person("Bob").employer = two.theirs
    let save = try #require(try two.there.saveAndTell())
    typealias Key = ManagedObjectContext.NotificationKey
    two.here.mergeChanges(
      fromContextDidSave: Notification(
        name: ManagedObjectContext.didSaveObjectIDsNotification, object: nil,
        userInfo: [
          Key.insertedObjectIDs.rawValue: Set(save.insertedObjectIDs),
          Key.updatedObjectIDs.rawValue: Set(save.updatedObjectIDs),
        ]))
    try two.here.person("Cid").employer = two.mine
    try two.here.save()
    #expect(try two.stored == ["Ada", "Bob", "Cid"])
  }

  private static let clubs: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Group",
          relationships: [RelationshipDefinition("members", to: "Member", inverse: "group", isToMany: true)]),
        EntityDefinition("Club", parent: "Group"),
        EntityDefinition(
          "Member", relationships: [RelationshipDefinition("group", to: "Group", inverse: "members")]),
        EntityDefinition("Room", relationships: [RelationshipDefinition("tenant", to: "Group")]),
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  @Test("an owner that a relationship led to, and whose class its row told, is locked", arguments: StoreKind.allCases)
  func overRelationship(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.clubs)
    let (here, there) = (stack.context(), stack.context())
    let (club, room) = (try there.insert("Club"), try there.insert("Room"))
    try room.setValue(club, forKey: "tenant")
    try there.save()
    let mine = try #require(try here.existingObject(with: room.objectID)["tenant"] as ManagedObject?)
    mine.willAccessValue(forKey: nil)
    #expect(mine.entity.name == "Club" && !mine.isFault)
    try there.insert("Member").setValue(club, forKey: "group")
    try there.save()
    try here.insert("Member").setValue(mine, forKey: "group")
    #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: club.objectID, isDeleted: false)])) {
      try here.save()
    }
  }

  @Test(
    "an owner that a merge brought to a controller is locked from that save on", arguments: StoreKind.allCases,
    [false, true])
  func inController(_ kind: StoreKind, mergesBoth: Bool) throws {
    let stack = try CompanyStack(kind)
    let (here, there) = (stack.context(), stack.context())
    let controller = FetchedResultsController<Company>(
      fetchRequest: FetchRequest(entityName: "Company", sortDescriptors: [FetchSortDescriptor("name")]),
      managedObjectContext: here)
    try controller.performFetch()
    let acme = try there.company("Acme")
    here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell()))
    let mine = try #require(controller.fetchedObjects?.first)
    #expect(!mine.isFault)
    try there.person("Bob").employer = acme
    let second = try #require(try there.saveAndTell())
    if mergesBoth { here.mergeChanges(fromContextDidSave: second) }
    try here.person("Cid").employer = mine
    if mergesBoth {
      try here.save()
    } else {
      #expect(throws: ManagedObjectError.mergeConflicts([.init(objectID: acme.objectID, isDeleted: false)])) {
        try here.save()
      }
    }
  }
}

/// Counts the members again where another context has changed them.
private final class CountingPolicy: MergePolicy, @unchecked Sendable {
  // Sendable: it adds nothing.

  override func resolve(
    optimisticLockingConflicts conflicts: [MergeConflict], in context: ManagedObjectContext
  ) throws {
    try super.resolve(optimisticLockingConflicts: conflicts, in: context)
    for conflict in conflicts {
      guard let item = context.object(with: conflict.objectID) as? Item else { continue }
      context.refresh(item, mergeChanges: true)
      item.count = Int32(item.parts.count)
    }
  }
}
