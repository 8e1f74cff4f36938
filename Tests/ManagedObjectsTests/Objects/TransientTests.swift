import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Transient properties")
struct TransientTests {
  private static let model: ManagedObjectModel = {
    func transient(_ relationship: RelationshipDefinition) -> RelationshipDefinition {
      var relationship = relationship
      relationship.isTransient = true
      return relationship
    }
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Window",
          attributes: [
            AttributeDefinition("title", .string), AttributeDefinition("draft", .undefined, isTransient: true),
          ],
          relationships: [
            transient(RelationshipDefinition("front", to: "Window", inverse: "behind")),
            transient(
              RelationshipDefinition("behind", to: "Window", inverse: "front", isToMany: true, isOrdered: true)),
            transient(RelationshipDefinition("linked", to: "Window", inverse: "linked", isToMany: true)),
            transient(RelationshipDefinition("seen", to: "Window", isToMany: true)),
          ])
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private func window(_ title: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    let window = try context.insert("Window")
    try window.setValue(.string(title), forKey: "title")
    return window
  }

  @Test("an attribute outlives a save, isn't written, and is gone with a refresh", arguments: StoreKind.allCases)
  func attribute(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let context = stack.context()
    let window = try window("A", context)
    try window.setValue(.string("half"), forKey: "draft")
    try context.save()
    #expect(window.value(forKey: "draft") == .string("half"))
    #expect(
      try stack.context().fetch(FetchRequest<ManagedObject>(entityName: "Window"))[0].value(forKey: "draft") == .null)
    try window.setValue(.int(2), forKey: "draft")
    #expect(window.isUpdated && window.changedValues().isEmpty)
    #expect(try context.saveAndTell()?.updatedObjectIDs == [window.objectID])
    #expect(window.value(forKey: "draft") == .int(2) && !context.hasChanges)
    try window.setValue(.int(3), forKey: "draft")
    context.rollback()
    #expect(window.value(forKey: "draft") == .int(2))
    context.refresh(window, mergeChanges: false)
    #expect(window.value(forKey: "draft") == .null)
  }

  @Test("nothing transient can be fetched or sorted by, and the part is named", arguments: StoreKind.allCases)
  func fetching(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind, model: Self.model).context()
    let child = ManagedObjectContext(.confinement, parent: context)
    let formats = [
      ("draft == nil", "draft"), ("title == 'x' OR NOT draft == nil", "draft"), ("front == nil", "front"),
      ("front.title == 'x'", "front"), ("ANY linked.title == 'x'", "linked"), ("behind.@count == 0", "behind"),
      ("SUBQUERY(seen, $w, $w.title == 'x').@count == 1", "seen"), ("front.draft == nil", "front"),
    ]
    for (format, name) in formats {
      let request = FetchRequest<ManagedObject>(entityName: "Window", predicate: try FetchPredicate(format: format))
      for context in [context, child] {
        #expect(throws: FetchRequestError.notStored(entity: "Window", property: name), "\(format)") {
          try context.fetch(request)
        }
        #expect(throws: FetchRequestError.notStored(entity: "Window", property: name)) {
          try context.count(for: request)
        }
      }
      #expect(throws: FetchRequestError.notStored(entity: "Window", property: name)) {
        try context.execute(BatchDeleteRequest(fetchRequest: request))
      }
      var update = BatchUpdateRequest(entityName: "Window")
      update.predicate = request.predicate
      #expect(throws: FetchRequestError.notStored(entity: "Window", property: name)) { try context.execute(update) }
    }
    let sorted = FetchRequest<ManagedObject>(
      entityName: "Window", sortDescriptors: [FetchSortDescriptor("front.title")])
    #expect(throws: FetchRequestError.notStored(entity: "Window", property: "front")) { try context.fetch(sorted) }
  }

  @Test("a child's save takes it to the parent", arguments: StoreKind.allCases)
  func child(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let parent = stack.context()
    let child = ManagedObjectContext(.confinement, parent: parent)
    let window = try window("A", child)
    try window.setValue(.string("half"), forKey: "draft")
    try child.save()
    #expect(parent.object(with: window.objectID).value(forKey: "draft") == .string("half"))
  }

  @Test("a child's save takes it to the parent when nothing else has changed", arguments: StackCase.all)
  func updateOfChild(_ kind: StackCase) throws {
    let stack = try CompanyStack(kind.store, model: Self.model)
    let container = PersistentContainer(coordinator: stack.coordinator, stack: kind.stack, viewQueue: .privateQueue)
    let view = container.viewContext
    let writer = stack.context()
    let object = try window("A", writer)
    try writer.save()
    let saved = object.objectID
    let child = container.newBackgroundContext()
    try child.performAndWait { child in
      try child.object(with: saved).setValue(.string("half"), forKey: "draft")
      try child.save()
    }
    let shown = view.performAndWait { view in view.object(with: saved).value(forKey: "draft") }
    #expect(shown == (kind.isNested ? .string("half") : .null))
  }

  @Test("relationships are kept on both sides and not in the store", arguments: StoreKind.allCases)
  func relationships(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let context = stack.context()
    let (a, b) = (try window("A", context), try window("B", context))
    try context.save()
    let reader = stack.context()
    for context in [context, reader] {
      let (a, b) = (context.object(with: a.objectID), context.object(with: b.objectID))
      try a.setValue(.object(b.objectID), forKey: "front")
      try a.setValue(.objects([b.objectID]), forKey: "linked")
      try a.setValue(.objects([b.objectID]), forKey: "seen")
      #expect(b.value(forKey: "behind") == .orderedObjects([a.objectID]))
      #expect(b.value(forKey: "linked") == .objects([a.objectID]))
      try context.save()
      #expect(b.value(forKey: "behind") == .orderedObjects([a.objectID]), "a save leaves it")
      #expect(a.value(forKey: "seen") == .objects([b.objectID]))
    }
    let fresh = stack.context().object(with: a.objectID)
    #expect(fresh.value(forKey: "front") == .null && fresh.value(forKey: "behind") == .orderedObjects([]))
    #expect(fresh.value(forKey: "linked") == .objects([]) && fresh.value(forKey: "seen") == .objects([]))
    context.delete(a)
    try context.save()
    #expect(b.value(forKey: "behind") == .orderedObjects([]))
  }
}
