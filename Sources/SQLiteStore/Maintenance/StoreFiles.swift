// A store's file is removed or replaced only while no connection of any process has it open:
//   1. SQLite's exclusive lock is taken, which fails while another connection is open, and the log is copied into the file;
//   2. a new content was written to a file beside it, and synced;
//   3. under the lock the file is removed, or the new one renamed over it, and the directory synced.
// A killed process leaves the old content or the new, and perhaps a file that ends with `.replacing`, which the next call
// removes. The new file has the permissions of the old one, or else of the one that it is a copy of, before anything is in it.

import CoreDataStores
public import Foundation
import GRDB
import Glibc
public import ManagedObjects
import SQLSchema

extension PersistentStoreCoordinator {
  /// Deletes the SQLite store at `url` with everything that belongs to it. Succeeds when there is none, and for a damaged one.
  ///
  /// A store for reading only may have no lock on the file: it refuses its next read, and so it does after a replacement.
  ///
  /// Source: `destroyPersistentStore(at:type:options:)` of Core Data, which empties the file and leaves it there.
  /// - Throws: ``ManagedObjectError/store(_:)``: of the kind ``StoreFailure/Kind/busy`` while any coordinator, in this process or
  ///   another, has the store open for writing. ``remove(_:)`` it first.
  public func destroyPersistentStore(at url: URL) throws { try StoreFile(url).remove() }

  /// Replaces the SQLite store at `url` by a copy of another, or makes it. The copy is one state of the source, with what stands
  /// in its log, and has its identifier. The source may be open, and written by others, during the copy; it may also be in a
  /// directory that the process can't write, such as that of a store that comes with the program.
  ///
  /// Crash-safe: a killed process leaves the old content or the new.
  ///
  /// Source: `replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)` of Core Data.
  /// - Throws: ``ManagedObjectError/store(_:)``: of the kind ``StoreFailure/Kind/busy`` while any coordinator, in this process or
  ///   another, has the store at `url` open for writing; ``ManagedObjectError/incompatibleStore(path:reason:)`` when the source is no store.
  public func replacePersistentStore(at url: URL, withPersistentStoreFrom source: URL) throws {
    try StoreFile(url).replace(like: source) { copy in try SQLiteStore.copyFile(source, to: copy) }
  }

  /// Moves the content of one of the coordinator's stores to another place or type, and puts the new store in the place of the
  /// old one. The old file stays. No save can come in between. Crash-safe: a killed process leaves no half of a new file.
  ///
  /// From an SQLite file to another the pages are copied: identifier, IDs, history, metadata and other programs' tables stay.
  /// Otherwise the objects are copied, with their numbers; the new store has an identifier of its own, and objects that
  /// contexts hold are of the old one.
  ///
  /// Source: `migratePersistentStore(_:to:options:type:)` of Core Data.
  /// - Parameter description: the new store. Its configuration is that of the old one.
  /// - Returns: the new store.
  /// - Throws: ``PersistentStoreError/unknownStore(identifier:)``, ``PersistentStoreError/exists(path:)``, or a store's error. The
  ///   old store then stays, unless the new one can't be opened at last.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to description: PersistentStoreDescription
  ) throws -> PersistentStore {
    guard persistentStores.contains(store) else {
      throw PersistentStoreError.unknownStore(identifier: store.identifier)
    }
    var description = description
    description.configuration = store.configurationName
    if let url = description.url, FileManager.default.fileExists(atPath: url.path) {
      throw PersistentStoreError.exists(path: url.path)
    }
    let model = model
    var new: PersistentStore?
    _ = try asSave("migrate a store") {
      if description.type == .sqlite, let url = description.url {
        try StoreFile(url).replace(like: store.type == .sqlite ? store.url : nil) { copy in
          if store.type == .sqlite, let source = store.url { return try SQLiteStore.copyFile(source, to: copy) }
          let former = try StoreFile(url).externalNames()
          var side = description
          side.url = copy
          side.isReadOnly = false
          let content = try side.open(model, store.entities)
          let result = Result { try Self.copyObjects(of: store, to: content, model) }
          try content.close()
          try result.get()
          try SQLiteStore.translating(copy) { try SQLiteStore.makePlain(copy) }
          try StoreFile.synchronize(copy)
          return try StoreFile(url).externalNames().subtracting(former)
        }
      } else {
        let content = try description.open(model, store.entities)
        do {
          try Self.copyObjects(of: store, to: content, model)
        } catch {
          try content.close()
          throw error
        }
        let (type, url) = (description.type, description.url)
        description = PersistentStoreDescription(type: type, url: url, configuration: store.configurationName) {
          _, _, _ in content
        }
      }
      try remove(store)
      new = try addPersistentStore(description)
    }
    guard let new else { throw PersistentStoreError.unknownStore(identifier: store.identifier) }
    return new
  }

  private static func copyObjects(
    of store: PersistentStore, to content: any IncrementalStore, _ model: ManagedObjectModel
  ) throws {
    let (from, to) = (PersistentStoreCoordinator(model: model), PersistentStoreCoordinator(model: model))
    let source = store.content
    try from.addPersistentStore(PersistentStoreDescription { _, _ in source })
    try to.addPersistentStore(PersistentStoreDescription { _, _ in content })
    let mapping = try MappingModel.inferred(from: model, store.entities, to: model, store.entities)
    let manager = MigrationManager(mapping, from: from, to: to)
    try manager.reserveNumbers()
    try manager.run()
  }
}

extension SQLiteStore {
  /// Copies one state of a store's file, with its log and the files of its large values, to a new file without a log, and syncs
  /// that. Returns the names of the files of values.
  static func copyFile(_ source: URL, to copy: URL) throws -> Set<String> {
    let folder = StoredForms.own.folder(ofDatabase: source.path)
    // As long as the folder is locked, what this state refers to stays.
    let lock = try translating(source) { try folder.lockForReading() }
    defer { if let lock { Glibc.close(lock) } }
    guard FileManager.default.fileExists(atPath: source.path) else {
      throw ManagedObjectError.store(
        StoreFailure(.cannotOpen, path: source.path, message: "there is no such file to copy"))
    }
    let from = try translating(source) {
      try ReadOnlyFile(source, reading(SQLiteStoreOptions())) { db in
        guard try db.tableExists("lade_metadata") else {
          throw ManagedObjectError.incompatibleStore(path: source.path, reason: "it has no table lade_metadata")
        }
      }
    }
    try translating(copy) {
      let to = try DatabaseQueue(path: copy.path)
      try from.pool.read { db in
        // From here on the connection sees one state.
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
        try to.writeWithoutTransaction { try db.copyPages(to: $0, MaintenanceWatch()) }
      }
      try to.close()
      try makePlain(copy)
    }
    try translating(source) {
      try from.constancy.check()
      try from.pool.close()
    }
    try StoreFile.synchronize(copy)
    return try translating(source) {
      try StoredForms.own.folder(ofDatabase: copy.path).takeAll(from: folder, like: copy.path)
    }
  }
}

/// A store's file with those beside it.
struct StoreFile {
  private let url: URL

  init(_ url: URL) { self.url = url }

  /// The ending of a file that is to replace another one.
  static let replacementEnding = ".replacing"

  private var replacement: URL { URL(fileURLWithPath: url.path + Self.replacementEnding) }
  private var folder: ExternalFolder { StoredForms.own.folder(ofDatabase: url.path) }

  /// The names of the files of its large values.
  func externalNames() throws -> Set<String> { try SQLiteStore.translating(url) { Set(try folder.names()) } }

  /// Deletes the file.
  func remove() throws {
    let isCoreData = Self.isCoreData(url)
    try underExclusiveLock {
      try Self.unlink(url)
      for ending in SQLiteStore.companionEndings { try Self.unlink(URL(fileURLWithPath: url.path + ending)) }
      try Self.synchronize(url.deletingLastPathComponent())
      // After the file: a killed process leaves no store without its values.
      try SQLiteStore.translating(url) {
        let folder = isCoreData ? StoredForms.coreData.folder(ofDatabase: url.path) : folder
        try folder.remove { MigrationProbe.onStep?($0) }
      }
    }
  }

  /// Whether the file is one of Core Data; false for one that can't be read.
  private static func isCoreData(_ url: URL) -> Bool {
    var configuration = Configuration.ofStores
    configuration.readonly = true
    let found = Result {
      try DatabaseQueue(path: url.path, configuration: configuration).read { try $0.tableExists("Z_METADATA") }
    }
    return (try? found.get()) ?? false
  }

  /// Replaces the file by one that `write` makes at another place: an empty file is there.
  /// - Parameters:
  ///   - other: the file whose permissions a new file gets; nil for those of any new file.
  ///   - write: returns the names of the files of large values that the new file refers to.
  func replace(like other: URL?, _ write: (URL) throws -> Set<String>) throws {
    let former = try externalNames()
    func clear() throws {
      for ending in [""] + SQLiteStore.companionEndings {
        try Self.unlink(URL(fileURLWithPath: replacement.path + ending))
      }
    }
    try clear()
    do {
      try makeReplacement(like: FileManager.default.fileExists(atPath: url.path) ? url : other)
      let names = try write(replacement)
      try underExclusiveLock {
        // The log of another file would be taken for the new one's.
        for ending in SQLiteStore.companionEndings { try Self.unlink(URL(fileURLWithPath: url.path + ending)) }
        MigrationProbe.onStep?("rename")
        guard rename(replacement.path, url.path) == 0 else {
          throw ManagedObjectError.store(StoreFailure(errno: errno, of: "rename", path: url.path))
        }
        try Self.synchronize(url.deletingLastPathComponent())
        try removeExternal(former.subtracting(names))
      }
    } catch {
      // The old content refers to none of the new files.
      _ = Result { try removeExternal(externalNames().subtracting(former)) }
      // What can't be removed is removed by the next call. Why nothing was replaced is what counts.
      _ = Result { try clear() }
      throw error
    }
  }

  private func removeExternal(_ names: Set<String>) throws {
    if names.isEmpty { return }
    try SQLiteStore.translating(url) {
      _ = try folder.whileUnread {
        for name in names {
          MigrationProbe.onStep?("unlink an external value")
          try folder.remove(name)
        }
      }
    }
  }

  /// Makes an empty file that is readable only for those who may read its later content.
  private func makeReplacement(like other: URL?) throws {
    func failure(_ call: String) -> ManagedObjectError {
      .store(StoreFailure(errno: errno, of: call, path: replacement.path))
    }
    let descriptor = Glibc.open(replacement.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure("open") }
    defer { Glibc.close(descriptor) }
    guard let other else { return }
    var status = stat()
    guard stat(other.path, &status) == 0 else {
      if errno == ENOENT { return }
      throw ManagedObjectError.store(StoreFailure(errno: errno, of: "stat", path: other.path))
    }
    guard fchmod(descriptor, status.st_mode & 0o777 | 0o600) == 0 else { throw failure("fchmod") }
  }

  /// Runs `body` while no other connection can open the file, whose log is empty then.
  private func underExclusiveLock(_ body: () throws -> Void) throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return try body() }
    var configuration = Configuration.ofStores
    configuration.busyMode = .immediateError
    let lock: DatabaseQueue
    do {
      lock = try DatabaseQueue(path: url.path, configuration: configuration)
      try lock.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
        guard mode == "delete" else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
        try db.execute(sql: "BEGIN EXCLUSIVE; ROLLBACK")
      }
    } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
      throw ManagedObjectError.store(
        StoreFailure(
          .busy, path: url.path,
          message: "the store is open in this process or in another: remove it from its coordinator first"))
    } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
      // No connection can use it, and it has no lock that would count.
      return try body()
    } catch let error as DatabaseError {
      throw ManagedObjectError.store(StoreFailure(error, path: url.path))
    }
    // With this locking mode the lock is kept until the connection is closed.
    let result = Result(catching: body)
    try SQLiteStore.translating(url) { try lock.close() }
    try result.get()
  }

  static func unlink(_ url: URL) throws {
    MigrationProbe.onStep?("unlink \(url.lastPathComponent)")
    guard Glibc.unlink(url.path) != 0, errno != ENOENT else { return }
    throw ManagedObjectError.store(StoreFailure(errno: errno, of: "unlink", path: url.path))
  }

  /// Makes a file's content, or a directory's entries, survive a loss of power.
  static func synchronize(_ url: URL) throws {
    MigrationProbe.onStep?("synchronize \(url.lastPathComponent)")
    let descriptor = Glibc.open(url.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ManagedObjectError.store(StoreFailure(errno: errno, of: "open", path: url.path))
    }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw ManagedObjectError.store(StoreFailure(errno: errno, of: "fsync", path: url.path))
    }
  }
}
