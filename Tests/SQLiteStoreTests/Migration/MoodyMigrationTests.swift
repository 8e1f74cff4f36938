import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite(
  "The six versions of Moody", .enabled(if: MoodyWorld.folder != nil, "the shared models aren't beside the package"))
struct MoodyMigrationTests {
  private let store: MigratedStore

  init() throws { store = try MigratedStore() }

  @Test("each step is inferred, with every row, value and reference", arguments: 1...5)
  func steps(version: Int) throws {
    let (old, new) = (try MoodyWorld.model(version), try MoodyWorld.model(version + 1))
    try store.open(old) { try MoodyWorld.fill($0, version) }
    let before = try store.open(old) { try MoodyWorld.text($0) }
    #expect(before.count == 12)
    try store.open(new) { context in
      #expect(try MoodyWorld.text(context) == before)
      #expect(context.model.versionIdentifier == "\(version + 1)")
      try expectContinents(context, version)
      if version == 1 { try context.expect("Mood", "rating", Array(repeating: .int(0), count: 8)) }
      if version == 2 {
        let moods = try MoodyWorld.continents(context, "Mood")
        #expect(moods == [:])
      }
    }
  }

  /// What is known of continents after a step from a version.
  private func expectContinents(_ context: ManagedObjectContext, _ version: Int) throws {
    switch version {
    case 1, 2, 3:
      let (countries, counts) = (
        try MoodyWorld.continents(context), try context.values("Continent", "numberOfCountries")
      )
      #expect(countries == MoodyWorld.allContinents && counts == [.int(2), .int(1)])
    case 4:
      // That countries had continents isn't said by the new model: a policy has to.
      try context.expect("Country", "isoContinent", Array(repeating: .int(0), count: 4))
    default:
      let continents = try context.every("Continent")
      #expect(continents.isEmpty)
    }
  }

  @Test("one version after the other, and all in one")
  func chain() throws {
    let first = try MoodyWorld.model(1)
    try store.open(first) { try MoodyWorld.fill($0, 1) }
    let before = try store.open(first) { try MoodyWorld.text($0) }
    for version in 2...6 {
      let found = try store.open(MoodyWorld.model(version)) { try MoodyWorld.text($0) }
      #expect(found == before)
    }
    let other = try MigratedStore()
    try other.open(first) { try MoodyWorld.fill($0, 1) }
    let (found, continents) = try other.open(MoodyWorld.model(6)) {
      (try MoodyWorld.text($0), try MoodyWorld.continents($0))
    }
    #expect(found == before && continents == MoodyWorld.allContinents, "what both versions know needs no way between")
  }

  @Test("policies carry over what inference can't, in stages from any version", arguments: 1...5)
  func stages(version: Int) throws {
    let old = try MoodyWorld.model(version)
    try store.open(old) { try MoodyWorld.fill($0, version) }
    let before = try store.open(old) { try MoodyWorld.text($0) }
    let manager = try MoodyStages.manager()
    try store.open(MoodyWorld.model(6), { $0.stagedMigrationManager = manager }) { context in
      let (found, continents) = (try MoodyWorld.text(context), try MoodyWorld.continents(context))
      #expect(found == before && continents == MoodyWorld.allContinents)
      let codes = try context.values("Continent", "numericISO3166Code").map(\.plainText).sorted()
      #expect(codes == ["10001", "10002"])
    }
    let leftover = try FileManager.default.contentsOfDirectory(atPath: store.directory.url.path)
    #expect(leftover.allSatisfy { !$0.contains("migrating") })
  }
}

/// The stages to Moody 6 with what has to be done by hand: Moody 5 keeps a country's continent as a number, Moody 6 as an
/// object again.
enum MoodyStages {
  static func manager() throws -> StagedMigrationManager {
    let versions = try (1...6).map { try MoodyWorld.model($0) }
    var fifth = try MappingModel.inferred(from: versions[3], to: versions[4])
    fifth[destination: "Country"]?[property: "isoContinent"] = PropertyMapping(
      "isoContinent",
      .custom { country, manager in
        guard case .object(let id) = country.value(forKey: "continent") else { return .int(0) }
        return try manager.sourceContext.existingObject(with: id).value(forKey: "numericISO3166Code") ?? .int(0)
      })
    var sixth = try MappingModel.inferred(from: versions[4], to: versions[5])
    sixth[destination: "Country"]?.entityMigrationPolicy = ContinentsPolicy.self
    return StagedMigrationManager([
      .lightweight(versions[0...3].map { ManagedObjectModelReference($0) }), .mapped(fifth), .mapped(sixth),
    ])
  }
}

/// Makes a continent for each number that a country has.
final class ContinentsPolicy: EntityMigrationPolicy {
  private var continents: [Value: ManagedObjectID] = [:]

  override func createRelationships(
    forDestination country: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createRelationships(forDestination: country, in: mapping, manager: manager)
    let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [country])
    guard let code = sources.first?.value(forKey: "isoContinent"), code != .int(0) else { return }
    if continents[code] == nil {
      let continent = try manager.destinationContext.insert("Continent")
      try continent.setValue(code, forKey: "numericISO3166Code")
      try manager.destinationContext.obtainPermanentIDs(for: [continent])
      continents[code] = continent.objectID
    }
    try country.setValue(continents[code].map(Value.object) ?? .null, forKey: "continent")
  }
}
