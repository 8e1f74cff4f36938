import Foundation
import ManagedObjects
import PostgresStore
import SQLiteStore
import StoreConformance
import TestSupport
import Testing

@Suite("Every store keeps the contract of IncrementalStore")
struct StoreConformanceTests {
  @Test("the store in memory", arguments: StoreConformance.cases)
  func inMemory(_ test: StoreConformance.Case) throws {
    try test.run { .inMemory() }
  }

  @Test("the store in an SQLite file", arguments: StoreConformance.cases)
  func sqlite(_ test: StoreConformance.Case) throws {
    let directory = try ScratchDirectory()
    try test.run { .sqlite(at: directory.file("store.sqlite")) }
  }

  @Test("an SQLite file keeps its content")
  func reopening() throws {
    let directory = try ScratchDirectory()
    try StoreConformance.checkReopening { .sqlite(at: directory.file("store.sqlite")) }
  }

  @Test(
    "the store in a PostgreSQL database", .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"),
    arguments: StoreConformance.cases)
  func postgres(_ test: StoreConformance.Case) throws {
    let server = try PostgresCluster.shared()
    try test.run { .postgres(server.address(), schema: PostgresCluster.newSchema()) }
  }

  @Test(
    "a PostgreSQL database keeps its content",
    .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
  func reopeningPostgres() throws {
    let (server, schema) = (try PostgresCluster.shared(), PostgresCluster.newSchema())
    try StoreConformance.checkReopening { .postgres(server.address(), schema: schema) }
  }

  @Test("the store in a file of Core Data", arguments: StoreConformance.cases)
  func coreData(_ test: StoreConformance.Case) throws {
    let directory = try ScratchDirectory()
    try test.run(demands: .coreData) { try Self.coreDataStore(at: directory.file("store.sqlite")) }
  }

  @Test("a file of Core Data keeps its content")
  func reopeningCoreData() throws {
    let directory = try ScratchDirectory()
    try StoreConformance.checkReopening(demands: .coreData) {
      try Self.coreDataStore(at: directory.file("store.sqlite"))
    }
  }

  /// Core Data's hashes of the suite's model aren't known; any will do, as long as they stay.
  private static func coreDataStore(at url: URL) throws -> PersistentStoreDescription {
    let names = try StoreConformance.model(.coreData).entities.map(\.name)
    let hashes = Dictionary(uniqueKeysWithValues: names.map { ($0, Data(repeating: 7, count: 32)) })
    return .coreData(at: url, options: .init(template: .versionHashes(hashes)))
  }

  @Test("a store of one's own kind", arguments: StoreConformance.cases)
  func toy(_ test: StoreConformance.Case) throws {
    try test.run { PersistentStoreDescription { _, _ in ToyStore() } }
  }

  @Test("the suite finds what a store does wrong", arguments: ToyStore.Fault.allCases)
  func faults(_ fault: ToyStore.Fault) {
    let outcomes = StoreConformance.run { PersistentStoreDescription { _, _ in ToyStore(fault: fault) } }
    #expect(outcomes.count == StoreConformance.cases.count)
    #expect(outcomes.contains { $0.error != nil })
  }

  @Test("the suite finds that a store in memory doesn't keep its content")
  func forgetting() {
    #expect(throws: (any Error).self) { try StoreConformance.checkReopening { .inMemory() } }
  }
}
