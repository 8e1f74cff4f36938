import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport

/// Sightings at ponds in parks, which keep counts and dates of each other in `willSave()`, as objc.io's Moody does.
enum ParkModel {
  static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        entities: [
          EntityDefinition(
            "Place", isAbstract: true,
            attributes: [
              AttributeDefinition("code", .integer32), AttributeDefinition("updatedAt", .date),
              AttributeDefinition("closedAt", .date),
            ], uniquenessConstraints: [["code"]]),
          EntityDefinition(
            "Park", parent: "Place",
            attributes: [
              AttributeDefinition("pondCount", .integer64, isOptional: false, defaultValue: .int(0)),
              AttributeDefinition("sightingCount", .integer64, isOptional: false, defaultValue: .int(0)),
            ],
            relationships: [RelationshipDefinition("ponds", to: "Pond", inverse: "park", isToMany: true)]),
          EntityDefinition(
            "Pond", parent: "Place",
            attributes: [AttributeDefinition("sightingCount", .integer64, isOptional: false, defaultValue: .int(0))],
            relationships: [
              RelationshipDefinition("park", to: "Park", inverse: "ponds"),
              RelationshipDefinition("sightings", to: "Sighting", inverse: "pond", isToMany: true),
            ]),
          EntityDefinition(
            "Sighting", attributes: [AttributeDefinition("closedAt", .date)],
            relationships: [RelationshipDefinition("pond", to: "Pond", inverse: "sightings")]),
        ],
        classes: ["Place": Place.self, "Park": Park.self, "Pond": Pond.self, "Sighting": Sighting.self])
    } catch {
      preconditionFailure("the parks' model doesn't fit together: \(error)")
    }
  }()

  static func stack(_ kind: StoreKind) throws -> CompanyStack { try CompanyStack(kind, model: model) }
}

class Place: ManagedObject {
  override class var propertyNames: [String]? { ["code", "updatedAt", "closedAt"] }
  final var code: Int32? {
    get { self[0] }
    set { self[0] = newValue }
  }
  final var updatedAt: Date? {
    get { self[1] }
    set { self[1] = newValue }
  }
  final var closedAt: Date? {
    get { self[2] }
    set { self[2] = newValue }
  }

  override func awakeFromInsert() {
    do { try setPrimitiveValue(.date(now), forKey: "updatedAt") } catch { preconditionFailure("\(error)") }
  }

  /// The time of a clock that goes on with every look.
  final var now: Date { managedObjectContext?.nextMoment ?? .distantPast }

  final func touch() {
    if changedValues()["updatedAt"] == nil { updatedAt = now }
  }
  final func close() {
    if closedAt == nil { closedAt = now }
  }
  final func committedCount(_ key: String) -> Int64 {
    if case .int(let count)? = committedValues(forKeys: [key])[key] { return count }
    return 0
  }
}

final class Park: Place {
  override class var propertyNames: [String]? {
    (super.propertyNames ?? []) + ["pondCount", "sightingCount", "ponds"]
  }
  var pondCount: Int64 {
    get { self[3] ?? 0 }
    set { self[3] = newValue }
  }
  var sightingCount: Int64 {
    get { self[4] ?? 0 }
    set { self[4] = newValue }
  }
  var ponds: Set<Pond> { objects(5) }

  override func willSave() {
    if changedValues()["ponds"] != nil {
      if pondCount != Int64(ponds.count) { pondCount = Int64(ponds.count) }
      if ponds.isEmpty { close() }
    }
    countSightings()
  }

  /// Adds what the present and the former ponds say has changed.
  func countSightings() {
    guard let context = managedObjectContext else { return }
    var all = ponds
    if case .objects(let former)? = committedValues(forKeys: ["ponds"])["ponds"] {
      all.formUnion(former.compactMap { context.object(with: $0) as? Pond })
    }
    let count = committedCount("sightingCount") + all.reduce(0) { $0 + $1.addedSightings }
    if sightingCount != count { sightingCount = count }
  }
}

final class Pond: Place {
  override class var propertyNames: [String]? { (super.propertyNames ?? []) + ["sightingCount", "park", "sightings"] }
  var sightingCount: Int64 {
    get { self[3] ?? 0 }
    set { self[3] = newValue }
  }
  var park: Park? {
    get { object(4) }
    set { setObject(newValue, 4) }
  }
  var sightings: Set<Sighting> { objects(5) }

  var addedSightings: Int64 {
    changedValues()["sightings"] == nil ? 0 : sightingCount - committedCount("sightingCount")
  }

  override func willSave() {
    if changedValues()["sightings"] != nil {
      if sightingCount != Int64(sightings.count) {
        sightingCount = Int64(sightings.count)
        park?.countSightings()
      }
      if sightings.isEmpty { close() }
      if sightings.contains(where: \.isInserted) {
        touch()
        park?.touch()
      }
    }
    if changedValues()["closedAt"] != nil, park != nil { park = nil }
  }
}

final class Sighting: ManagedObject {
  override class var propertyNames: [String]? { ["closedAt", "pond"] }
  var closedAt: Date? {
    get { self[0] }
    set { self[0] = newValue }
  }
  var pond: Pond? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }

  override func willSave() {
    if closedAt != nil, pond != nil { pond = nil }
  }
}

/// Lets the store's values win, but for dates, of which the latest does, and for counts, which are counted again.
final class ParkPolicy: MergePolicy, @unchecked Sendable {
  // Sendable: it adds nothing.
  init() { super.init(merge: .mergeByPropertyStoreTrump) }

  override func resolve(
    optimisticLockingConflicts conflicts: [MergeConflict], in context: ManagedObjectContext
  ) throws {
    let places = conflicts.compactMap { context.object(with: $0.objectID) as? Place }
    let latest = zip(conflicts, places).map { conflict, place in
      let snapshots = [conflict.objectSnapshot, conflict.cachedSnapshot, conflict.persistedSnapshot]
      let dates = snapshots.compactMap { snapshot -> Date? in
        if case .date(let date)? = snapshot?["updatedAt"] { return date }
        return nil
      }
      return (dates + [place.updatedAt ?? .distantPast]).max()
    }
    try super.resolve(optimisticLockingConflicts: conflicts, in: context)
    for (place, date) in zip(places, latest) where place.updatedAt != date { place.updatedAt = date }
    for place in places { context.refresh(place, mergeChanges: true) }
    for case let pond as Pond in places { pond.sightingCount = Int64(pond.sightings.count) }
    for case let park as Park in places {
      park.pondCount = Int64(park.ponds.count)
      let ponds = park.ponds.map(\.objectID)
      park.sightingCount = Int64(
        try context.count(
          for: FetchRequest<Sighting>(
            entityName: "Sighting", predicate: FetchPredicate(format: "pond IN %@", ponds))))
    }
  }
}

extension ManagedObjectContext {
  /// A time after all that were given out before by contexts of the same test.
  var nextMoment: Date {
    let clock = userInfo["clock"] as? ParkClock ?? ParkClock()
    userInfo["clock"] = clock
    clock.seconds += 1
    return Date(timeIntervalSinceReferenceDate: clock.seconds)
  }

  /// Inserts a sighting at each of the ponds, and the ponds and parks that aren't there yet. Ponds 11 to 19 are in park 1.
  func see(at codes: [Int32]) throws -> [Sighting] {
    try codes.map { code in
      let sighting = try insert(Sighting.self)
      sighting.pond = try place(Pond.self, code) { $0.park = try place(Park.self, code / 10) { _ in } }
      return sighting
    }
  }

  /// Does the same, and saves.
  @discardableResult
  func seeAndSave(at codes: Int32...) throws -> [Sighting] {
    let sightings = try see(at: codes)
    try save()
    return sightings
  }

  private func place<T: Place>(_ type: T.Type, _ code: Int32, _ fill: (T) throws -> Void) throws -> T {
    if let known = try all(type, .equal("code", .int(Int64(code)))).first { return known }
    let place = try insert(type)
    place.code = code
    try fill(place)
    return place
  }
}

private final class ParkClock { var seconds = 0.0 }
