import CoreDataStores
package import Foundation
package import ManagedObjects

/// A store that Core Data wrote, read through descriptors and never written.
final class CoreDataStore {
  /// What the store says of itself.
  let schema: CoreDataSchema
  let connection: CoreDataReading

  /// The bytes that a cached model may have.
  private static let modelBytes = 16 << 20

  /// - Throws: ``ReaderError/database(_:)`` if it isn't a SQLite database, or not a store of Core Data.
  init(descriptor: Int32, log: Int32?) throws(ReaderError) {
    let file = try PlainSource(descriptor: descriptor)
    guard try file.readSample(SourceSample.signatureSize).starts(with: SQLiteFormat.signature) else {
      throw .database(.notADatabase)
    }
    let database = try SQLiteDatabase(
      descriptor: descriptor, log: log, fileSize: file.size, isQueried: false, maximumRecordBytes: Self.modelBytes)
    guard database.tables.contains("Z_METADATA"), database.tables.contains("Z_PRIMARYKEY") else {
      throw .database(.notACoreDataStore)
    }
    connection = CoreDataReading(database: database)
    do {
      schema = try CoreDataSchema(connection)
    } catch let error as ReaderError {
      throw error
    } catch {
      throw .database(.failed(reason: "\(error)", record: 0))
    }
  }

  /// Whether the file is a SQLite database with the tables of a Core Data store.
  static func isStore(descriptor: Int32, log: Int32?) throws(ReaderError) -> Bool {
    do throws(ReaderError) {
      _ = try CoreDataStore(descriptor: descriptor, log: log)
      return true
    } catch {
      guard error == .database(.notADatabase) || error == .database(.notACoreDataStore) else { throw error }
      return false
    }
  }

  /// Whether it has its model in the cache for it.
  var hasModel: Bool {
    get throws(ReaderError) { try cachedModel() != nil }
  }

  private func cachedModel() throws(ReaderError) -> Data? {
    guard schema.tables.contains("Z_MODELCACHE"),
      case .data(let cache)? = try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1").first?.first
    else { return nil }
    return cache
  }

  /// The model that created the store, from its cache.
  /// - Parameters:
  ///   - file: the name to use in errors and warnings.
  ///   - isKept: false to free the model with the last reference to it.
  /// - Throws: ``ReaderError/database(_:)``.
  func model(file: String, isKept: Bool = true) throws(ReaderError) -> ManagedObjectModel {
    guard let cache = try cachedModel() else { throw .database(.noModelCache) }
    do {
      return try ManagedObjectModel(modelCache: cache, file: file, isKept: isKept)
    } catch ModelError.unreadable(_, let reason) {
      throw .database(.badModel(reason: reason))
    } catch {
      throw .database(.badModel(reason: "\(error)"))
    }
  }
}

/// Queries of ours over a store of unknown origin.
struct CoreDataReading: CoreDataConnection {
  fileprivate let database: SQLiteDatabase
  /// What a result may have: queries are about what a store is made of, not about its objects.
  private static let rowLimit = 20_000

  func rows(_ sql: String) throws(ReaderError) -> [[Value]] {
    let rows = try prepared(sql)
    var all: [[Value]] = []
    while try rows.next() {
      guard all.count < Self.rowLimit else {
        throw .database(.badModel(reason: "it has more than \(Self.rowLimit) entities or tables"))
      }
      all.append(rows.columns.indices.map { rows.value($0) })
    }
    return all
  }

  func declaredColumns(of table: String) throws(ReaderError) -> [CoreDataSchema.Column] {
    guard database.tables.contains(table) else { return [] }
    let rows = try prepared("SELECT * FROM \(SQLiteDatabase.quoted(table)) LIMIT 0")
    return rows.columns.enumerated().map { CoreDataSchema.Column($1, rows.declaredType($0) ?? "") }
  }

  private func prepared(_ sql: String) throws(ReaderError) -> SQLiteRows {
    switch database.prepare(sql) {
    case .success(let rows): return rows
    case .failure(.badQuery(let reason)): throw .database(.failed(reason: reason, record: 0))
    case .failure(let error): throw .database(error)
    }
  }
}

/// The model of a Core Data store, from the store itself.
package enum CoreDataStoreModel {
  /// The model in the store's own cache. The write-ahead log beside the file is read, and nothing is written.
  /// - Throws: ``ReaderError``, or ``MappingError`` for a file that can't be opened.
  package static func read(_ url: URL) throws -> ManagedObjectModel {
    let source = try ImportSource(url.resolvingSymlinksInPath())
    // The source closes its descriptors.
    return try withExtendedLifetime(source) {
      try CoreDataStore(descriptor: source.descriptor, log: source.log?.descriptor).model(file: url.path)
    }
  }

  /// Whether the file begins as a SQLite database does.
  package static func isDatabase(_ url: URL) throws -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
      return false
    }
    let source = try ImportSource(url.resolvingSymlinksInPath())
    return try withExtendedLifetime(source) {
      try PlainSource(descriptor: source.descriptor).readSample(16).starts(with: SQLiteFormat.signature)
    }
  }
}
