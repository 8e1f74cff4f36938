import CoreDataStores
import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Files of large values when stores are copied, moved, migrated and maintained")
struct ExternalStoreFileTests {
  private let large = Gallery.large(7)
  private let other = Gallery.large(9, 300_000)

  @Test("a destroyed store leaves no files, also one of Core Data", arguments: GalleryKind.files)
  func destroyed(_ kind: GalleryKind) throws {
    let gallery = try Gallery(kind)
    try gallery.add("a", large)
    try gallery.coordinator.close()
    try gallery.coordinator.destroyPersistentStore(at: gallery.file)
    #expect(try FileManager.default.contentsOfDirectory(atPath: gallery.directory.url.path) == [])
  }

  @Test("a replaced store has the files of its source, and the old ones are gone")
  func replaced() throws {
    let (source, target) = (try Gallery(.own), try Gallery(.own))
    try source.add("a", large)
    try source.add("b", other)
    try target.add("old", large)
    let old = try target.names
    try target.coordinator.close()
    try target.coordinator.replacePersistentStore(at: target.file, withPersistentStoreFrom: source.file)
    #expect(try target.names == source.names && target.names != old)
    // Later changes of one don't concern the other.
    try source.set("a", nil)
    try source.coordinator.close()
    let again = try Gallery.opened(.own, target.file)
    let context = ManagedObjectContext(.confinement, coordinator: again)
    #expect(try Gallery.image("a", in: context) == large && Gallery.image("b", in: context) == other)
    try again.close()
    try source.coordinator.replacePersistentStore(at: target.file, withPersistentStoreFrom: source.file)
    #expect(try target.names == source.names && target.names.count == 1)
  }

  @Test("a store that moves to another place or type takes its values along")
  func moved() throws {
    let gallery = try Gallery(.memory)
    try gallery.add("a", large)
    let memory = try #require(gallery.coordinator.persistentStores.first)
    let first = gallery.directory.file("First.sqlite")
    let store = try gallery.coordinator.migratePersistentStore(memory, to: .sqlite(at: first))
    #expect(try ExternalFolder(ofStoreAt: first).names().count == 1 && gallery.image("a") == large)
    let second = gallery.directory.file("Second.sqlite")
    let moved = try gallery.coordinator.migratePersistentStore(store, to: .sqlite(at: second))
    #expect(try ExternalFolder(ofStoreAt: second).names().count == 1 && gallery.image("a") == large)
    try gallery.set("a", nil)
    #expect(try ExternalFolder(ofStoreAt: second).names() == [])
    #expect(try ExternalFolder(ofStoreAt: first).names().count == 1, "the old store stays")
    try gallery.set("a", other)
    _ = try gallery.coordinator.migratePersistentStore(moved, to: .inMemory())
    #expect(try gallery.image("a") == other)
  }

  @Test("a copy is complete in itself, and the store that it is put back into has no other files")
  func copied() throws {
    let gallery = try Gallery(.own)
    try gallery.add("a", large)
    let store = try #require(gallery.coordinator.persistentStores.first)
    let copy = gallery.directory.file("copy.sqlite")
    try gallery.coordinator.maintenance(of: store).copyContent(to: copy, MaintenanceWatch())
    let kept = try DatabaseQueue(path: copy.path).read { db in
      try Row.fetchAll(db, sql: "SELECT typeof(image), length(image) FROM Photo").map(\.description)
    }
    #expect(kept == ["[typeof(image):\"blob\" length(image):\(large.count)]"])
    try gallery.set("a", other)
    try gallery.coordinator.prepareCopy(
      at: copy, for: store, migration: MigrationOptions(), mark: "mark", MaintenanceWatch())
    try gallery.coordinator.replaceContent(of: store, with: copy, MaintenanceWatch())
    #expect(try gallery.names == [] && gallery.image("a") == large)
    try gallery.set("a", other)
    #expect(try gallery.names.count == 1)
  }

  @Test("a check names a missing file, and a compaction removes one that no row refers to")
  func maintained() throws {
    let gallery = try Gallery(.own)
    let id = try gallery.add("a", large)
    let store = try #require(gallery.coordinator.persistentStores.first)
    let maintenance = try gallery.coordinator.maintenance(of: store)
    func problems() throws -> [StoreProblem] {
      var found: [StoreProblem] = []
      try maintenance.checkIntegrity(.quick, MaintenanceWatch()) { found.append($0) }
      return found
    }
    #expect(try problems() == [])
    let stray = ExternalFolder.newName()
    try gallery.folder.write(large, to: stray, like: gallery.file.path)
    let foreign = gallery.folder.path + "/notes.txt"
    try Data([1]).write(to: URL(fileURLWithPath: foreign))
    _ = try maintenance.compact(.whole(), MaintenanceWatch())
    #expect(try gallery.names.count == 1 && !gallery.names.contains(stray))
    #expect(FileManager.default.fileExists(atPath: foreign))
    try gallery.folder.remove(#require(gallery.names.first))
    let found = try problems()
    #expect(found.map(\.kind) == [.damage] && found.first?.number == id.rowNumber)
    #expect(found.first?.message.contains("isn't there") == true && found.first?.property == "image")
  }

  // MARK: Migration

  private static func photo(_ name: String = "image", isExternal: Bool, extra: Bool = false) -> [EntityDefinition] {
    var image = AttributeDefinition(name, .binaryData)
    image.allowsExternalBinaryDataStorage = isExternal
    if name != "image" { image.renamingIdentifier = "image" }
    return [
      EntityDefinition(
        "Photo",
        attributes: [AttributeDefinition("caption", .string), image]
          + (extra ? [AttributeDefinition("extra", .string)] : []))
    ]
  }

  private func image(_ context: ManagedObjectContext, _ name: String = "image") throws -> Data? {
    guard case .data(let data)? = try context.every("Photo").first?.value(forKey: name) else { return nil }
    return data
  }

  @Test("an attribute that comes to allow files, gets another name, and allows them no more keeps its values")
  func lightweight() throws {
    let store = try MigratedStore()
    let folder = ExternalFolder(ofStoreAt: store.file)
    try store.open(Self.photo(isExternal: false)) { context in
      try context.add("Photo", ["caption": .string("a"), "image": .data(large)])
    }
    #expect(!folder.exists)
    let format = "SELECT value FROM lade_metadata WHERE key = 'format'"
    #expect(try store.column(format) == ["1"])
    try store.open(Self.photo(isExternal: true)) { context in
      let found = try image(context)
      #expect(found == large)
      try #require(try context.every("Photo").first).setValue(.data(other), forKey: "image")
    }
    #expect(try folder.names().count == 1 && store.column(format) == ["2"], "an earlier version refuses it")
    let names = try folder.names()
    try store.open(Self.photo("picture", isExternal: true, extra: true)) { context in
      let found = try image(context, "picture")
      #expect(found == other)
    }
    #expect(try folder.names() == names)
    try store.open(Self.photo("picture", isExternal: false)) { context in
      let found = try image(context, "picture")
      #expect(found == other)
    }
    #expect(try folder.names() == [])
    #expect(try store.column("SELECT typeof(picture) FROM Photo") == ["blob"])
  }

  @Test("files of an attribute or entity that is removed go with it")
  func removed() throws {
    let store = try MigratedStore()
    let folder = ExternalFolder(ofStoreAt: store.file)
    try store.open(Self.photo(isExternal: true)) { context in
      try context.add("Photo", ["caption": .string("a"), "image": .data(large)])
    }
    #expect(try folder.names().count == 1)
    try store.migrate([EntityDefinition("Photo", attributes: [AttributeDefinition("caption", .string)])])
    #expect(try folder.names() == [])
  }

  @Test("a migration by a mapping model and one in stages keep values", arguments: [true, false])
  func byObjects(_ isStaged: Bool) throws {
    let store = try MigratedStore()
    let folder = ExternalFolder(ofStoreAt: store.file)
    let old = try ManagedObjectModel(entities: Self.photo(isExternal: true))
    let new = try ManagedObjectModel(entities: Self.photo(isExternal: true, extra: true))
    try store.open(old) { context in
      try context.add("Photo", ["caption": .string("a"), "image": .data(large)])
    }
    try store.open(new) { description in
      if isStaged {
        description.stagedMigrationManager = StagedMigrationManager([
          .custom(
            from: .init(old), to: .init(new),
            willMigrate: { context in
              for photo in try context.every("Photo") { try photo.setValue(.data(Gallery.large(3)), forKey: "image") }
            })
        ])
      } else {
        description.mappingModels = [try? MappingModel.inferred(from: old, to: new)].compactMap { $0 }
      }
    } _: { context in
      let found = try image(context)
      #expect(found == (isStaged ? Gallery.large(3) : large))
    }
    #expect(try folder.names().count == 1)
  }

  @Test("two stores whose names differ by their endings don't share files")
  func otherNames() throws {
    let directory = try ScratchDirectory()
    let (first, second) = (directory.file("same.sqlite"), directory.file("same.db"))
    for (file, data) in [(first, large), (second, other)] {
      let coordinator = try Gallery.opened(.own, file)
      let context = ManagedObjectContext(.confinement, coordinator: coordinator)
      try context.add("Photo", ["caption": .string("a"), "image": .data(data)])
      try context.save()
      try coordinator.close()
    }
    try PersistentStoreCoordinator(model: Gallery.model()).destroyPersistentStore(at: first)
    let coordinator = try Gallery.opened(.own, second)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    #expect(try Gallery.image("a", in: context) == other)
    try coordinator.close()
  }
}
