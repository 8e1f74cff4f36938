import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Rules for the number of a set's members")
struct MemberRuleTests {
  private static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Team", attributes: [AttributeDefinition("name", .string)],
          relationships: [
            RelationshipDefinition("players", to: "Player", inverse: "team", isToMany: true, maximumCount: 2),
            RelationshipDefinition("captains", to: "Player", inverse: "leads", isToMany: true, isOptional: false),
          ]),
        EntityDefinition(
          "Player", attributes: [AttributeDefinition("name", .string)],
          relationships: [
            RelationshipDefinition("team", to: "Team", inverse: "players"),
            RelationshipDefinition("leads", to: "Team", inverse: "captains"),
          ]),
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  /// A container of one of the three stacks, over a team with a player and a captain.
  private struct Scene {
    let company: CompanyStack
    let container: PersistentContainer
    let team: ManagedObjectID
    let captain: ManagedObjectID

    init(_ kind: StackCase) throws {
      company = try CompanyStack(kind.store, model: MemberRuleTests.model)
      let writer = company.context()
      let team = try writer.insert("Team")
      let (player, captain) = (try writer.insert("Player"), try writer.insert("Player"))
      try player.setValue(.object(team.objectID), forKey: "team")
      try captain.setValue(.object(team.objectID), forKey: "leads")
      try writer.save()
      (self.team, self.captain) = (team.objectID, captain.objectID)
      container = PersistentContainer(
        coordinator: company.coordinator, stack: kind.stack, viewQueue: .privateQueue)
    }

    /// Adds a player from the player's end.
    func join(_ context: ContextQueue) throws {
      let id = team
      try context.performAndWait { context in try context.insert("Player").setValue(.object(id), forKey: "team") }
    }
  }

  private func failures(of body: () throws -> Void) -> [ValidationFailure.Reason] {
    do {
      try body()
    } catch ManagedObjectError.validation(let failures) {
      return failures.map(\.reason)
    } catch {
      Issue.record("another error: \(error)")
    }
    return []
  }

  @Test("a member too many is refused, though the set hasn't been read", arguments: StackCase.all, [false, true])
  func tooMany(_ kind: StackCase, reads: Bool) throws {
    let scene = try Scene(kind)
    let context = scene.container.newBackgroundContext()
    let id = scene.team
    if reads {
      context.performAndWait { context in
        context.retainsRegisteredObjects = true
        #expect(context.object(with: id).objectIDs(forRelationshipNamed: "players").count == 1)
      }
    }
    try scene.join(context)
    try context.performAndWait { context in try context.save() }
    try scene.join(context)
    let reasons = failures { try context.performAndWait { context in try context.save() } }
    #expect(reasons == [.tooManyObjects(2)])
    context.performAndWait { context in context.rollback() }
    try context.performAndWait { context in try context.save() }
  }

  @Test("the last member of a mandatory set can't leave or be deleted", arguments: StackCase.all, [false, true])
  func tooFew(_ kind: StackCase, deletes: Bool) throws {
    let scene = try Scene(kind)
    let context = scene.container.newBackgroundContext()
    let (id, team) = (scene.captain, scene.team)
    let reasons = failures {
      try context.performAndWait { context in
        let captain = context.object(with: id)
        if deletes { context.delete(captain) } else { try captain.setValue(.null, forKey: "leads") }
        try context.save()
      }
    }
    #expect(reasons == [.tooFewObjects(1)])
    // Another takes the place.
    try context.performAndWait { context in
      try context.insert("Player").setValue(.object(team), forKey: "leads")
      try context.save()
    }
  }

  @Test("members are counted, not read", arguments: StoreKind.allCases)
  func counted(_ kind: StoreKind) throws {
    let scene = try Scene(StackCase(stack: .independent, store: kind))
    let context = scene.company.context()
    let before = scene.company.reads.items.count
    try scene.join(context.queue)
    try context.save()
    let reads = scene.company.reads.items.dropFirst(before)
    #expect(reads.count == 2 && reads.contains { $0.hasPrefix("count") }, "\(reads)")
  }

  @Test(
    "a child's members are counted with those of every level above, read or not, for many owners",
    arguments: StoreKind.allCases)
  func levels(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind, model: Self.model)
    let writer = stack.context()
    let made = try (0..<30).map { number in
      let team = try writer.insert("Team")
      try writer.insert("Player").setValue(team, forKey: "leads")
      if number % 3 > 0 { try writer.insert("Player").setValue(team, forKey: "team") }
      return team
    }
    try writer.save()
    let teams = made.map(\.objectID)
    let parent = stack.context()
    let middle = ManagedObjectContext(.confinement, parent: parent)
    let child = ManagedObjectContext(.confinement, parent: middle)
    for context in [parent, middle, child] { context.retainsRegisteredObjects = true }
    for (number, id) in teams.enumerated() {
      // The upper levels add a player to some of the teams, and one level reads the set then.
      for (place, context) in [parent, middle].enumerated() where number % 4 == place {
        try context.insert("Player").setValue(context.object(with: id), forKey: "team")
      }
      let reader = [parent, middle, child][number % 3]
      _ = reader.object(with: id).objectIDs(forRelationshipNamed: "players")
    }
    for id in teams { try child.insert("Player").setValue(child.object(with: id), forKey: "team") }
    // Those with a player in the store and another in a context above.
    let full = teams.indices.filter { $0 % 3 > 0 && $0 % 4 < 2 }
    do {
      try child.save()
      Issue.record("the rule isn't kept")
    } catch ManagedObjectError.validation(let failures) {
      #expect(failures.allSatisfy { $0.reason == .tooManyObjects(2) })
      #expect(Set(failures.compactMap(\.objectID)) == Set(full.map { teams[$0] }))
    }
    for player in child.insertedObjects {
      guard let team = player.objectIDs(forRelationshipNamed: "team").first, full.contains(where: { teams[$0] == team })
      else { continue }
      child.delete(player)
    }
    for context in [child, middle, parent] { try context.save() }
    let stored = try stack.context().count(
      for: FetchRequest<ManagedObject>(entityName: "Player", predicate: FetchPredicate(format: "team != nil")))
    #expect(stored == 20 + teams.indices.filter { $0 % 4 < 2 }.count + 30 - full.count)
  }

  @Test("two contexts can't exceed it together", arguments: StoreKind.allCases)
  func together(_ kind: StoreKind) throws {
    let scene = try Scene(StackCase(stack: .independent, store: kind))
    let (here, there) = (scene.company.context(), scene.company.context())
    for context in [here, there] {
      context.retainsRegisteredObjects = true
      _ = try context.existingObject(with: scene.team)
      try scene.join(context.queue)
    }
    try there.save()
    let reasons = failures { try here.save() }
    #expect(reasons == [.tooManyObjects(2)])
  }
}
