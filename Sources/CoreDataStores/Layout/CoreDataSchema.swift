package import ManagedObjects

/// What a file of Core Data's says of itself, apart from its model: its entities with their numbers, the columns of its tables,
/// and the statements that made it.
///
/// - `Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX)` numbers the entities. Numbers differ between versions of one model, so they
///   are read and never assumed. `Z_MAX` of a root entity is the greatest `Z_PK` that was ever given out in its table.
/// - `Z_METADATA`: the store's UUID and a property list, see ``CoreDataMetadata``.
/// - `Z_MODELCACHE`: the model, compiled and compressed, since 2016.
/// - `Z<ROOT>`: one table for each hierarchy of entities. `Z_<number><RELATIONSHIP>`: a table for pairs.
///
/// Source: 87 stores of frameworks 241 to 1344; Apple doesn't document the format.
package struct CoreDataSchema: Sendable, Codable {
  /// A row of `Z_PRIMARYKEY`.
  package struct Entity: Sendable, Equatable, Codable {
    package var number: Int64
    package var name: String
    /// The number of the entity that it inherits from, 0 for none.
    package var parent: Int64
    /// The greatest number of a row that was given out, at a root entity.
    package var maximum: Int64

    package init(number: Int64, name: String, parent: Int64, maximum: Int64 = 0) {
      (self.number, self.name, self.parent, self.maximum) = (number, name, parent, maximum)
    }
  }

  /// A column as declared.
  package struct Column: Sendable, Hashable, Codable {
    package var name: String
    /// `INTEGER`, `FLOAT`, `TIMESTAMP`, `DECIMAL`, `VARCHAR` or `BLOB`.
    package var type: String

    package init(_ name: String, _ type: String) { (self.name, self.type) = (name, type) }
  }

  /// A table, an index or a trigger, in the order of its creation.
  package struct Item: Sendable, Equatable, Codable {
    package var type: String
    package var name: String
    package var table: String
    package var sql: String

    package init(type: String, name: String, table: String, sql: String) {
      (self.type, self.name, self.table, self.sql) = (type, name, table, sql)
    }
  }

  /// The entities, in the order of their numbers. Those of history are among them: ``historyNumbers``.
  package var entities: [Entity]
  /// The columns of each table, in order.
  package var columns: [String: [Column]]
  /// What the file was made by; indexes that SQLite makes for keys aren't among it.
  package var items: [Item]

  package init(entities: [Entity], columns: [String: [Column]], items: [Item]) {
    self.entities = entities
    self.columns = columns
    self.items = items
  }

  /// The numbers of the entities of persistent history, which no model has.
  package static let historyNumbers: ClosedRange<Int64> = 16001...16999

  /// The entities of the model.
  package var modelEntities: [Entity] { entities.filter { !Self.historyNumbers.contains($0.number) } }
  /// The names of the tables, in the order of their creation.
  package var tables: [String] { items.lazy.filter { $0.type == "table" }.map(\.name) }
}

/// A connection to a file of Core Data's, of whichever library.
package protocol CoreDataConnection {
  /// All rows of a query without parameters: null, integers, doubles, strings and data.
  func rows(_ sql: String) throws -> [[Value]]
  /// The columns of a table as declared, in order; none if there is no such table.
  func declaredColumns(of table: String) throws -> [CoreDataSchema.Column]
}

extension CoreDataSchema {
  /// More than any model has, and little enough for memory: a file may be a stranger's.
  private static let mostEntities = 5_000
  private static let mostItems = 50_000
  private static let longestName = 1_000

  /// Reads what a file says of itself.
  /// - Throws: what the connection throws, and ``CoreDataFileError``.
  package init(_ connection: some CoreDataConnection) throws {
    let items = try connection.rows(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' "
        + "ORDER BY rowid LIMIT \(Self.mostItems + 1)"
    ).map { row in
      let texts = row.map(\.plainText)
      return Item(type: texts[0], name: texts[1], table: texts[2], sql: texts[3])
    }
    guard items.count <= Self.mostItems else {
      throw CoreDataFileError.mismatch(place: "sqlite_schema", reason: "it has more than \(Self.mostItems) rows")
    }
    let tables = items.filter { $0.type == "table" }.map(\.name)
    guard tables.contains("Z_METADATA"), tables.contains("Z_PRIMARYKEY") else { throw CoreDataFileError.notAStore }
    let entities = try connection.rows(
      "SELECT Z_ENT, substr(Z_NAME, 1, \(Self.longestName)), Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT "
        + "LIMIT \(Self.mostEntities + 1)"
    ).map { row in
      Entity(
        number: row[0].storedInteger, name: row[1].plainText, parent: row[2].storedInteger,
        maximum: row[3].storedInteger)
    }
    guard entities.count <= Self.mostEntities else {
      throw CoreDataFileError.mismatch(
        place: "Z_PRIMARYKEY", reason: "it lists more than \(Self.mostEntities) entities")
    }
    var columns: [String: [Column]] = [:]
    for table in tables { columns[table] = try connection.declaredColumns(of: table) }
    self.init(entities: entities, columns: columns, items: items)
  }
}

extension Value {
  /// A whole number of a row; 0 for anything else.
  package var storedInteger: Int64 {
    if case .int(let number) = self { number } else { 0 }
  }
}

/// Why a file of Core Data's can't be read or written.
package enum CoreDataFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// It hasn't the tables of a store.
  case notAStore
  /// The model has what the layout of a new file can't be computed for: what it is, and where.
  case unknownLayout(place: String, reason: String)
  /// What the file has isn't what its model says.
  case mismatch(place: String, reason: String)
  /// There are no version hashes for an entity.
  case noHashes(entity: String)
  /// The property list in `Z_METADATA` can't be read.
  case badMetadata(reason: String)
  /// A statement of a template can't be run.
  case badTemplate(statement: String, reason: String)
  /// A value that the file's column can't hold.
  case unstorable(place: String, reason: String)

  package var description: String {
    switch self {
    case .notAStore: "it isn't a Core Data store: it has no tables Z_METADATA and Z_PRIMARYKEY"
    case .unknownLayout(let place, let reason):
      "\(place) \(reason): give a store that the app itself wrote as the template; an empty one will do"
    case .mismatch(let place, let reason): "\(place): \(reason)"
    case .noHashes(let entity):
      "there is no version hash for the entity \(entity): give a store that the app wrote as the template, or the .momd from "
        + "the app's bundle with its VersionInfo.plist"
    case .badMetadata(let reason): "its version hashes can't be read: \(reason)"
    case .badTemplate(let statement, let reason): "the template's “\(statement)” can't be used: \(reason)"
    case .unstorable(let place, let reason): "\(place): \(reason)"
    }
  }
}
