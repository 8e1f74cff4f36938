import CoreDataStores
import Foundation
import GRDB
import Glibc
import ManagedObjects
import SQLSchema

extension InPlaceStore {
  /// Makes a new file without rows. Crash-safe: it is made under another name, and renamed when it is complete.
  /// - Throws: ``CoreDataStoreError/cannotCreate(path:reason:)``, ``ManagedObjectError/store(_:)``.
  static func create(
    at url: URL, _ model: ManagedObjectModel, from source: CoreDataStoreOptions.Template?, timeout: TimeInterval
  ) throws {
    let template: CoreDataTemplate
    do {
      template = try emptied(source, model, path: url.path, timeout: timeout)
    } catch let error as CoreDataFileError {
      throw CoreDataStoreError.cannotCreate(path: url.path, reason: error.description)
    }
    let draft = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
    do {
      try SQLiteStore.translating(url) {
        let queue = try DatabaseQueue(path: draft.path)
        try queue.inDatabase { db in
          for pragma in template.pragmas { try db.execute(sql: "PRAGMA \(pragma)") }
          try db.inTransaction {
            for (sql, arguments) in template.statements {
              let values = arguments.map(databaseValue)
              try db.execute(sql: sql, arguments: StatementArguments(values))
            }
            return .commit
          }
        }
        try queue.close()
      }
      // If another process has made the file first, that one stays.
      guard link(draft.path, url.path) == 0 || errno == EEXIST else {
        throw ManagedObjectError.store(StoreFailure(errno: errno, of: "link", path: url.path))
      }
      try FileManager.default.removeItem(at: draft)
    } catch {
      _ = unlink(draft.path)
      throw error
    }
  }

  /// The template with an identifier of its own, and without rows.
  private static func emptied(
    _ source: CoreDataStoreOptions.Template?, _ model: ManagedObjectModel, path: String, timeout: TimeInterval
  ) throws -> CoreDataTemplate {
    var template: CoreDataTemplate
    switch source {
    case nil:
      throw CoreDataStoreError.cannotCreate(
        path: path,
        reason:
          "a new store needs Core Data's version hashes of the model, which only an app has: give a store of the app, "
          + "its compiled .momd, or the hashes as the template")
    case .store(let url)?:
      template = try SQLiteStore.translating(url) {
        let file = try ReadOnlyFile(url, configuration(CoreDataStoreOptions(), timeout: timeout, DerivedValues())) {
          db in
          try CoreDataTemplate(CoreDataFile(db), pageSize: Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096)
        }
        try file.pool.close()
        return file.checked
      }
      for index in template.schema.entities.indices { template.schema.entities[index].maximum = 0 }
    case .compiledModel(let url)?: template = try CoreDataTemplate(compiledModel: url)
    case .versionHashes(let hashes)?: template = try CoreDataTemplate(model: model, hashes: hashes)
    }
    template.metadata.uuid = UUID().uuidString
    return template
  }

  private static func databaseValue(_ value: Value) -> DatabaseValue {
    switch value {
    case .int(let number): number.databaseValue
    case .double(let number): number.databaseValue
    case .string(let text): text.databaseValue
    case .data(let data): data.databaseValue
    default: .null
    }
  }
}
