import CoreDataStores
import Foundation
import GRDB
import ManagedObjects
import TestSupport

/// A copy of a store, or one that a test makes, read by GRDB.
struct StoreConnection: CoreDataConnection {
  let queue: DatabaseQueue
  private let folder: ScratchDirectory

  /// A copy of a store that Core Data wrote.
  init(copyOf name: String) throws {
    let folder = try ScratchDirectory()
    try CoreDataFiles.data(name).write(to: folder.file("App.sqlite"))
    self.folder = folder
    queue = try DatabaseQueue(path: folder.file("App.sqlite").path)
  }

  /// A new database made by these statements.
  init(_ sql: String) throws {
    folder = try ScratchDirectory()
    queue = try DatabaseQueue(path: folder.file("App.sqlite").path)
    try queue.write { try $0.execute(sql: sql) }
  }

  func rows(_ sql: String) throws -> [[Value]] {
    try queue.read { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map { value in
          switch value.storage {
          case .null: .null
          case .int64(let number): .int(number)
          case .double(let number): .double(number)
          case .string(let text): .string(text)
          case .blob(let data): .data(data)
          }
        }
      }
    }
  }

  func declaredColumns(of table: String) throws -> [CoreDataSchema.Column] {
    try queue.read { db in
      try db.columns(in: table).map { CoreDataSchema.Column($0.name, $0.type) }
    }
  }

  /// The model in the store's own cache.
  func model() throws -> ManagedObjectModel {
    let cache = try queue.read { try Data.fetchOne($0, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE") }
    return try ManagedObjectModel(modelCache: cache ?? Data(), file: "App.sqlite")
  }
}
