import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// What the tests of objc.io's Moody say of its model, its merge policy and its deletions, of another model.
@Suite("Counts and dates that objects keep of each other when they are saved")
struct ParkTests {
  private func context(_ kind: StoreKind) throws -> ManagedObjectContext { try ParkModel.stack(kind).context() }

  /// How a sighting goes: marked, to be deleted later, or at once.
  enum Ending: String, CaseIterable {
    case marked, deleted
  }

  private func end(_ sighting: Sighting, _ ending: Ending) throws {
    let context = try #require(sighting.managedObjectContext)
    if ending == .marked { sighting.closedAt = context.nextMoment } else { context.delete(sighting) }
    try context.save()
    #expect(!context.hasChanges)
  }

  private func stored(_ pond: Pond?) throws -> [Int64?] {
    let context = try #require(pond?.managedObjectContext)
    let reader = ManagedObjectContext(.confinement, coordinator: context.persistentStoreCoordinator)
    let pond = try reader.existingObject(with: try #require(pond?.objectID)) as? Pond
    return [pond?.sightingCount, pond?.park?.sightingCount, pond?.park?.pondCount]
  }

  @Test("a new member touches its owner, and that one's owner", arguments: StoreKind.allCases)
  func touched(_ kind: StoreKind) throws {
    let context = try context(kind)
    let pond = try #require(try context.seeAndSave(at: 11)[0].pond)
    let park = try #require(pond.park)
    let (atPond, atPark) = (try #require(pond.updatedAt), try #require(park.updatedAt))
    try context.seeAndSave(at: 11)
    #expect(try #require(pond.updatedAt) > atPond && #require(park.updatedAt) > atPark)
  }

  @Test("one that leaves doesn't touch it", arguments: StoreKind.allCases, Ending.allCases)
  func untouched(_ kind: StoreKind, _ ending: Ending) throws {
    let context = try context(kind)
    let sightings = try context.seeAndSave(at: 11, 11)
    let pond = try #require(sightings[0].pond)
    let before = pond.updatedAt
    try end(sightings[1], ending)
    #expect(pond.updatedAt == before)
  }

  @Test("new members are counted by their owner, and by that one's owner", arguments: StoreKind.allCases)
  func counted(_ kind: StoreKind) throws {
    let context = try context(kind)
    let pond = try #require(try context.seeAndSave(at: 11)[0].pond)
    #expect(try stored(pond) == [1, 1, 1])
    try context.seeAndSave(at: 11)
    #expect(pond.sightingCount == 2 && pond.park?.sightingCount == 2)
    try context.seeAndSave(at: 11, 12)
    #expect(pond.park?.sightingCount == 4 && pond.park?.pondCount == 2)
    #expect(try stored(pond) == [3, 4, 2])
  }

  @Test("so are those that leave", arguments: StoreKind.allCases, Ending.allCases)
  func uncounted(_ kind: StoreKind, _ ending: Ending) throws {
    let context = try context(kind)
    let sightings = try context.seeAndSave(at: 11, 11, 12, 12)
    let pond = try #require(sightings[0].pond)
    try end(sightings[1], ending)
    #expect(try stored(pond) == [1, 3, 2])
    try end(sightings[3], ending)
    #expect(try stored(pond) == [1, 2, 2])
    // The last one of the other pond.
    try end(sightings[2], ending)
    #expect(try stored(pond) == [1, 1, 1])
  }

  @Test(
    "an owner goes with its last member, and its owner with that one", arguments: StoreKind.allCases, Ending.allCases)
  func closed(_ kind: StoreKind, _ ending: Ending) throws {
    let context = try context(kind)
    let sighting = try context.seeAndSave(at: 11)[0]
    let pond = try #require(sighting.pond)
    let park = try #require(pond.park)
    try end(sighting, ending)
    #expect(pond.closedAt != nil && park.closedAt != nil && pond.park == nil)
    let open = try FetchPredicate(format: "closedAt == nil")
    #expect(try context.all(Pond.self, open).isEmpty && context.all(Park.self, open).isEmpty)
    let request = BatchDeleteRequest(
      fetchRequest: FetchRequest<ManagedObject>(
        entityName: "Place", predicate: try FetchPredicate(format: "closedAt < %@", context.nextMoment)))
    try context.execute(request)
    let reader = ManagedObjectContext(.confinement, coordinator: context.persistentStoreCoordinator)
    #expect(try reader.count(for: FetchRequest<Park>(entityName: "Park")) == 0)
  }

  // MARK: Two contexts

  private func two(_ kind: StoreKind) throws -> (ManagedObjectContext, ManagedObjectContext) {
    let stack = try ParkModel.stack(kind)
    let (here, there) = (stack.context(), stack.context())
    for context in [here, there] { context.mergePolicy = ParkPolicy() }
    return (here, there)
  }

  @Test("of two dates a policy keeps the latest, whoever saves it last", arguments: StoreKind.allCases)
  func latest(_ kind: StoreKind) throws {
    let (here, there) = try two(kind)
    let mine = try #require(try here.seeAndSave(at: 11)[0].pond)
    let theirs = try #require(try there.existingObject(with: mine.objectID) as? Pond)
    let winner = Date(timeIntervalSinceReferenceDate: 2000)
    mine.updatedAt = winner
    try here.save()
    theirs.updatedAt = Date(timeIntervalSinceReferenceDate: 1000)
    try there.save()
    there.refreshAllObjects()
    #expect(theirs.updatedAt == winner)
    #expect(try stored(mine) == [1, 1, 1])
  }

  @Test("of two counts it keeps what the store holds", arguments: StoreKind.allCases)
  func counts(_ kind: StoreKind) throws {
    let (here, there) = try two(kind)
    let pond = try #require(try here.seeAndSave(at: 11)[0].pond)
    let park = try #require(pond.park)
    try there.seeAndSave(at: 11)
    try here.seeAndSave(at: 11)
    #expect(pond.sightingCount == 3 && park.sightingCount == 3)
    try there.seeAndSave(at: 12)
    try here.seeAndSave(at: 13)
    #expect(park.pondCount == 3 && park.sightingCount == 5)
    #expect(try stored(pond) == [3, 5, 3])
  }

  @Test("places that both make by the same unique codes become one, with their members", arguments: StoreKind.allCases)
  func unique(_ kind: StoreKind) throws {
    let (here, there) = try two(kind)
    let mine = try here.see(at: [11])[0]
    let theirs = try there.seeAndSave(at: 11)[0]
    try here.save()
    let pond = try #require(mine.pond)
    #expect(pond.objectID == theirs.pond?.objectID && pond.park?.objectID == theirs.pond?.park?.objectID)
    #expect(pond.sightingCount == 2 && pond.park?.sightingCount == 2 && pond.park?.pondCount == 1)
    #expect(try stored(pond) == [2, 2, 1])
  }
}
