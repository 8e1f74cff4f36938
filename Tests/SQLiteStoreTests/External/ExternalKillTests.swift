import CoreDataStores
import Foundation
import Glibc
import ManagedObjects
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// Ends the program at a step of what `body` does.
private func dying<T>(at point: Int, _ body: () throws -> T) throws -> T {
  let count = Atomic(0)
  return try MigrationProbe.$onStep.withValue({ _ in
    if count.add(1, ordering: .relaxed).newValue == point { kill(getpid(), SIGKILL) }
  }) {
    try body()
  }
}

/// The number of steps of what `body` does.
private func steps(_ body: () throws -> Void) throws -> Int {
  let count = Atomic(0)
  try MigrationProbe.$onStep.withValue({ _ in count.add(1, ordering: .relaxed) }) { try body() }
  return count.load(ordering: .relaxed)
}

private let small = Data([1])
private let first = Gallery.large(1)
private let second = Gallery.large(2)

@Suite("A program that is killed while it writes files of large values")
struct ExternalKillTests {
  /// A file with three photos.
  private static func filled(_ kind: GalleryKind, _ file: URL) throws {
    let coordinator = try Gallery.opened(kind, file)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for caption in ["changed", "deleted", "kept"] {
      try context.add("Photo", ["caption": .string(caption), "image": .data(first)])
    }
    try context.save()
    try coordinator.close()
  }

  /// Changes one photo, deletes one, and adds one, in one save.
  fileprivate static func save(_ kind: GalleryKind, _ file: URL) throws {
    let coordinator = try Gallery.opened(kind, file)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    try #require(try Gallery.photo("changed", in: context)).setValue(.data(second), forKey: "image")
    context.delete(try #require(try Gallery.photo("deleted", in: context)))
    try context.add("Photo", ["caption": .string("added"), "image": .data(second)])
    try context.save()
    try coordinator.close()
  }

  /// What a store has, after it was opened by a program that writes.
  private static func content(_ kind: GalleryKind, _ file: URL) throws -> [String: Data] {
    let coordinator = try Gallery.opened(kind, file)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var found: [String: Data] = [:]
    for photo in try context.every("Photo") {
      guard case .data(let data)? = photo.value(forKey: "image") else { continue }
      found[photo.value(forKey: "caption")?.plainText ?? ""] = data
    }
    try coordinator.close()
    return found
  }

  private static let before = ["changed": first, "deleted": first, "kept": first]
  private static let after = ["changed": second, "added": second, "kept": first]

  @Test(
    "leaves the old values or the new ones, and the next program removes every file that no row refers to",
    arguments: GalleryKind.files)
  func saving(_ kind: GalleryKind) async throws {
    let directory = try ScratchDirectory()
    let counted = directory.file("counted.sqlite")
    try Self.filled(kind, counted)
    let count = try steps { try Self.save(kind, counted) }
    #expect(count > 8)
    var results: Set<Bool> = []
    for point in 1...count {
      let file = directory.file("\(point).sqlite")
      try Self.filled(kind, file)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, point = point as Int, kind = kind as GalleryKind] in
        try dying(at: point) { try ExternalKillTests.save(kind, URL(fileURLWithPath: path)) }
      }
      let found = try Self.content(kind, file)
      #expect(found == Self.before || found == Self.after, "step \(point)")
      results.insert(found == Self.after)
      let folder = Gallery.folder(kind, file)
      #expect(try folder.names().count == 3, "step \(point)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.supportPath) == ["_EXTERNAL_DATA"], "step \(point)")
    }
    #expect(results == [true, false])
  }

  @Test("a file that an open transaction is about to refer to stays when another program opens the store")
  func openTransaction() throws {
    // A store of this library waits for the transaction when it is opened.
    let gallery = try Gallery(.coreData)
    try gallery.add("a", first)
    let store = try #require(gallery.coordinator.persistentStores.first)
    try gallery.coordinator.inOneTransaction(of: store) {
      try gallery.set("a", second)
      try gallery.add("b", second)
      let other = try Gallery.opened(.coreData, gallery.file)
      #expect(try Gallery.image("a", in: ManagedObjectContext(.confinement, coordinator: other)) == first)
      try other.close()
      return ((), .commit)
    }
    #expect(try gallery.image("a") == second && gallery.image("b") == second && gallery.names.count == 2)
  }

  // MARK: Whole files

  @Test("destroying leaves the store or nothing, and the next call removes the rest", arguments: GalleryKind.files)
  func destroying(_ kind: GalleryKind) async throws {
    let directory = try ScratchDirectory()
    let counted = directory.file("counted.sqlite")
    try Self.filled(kind, counted)
    let coordinator = PersistentStoreCoordinator(model: try Gallery.model())
    let count = try steps { try coordinator.destroyPersistentStore(at: counted) }
    #expect(count > 6)
    for point in 1...count {
      let file = directory.file("\(point).sqlite")
      try Self.filled(kind, file)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, point = point as Int] in
        try dying(at: point) {
          try PersistentStoreCoordinator(model: Gallery.model()).destroyPersistentStore(at: URL(fileURLWithPath: path))
        }
      }
      if FileManager.default.fileExists(atPath: file.path) {
        #expect(try Self.content(kind, file) == Self.before, "step \(point)")
      }
      try coordinator.destroyPersistentStore(at: file)
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
      #expect(!left.contains { $0.hasPrefix("\(point).") || $0.hasPrefix(".\(point)") } || kind == .coreData, "\(left)")
    }
  }

  @Test("replacing leaves the old values or the new ones")
  func replacing() async throws {
    let directory = try ScratchDirectory()
    let source = directory.file("source.sqlite")
    try Self.filled(.own, source)
    try Self.save(.own, source)
    let counted = directory.file("counted.sqlite")
    try Self.filled(.own, counted)
    let coordinator = PersistentStoreCoordinator(model: try Gallery.model())
    let count = try steps { try coordinator.replacePersistentStore(at: counted, withPersistentStoreFrom: source) }
    for point in 1...count {
      let file = directory.file("\(point).sqlite")
      try Self.filled(.own, file)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, source = source.path as String, point = point as Int] in
        try dying(at: point) {
          try PersistentStoreCoordinator(model: Gallery.model()).replacePersistentStore(
            at: URL(fileURLWithPath: path), withPersistentStoreFrom: URL(fileURLWithPath: source))
        }
      }
      let found = try Self.content(.own, file)
      #expect(found == Self.before || found == Self.after, "step \(point)")
      try coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: source)
      #expect(try Self.content(.own, file) == Self.after, "step \(point)")
      #expect(try ExternalFolder(ofStoreAt: file).names().count == 3, "step \(point)")
    }
  }

  /// Moves the store at a path to another one.
  fileprivate static func move(_ path: String, to other: String) throws {
    let coordinator = try Gallery.opened(.own, URL(fileURLWithPath: path))
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.migratePersistentStore(store, to: .sqlite(at: URL(fileURLWithPath: other)))
    try coordinator.close()
  }

  @Test("moving a store leaves the old one whole, and of the new one all or nothing")
  func moving() async throws {
    let directory = try ScratchDirectory()
    let file = directory.file("a.sqlite")
    try Self.filled(.own, file)
    let count = try steps { try Self.move(file.path, to: directory.file("counted.sqlite").path) }
    #expect(count > 4)
    for point in 1...count {
      let other = directory.file("\(point).sqlite")
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, other = other.path as String, point = point as Int] in
        try dying(at: point) { try ExternalKillTests.move(path, to: other) }
      }
      #expect(try Self.content(.own, file) == Self.before, "step \(point)")
      if FileManager.default.fileExists(atPath: other.path) {
        #expect(try Self.content(.own, other) == Self.before, "step \(point)")
      } else {
        try Self.move(file.path, to: other.path)
        #expect(try Self.content(.own, other) == Self.before, "step \(point)")
      }
    }
  }

  /// Opens a store with a model in which images may not be in files.
  fileprivate static func migrate(_ path: String) throws -> [String: Data] {
    let coordinator = try Gallery.opened(
      .own, URL(fileURLWithPath: path), model: Gallery.model(isExternal: false))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var found: [String: Data] = [:]
    for photo in try context.every("Photo") {
      guard case .data(let data)? = photo.value(forKey: "image") else { continue }
      found[photo.value(forKey: "caption")?.plainText ?? ""] = data
    }
    try coordinator.close()
    return found
  }

  @Test("a migration that puts values into rows loses none")
  func migrating() async throws {
    let directory = try ScratchDirectory()
    let counted = directory.file("counted.sqlite")
    try Self.filled(.own, counted)
    let count = try steps { _ = try Self.migrate(counted.path) }
    for point in stride(from: 1, through: count, by: 3) {
      let file = directory.file("\(point).sqlite")
      try Self.filled(.own, file)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = file.path as String, point = point as Int] in
        _ = try dying(at: point) { try ExternalKillTests.migrate(path) }
      }
      #expect(try Self.migrate(file.path) == Self.before, "step \(point)")
    }
  }
}
