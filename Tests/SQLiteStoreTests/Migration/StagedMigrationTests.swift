import Foundation
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@Suite("Migration in stages", .onEveryStore)
struct StagedMigrationTests {
  private let store: MigratedStore
  /// 1: a name; 2: the name and an optional code; 3: the code is required; 4: and the name is gone.
  private let versions: [ManagedObjectModel]

  init() throws {
    store = try MigratedStore()
    let name = AttributeDefinition("name", .string)
    versions = try [
      [name], [name, AttributeDefinition("code", .integer32)],
      [name, AttributeDefinition("code", .integer32, isOptional: false, defaultValue: .int(-1))],
      [AttributeDefinition("code", .integer32, isOptional: false, defaultValue: .int(-1))],
    ].map { try ManagedObjectModel(entities: [EntityDefinition("Thing", attributes: $0)]) }
    try store.open(versions[0]) { context in
      for name in ["a", "bb"] { try context.add("Thing", ["name": .string(name)]) }
    }
  }

  private func reference(_ version: Int) -> ManagedObjectModelReference { .init(versions[version - 1]) }

  private func manager(
    _ calls: Recorder<String> = Recorder(), fails: Bool = false
  ) -> StagedMigrationManager {
    StagedMigrationManager([
      .lightweight([reference(1), reference(2)]),
      .custom(
        from: reference(2), to: reference(3),
        willMigrate: { context in
          calls.note("will \(context.model.entities[0].attributes.count)")
          for object in try context.every("Thing") {
            let name = object.value(forKey: "name")?.plainText ?? ""
            try object.setValue(.int(Int64(name.count)), forKey: "code")
          }
        },
        didMigrate: { context in
          calls.note("did \(try context.values("Thing", "code").map(\.plainText))")
          if fails { throw CocoaError(.featureUnsupported) }
        }),
      .lightweight([reference(4)]),
    ])
  }

  @Test("handlers work on the store at their versions")
  func handlers() throws {
    let calls = Recorder<String>()
    let manager = manager(calls)
    try store.open(versions[3], { $0.stagedMigrationManager = manager }) {
      try $0.expect("Thing", "code", [.int(1), .int(2)])
    }
    #expect(calls.items == ["will 2", "did [\"1\", \"2\"]"])
    try store.open(versions[3], { $0.stagedMigrationManager = manager }) { _ in }
    #expect(calls.items.count == 2, "a store of the present version isn't migrated")
  }

  @Test("a store in the middle goes the rest of the way")
  func middle() throws {
    let calls = Recorder<String>()
    let manager = manager(calls)
    try store.open(versions[2]) { _ in }
    try store.open(versions[3], { $0.stagedMigrationManager = manager }) {
      try $0.expect("Thing", "code", [.int(-1), .int(-1)])
    }
    #expect(calls.items == [])
  }

  @Test("a handler that fails leaves the store as it was at first")
  func failure() throws {
    let manager = manager(fails: true)
    #expect(throws: CocoaError.self) { try store.open(versions[3], { $0.stagedMigrationManager = manager }) { _ in } }
    try store.open(versions[0], { $0.shouldMigrateStoreAutomatically = false }) {
      try $0.expect("Thing", "name", [.string("a"), .string("bb")])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory.url.path).count <= 3)
  }

  @Test("a version that no stage has, or one without its model, is an error; a checksum is enough for the first")
  func versionsMissing() throws {
    let late = StagedMigrationManager([.lightweight([reference(2), reference(4)])])
    #expect(throws: MigrationError.unknownVersion(store: store.name, checksum: versions[0].versionChecksum)) {
      try store.open(versions[3], { $0.stagedMigrationManager = late }) { _ in }
    }
    let checksums = versions.map { ManagedObjectModelReference(versionChecksum: $0.versionChecksum) }
    let gap = StagedMigrationManager([.lightweight(checksums)])
    #expect(throws: MigrationError.missingModel(checksum: versions[1].versionChecksum)) {
      try store.open(versions[3], { $0.stagedMigrationManager = gap }) { _ in }
    }
    let backwards = StagedMigrationManager([.lightweight([reference(4), reference(1)])])
    #expect(throws: MigrationError.self) {
      try store.open(versions[3], { $0.stagedMigrationManager = backwards }) { _ in }
    }
    let short = StagedMigrationManager([.lightweight([checksums[0], reference(2)])])
    try store.open(versions[3], { $0.stagedMigrationManager = short }) {
      try $0.expect("Thing", "code", [.int(-1), .int(-1)])
    }
  }
}
