import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Core Data: the inverse is a property of the owner, so the owner changes too, though its row doesn't.
@Suite("The owner of a set changes with its members")
struct OwnerTests {
  /// What happens to a member of a set.
  enum Change: String, CaseIterable {
    case added = "a new member"
    case moved = "a member moves to another owner"
    case removed = "a member leaves"
    case deleted = "a member is deleted"
  }

  /// What the context knows of the owner before.
  enum Knowledge: String, CaseIterable {
    case unregistered, fault, filled, read
  }

  /// An item with a part in a context that knows as much of the item as asked for.
  private struct Scene {
    let context: ManagedObjectContext
    let part: ManagedObject
    let owner: ManagedObjectID
    let other: ManagedObjectID

    init(_ kind: StoreKind, _ knowledge: Knowledge) throws {
      let stack = try DiaryModel.stack(kind)
      let writer = stack.context()
      let (item, second, part) = (
        try writer.insert(Item.self), try writer.insert(Item.self), try writer.insert(Part.self)
      )
      item.parts = [part]
      try writer.save()
      (owner, other) = (item.objectID, second.objectID)
      context = stack.context()
      context.retainsRegisteredObjects = true
      switch knowledge {
      case .unregistered: break
      case .fault: _ = context.object(with: owner)
      case .filled: _ = try context.existingObject(with: owner)
      case .read: #expect((context.object(with: owner) as? Item)?.parts.count == 1)
      }
      self.part = context.object(with: part.objectID)
    }

    /// Makes the change. Returns those whose sets have changed.
    func make(_ change: Change) throws -> Set<ManagedObjectID> {
      switch change {
      case .added:
        try context.insert(Part.self).setValue(.object(owner), forKey: "owner")
      case .moved:
        try part.setValue(.object(other), forKey: "owner")
        return [owner, other]
      case .removed: try part.setValue(.null, forKey: "owner")
      case .deleted:
        context.delete(part)
        context.processPendingChanges()
      }
      return [owner]
    }
  }

  @Test("it is asked, validated and announced by the save", arguments: Change.allCases, Knowledge.allCases)
  func announced(_ change: Change, _ knowledge: Knowledge) throws {
    for kind in StoreKind.allCases {
      let scene = try Scene(kind, knowledge)
      let context = scene.context
      let owners = try scene.make(change)
      let objects = owners.compactMap { context.registeredObject(for: $0) }
      #expect(objects.count == owners.count && objects.allSatisfy(\.isUpdated))
      #expect(Set(context.updatedObjects.map(\.objectID)).isSuperset(of: owners))
      #expect(!objects.isEmpty && objects.allSatisfy(\.hasPersistentChangedValues))
      var calls: [String: [ManagedObjectID]] = [:]
      for event in ["willSave", "validateForUpdate", "didSave"] {
        context.diary.onEvent[event] = { calls[event, default: []].append($0.objectID) }
      }
      let save = try #require(try context.saveAndTell())
      for event in ["willSave", "validateForUpdate", "didSave"] {
        let asked = (calls[event] ?? []).filter(owners.contains)
        #expect(Set(asked) == owners && asked.count == owners.count, "\(event), \(kind)")
      }
      #expect(Set(save.updatedObjectIDs).isSuperset(of: owners))
      #expect(!context.hasChanges && objects.allSatisfy { !$0.isUpdated })
    }
  }

  @Test("a willSave that keeps a counter sees the set, and stores it", arguments: Knowledge.allCases)
  func counters(_ knowledge: Knowledge) throws {
    for kind in StoreKind.allCases {
      let scene = try Scene(kind, knowledge)
      scene.context.diary.onEvent["willSave"] = { object in
        guard let item = object as? Item, item.changedValues()["parts"] != nil else { return }
        let count = Int32(item.parts.count)
        if item.count != count { item.count = count }
      }
      _ = try scene.make(.added)
      try scene.context.save()
      #expect((scene.context.object(with: scene.owner) as? Item)?.count == 2)
      _ = try scene.make(.deleted)
      try scene.context.save()
      #expect((scene.context.object(with: scene.owner) as? Item)?.count == 1)
    }
  }

  @Test("an event that is undone leaves nothing to save", arguments: StoreKind.allCases, Knowledge.allCases)
  func undone(_ kind: StoreKind, _ knowledge: Knowledge) throws {
    let scene = try Scene(kind, knowledge)
    scene.context.undoManager = ManagedObjects.UndoManager()
    _ = try scene.make(.removed)
    scene.context.processPendingChanges()
    scene.context.undo()
    #expect(!scene.context.hasChanges)
    #expect((scene.context.object(with: scene.owner) as? Item)?.parts.count == 1)
  }

  @Test("a rollback and a refresh give up its change", arguments: StoreKind.allCases, Knowledge.allCases)
  func takenBack(_ kind: StoreKind, _ knowledge: Knowledge) throws {
    let scene = try Scene(kind, knowledge)
    let context = scene.context
    _ = try scene.make(.removed)
    context.rollback()
    let item = try #require(context.object(with: scene.owner) as? Item)
    #expect(!context.hasChanges && !item.isUpdated && item.parts.count == 1)
    _ = try scene.make(.removed)
    context.refresh(item, mergeChanges: true)
    #expect(item.isUpdated && item.parts.isEmpty)
    context.refresh(item, mergeChanges: false)
    #expect(!item.isUpdated && item.parts.isEmpty, "the part still has no owner")
    let save = try #require(try context.saveAndTell())
    #expect(save.updatedObjectIDs.contains(scene.owner))
  }

  @Test("values that are set after it has changed as a fault are saved", arguments: StoreKind.allCases)
  func filledLater(_ kind: StoreKind) throws {
    let scene = try Scene(kind, .fault)
    _ = try scene.make(.added)
    let item = try #require(scene.context.object(with: scene.owner) as? Item)
    #expect(item.isFault && item.isUpdated)
    item.stamp = "new"
    #expect(item.changedValues()["stamp"] == .string("new"))
    #expect(item.committedValues(forKeys: ["stamp"]) == ["stamp": .null])
    try scene.context.save()
    scene.context.refresh(item, mergeChanges: false)
    #expect(item.stamp == "new" && item.parts.count == 2)
  }

  @Test("many members of a few owners are saved with one read of the owners", arguments: StoreKind.allCases)
  func cheap(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let companies = try ["A", "B", "C"].map { try writer.company($0) }
    try writer.save()
    let context = stack.context()
    let owners = companies.compactMap { context.object(with: $0.objectID) as? Company }
    let before = stack.reads.items.count
    for number in 0..<300 { try context.person("P\(number)").employer = owners[number % 3] }
    try context.save()
    #expect(stack.reads.items.dropFirst(before).count == 1)
  }

  private static let firms: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Firm",
          relationships: [
            RelationshipDefinition("offices", to: "Office", inverse: "firm", isToMany: true, deleteRule: .cascade)
          ]),
        EntityDefinition(
          "Office",
          relationships: [
            RelationshipDefinition("firm", to: "Firm", inverse: "offices", isOptional: false),
            RelationshipDefinition("clerks", to: "Clerk", inverse: "office", isToMany: true),
          ]),
        EntityDefinition("Clerk", relationships: [RelationshipDefinition("office", to: "Office", inverse: "clerks")]),
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  @Test(
    "an owner that changes as a fault stays a member of the sets that it is in", arguments: StoreKind.allCases,
    [false, true])
  func isMemberItself(_ kind: StoreKind, isNested: Bool) throws {
    let stack = try CompanyStack(kind, model: Self.firms)
    let writer = stack.context()
    let (firm, office, clerk) = (try writer.insert("Firm"), try writer.insert("Office"), try writer.insert("Clerk"))
    try office.setValue(firm, forKey: "firm")
    try clerk.setValue(office, forKey: "office")
    try writer.save()
    let context = isNested ? ManagedObjectContext(.confinement, parent: writer) : stack.context()
    let mine = try context.existingObject(with: firm.objectID)
    let leaving = try context.existingObject(with: clerk.objectID)
    try leaving.setValue(.null, forKey: "office")
    #expect(context.registeredObject(for: office.objectID)?.isFault == true)
    #expect(mine.objectIDs(forRelationshipNamed: "offices") == [office.objectID])
    context.delete(mine)
    try context.save()
    if isNested { try writer.save() }
    #expect(try stack.context().count(for: FetchRequest<ManagedObject>(entityName: "Office")) == 0)
  }

  @Test("a change that was given up is none of the object's later changes", arguments: StoreKind.allCases)
  func forgotten(_ kind: StoreKind) throws {
    let scene = try Scene(kind, .filled)
    _ = try scene.make(.removed)
    let item = try #require(scene.context.registeredObject(for: scene.owner) as? Item)
    scene.context.refresh(scene.part, mergeChanges: false)
    scene.context.refresh(item, mergeChanges: false)
    item.label = "shown"
    #expect(item.isUpdated && !item.hasPersistentChangedValues)
  }
}
