import GRDB
import ManagedObjects
import Synchronization

/// The values that a Core Data store's triggers derive, as they report them. Safe from any thread; used by the writer alone.
///
/// For `pages.@count` a trigger ends with `SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK,
/// 'pagesCount', ZPAGESCOUNT) …`, a function that only Core Data has: without one of that name every INSERT fails.
final class DerivedValues: Sendable {
  /// One derived value of a row.
  struct Change: Sendable {
    let entity: Int64
    let row: Int64
    let name: String
  }

  private let changes = Mutex<[Change]>([])
  /// The functions that triggers may call, with the same arguments.
  private static let functions = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
  ]

  /// The changes that were reported since the last call.
  func take() -> [Change] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }

  func register(on db: Database) {
    for name in Self.functions {
      db.add(
        function: DatabaseFunction(name, argumentCount: 5) { [self] arguments in
          guard case .int64(let entity) = arguments[1].storage, case .int64(let row) = arguments[2].storage,
            case .string(let name) = arguments[3].storage
          else { return nil }
          changes.withLock { $0.append(Change(entity: entity, row: row, name: name)) }
          return nil
        })
    }
  }

  /// Refuses triggers and indexes that call other functions of Core Data.
  static func checkFunctions(of db: Database, path: String) throws {
    let rows = try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql LIKE '%NSCoreData%'")
    for row in rows {
      let (name, sql): (String, String) = (row[0], row[1])
      for part in sql.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) where part.hasPrefix("NSCoreData") {
        guard functions.contains(String(part)) else {
          throw CoreDataStoreError.unknownFunction(path: path, name: name, function: String(part))
        }
      }
    }
  }
}
