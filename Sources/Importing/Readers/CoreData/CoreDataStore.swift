package import Foundation
package import ManagedObjects

/// A store that Core Data wrote, read through descriptors and never written.
///
/// - `Z_METADATA`: what it is. `Z_PRIMARYKEY`: the number of each entity, which differs between versions of one model.
/// - `Z<ROOT>`: one table for a hierarchy of entities, with the row's number `Z_PK` and the number of its entity `Z_ENT`.
/// - `Z_MODELCACHE`: the model, compiled and compressed, since 2016.
///
/// Source: 87 stores of frameworks 640 to 1344; Apple doesn't document the format.
final class CoreDataStore {
  /// An entity of the store, as `Z_PRIMARYKEY` lists it.
  struct Entity {
    let number: Int64
    let name: String
    /// The number of the entity that it inherits from, 0 for none.
    let parent: Int64
  }

  private let database: SQLiteDatabase
  /// The entities, by name.
  private(set) var entities: [String: Entity] = [:]
  /// The columns of each table.
  private var columns: [String: [String]] = [:]

  /// The bytes that a cached model may have.
  private static let modelBytes = 64 << 20

  /// - Throws: ``ReaderError/database(_:)`` if it isn't a SQLite database, or not a store of Core Data.
  init(descriptor: Int32, log: Int32?) throws(ReaderError) {
    let file = try PlainSource(descriptor: descriptor)
    guard try file.readSample(SourceSample.signatureSize).starts(with: SQLiteFormat.signature) else {
      throw .database(.notADatabase)
    }
    database = try SQLiteDatabase(
      descriptor: descriptor, log: log, fileSize: file.size, isQueried: false, maximumRecordBytes: Self.modelBytes)
    guard database.tables.contains("Z_METADATA"), database.tables.contains("Z_PRIMARYKEY") else {
      throw .database(.notACoreDataStore)
    }
    let rows = try self.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    while try rows.next() {
      let entity = Entity(number: rows.integer(0), name: rows.text(1), parent: rows.integer(2))
      entities[entity.name] = entity
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

  /// The tables that store rows.
  var tables: [String] { database.tables }

  /// Whether it has a cache for its model.
  var hasModel: Bool { database.tables.contains("Z_MODELCACHE") }

  /// The model that created the store, from its cache.
  /// - Parameter file: the name to use in errors and warnings.
  /// - Throws: ``ReaderError/database(_:)``.
  func model(file: String) throws(ReaderError) -> ManagedObjectModel {
    guard hasModel else { throw .database(.noModelCache) }
    let rows = try self.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
    guard try rows.next(), let cache = rows.blob(0) else { throw .database(.noModelCache) }
    do {
      return try ManagedObjectModel(modelCache: Data(cache), file: file)
    } catch {
      throw .database(.badModel(reason: "\(error)"))
    }
  }

  /// The columns of a table, in order; none if there is no such table.
  func columns(of table: String) throws(ReaderError) -> [String] {
    if let known = columns[table] { return known }
    guard database.tables.contains(table) else { return [] }
    let found = try rows("SELECT * FROM \(SQLiteDatabase.quoted(table)) LIMIT 0").columns
    columns[table] = found
    return found
  }

  /// Whether a column has a value in any row of an entity.
  func hasValues(_ column: String, of entity: Entity, in table: String) throws(ReaderError) -> Bool {
    let rows = try self.rows(
      "SELECT EXISTS (SELECT 1 FROM \(SQLiteDatabase.quoted(table)) WHERE Z_ENT = \(entity.number) "
        + "AND \(SQLiteDatabase.quoted(column)) IS NOT NULL)")
    return try rows.next() && rows.integer(0) != 0
  }

  private func rows(_ sql: String) throws(ReaderError) -> SQLiteRows {
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
