// SQLite itself reports each statement when it has ended, by its trace interface, so that nothing is missed, and a store
// that logs nothing pays nothing: its connections have no trace. https://sqlite.org/c3ref/trace_v2.html

import Foundation
import GRDB
import GRDBSQLite
package import Logging
import ManagedObjects
import SQLSchema
import Synchronization

/// Logs the statements of a store's connections. Safe from any thread. The connections' configuration keeps it alive.
final class SQLLog: Sendable {
  let level: SQLLogLevel
  private let logger: Logger
  private let path: String
  /// The rows that running statements have returned, by the statements' addresses.
  private let rows = Mutex<[UInt: Int]>([:])
  private let plans = Mutex(Plans())

  private struct Plans {
    var connection: DatabaseQueue?
    var known: [String: [String]] = [:]
  }

  /// nil when nothing is logged.
  init?(_ level: SQLLogLevel, _ logger: Logger, path: String) {
    if level == .off { return nil }
    self.level = level
    self.logger = logger
    self.path = path
  }

  /// Logs the statements of a connection from now on.
  func follow(_ db: Database) {
    sqlite3_trace_v2(
      db.sqliteConnection, UInt32(SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW),
      { kind, log, statement, detail in
        guard let log, let statement else { return 0 }
        let this = Unmanaged<SQLLog>.fromOpaque(log).takeUnretainedValue()
        if kind == UInt32(SQLITE_TRACE_ROW) {
          this.rows.withLock { $0[UInt(bitPattern: statement), default: 0] += 1 }
        } else if let nanoseconds = detail?.loadUnaligned(as: Int64.self) {
          this.ended(OpaquePointer(statement), nanoseconds)
        }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Logs a step that isn't one statement, with its time. Returns its result.
  func timing<T>(_ step: String, _ body: () throws -> T) throws -> T {
    let clock = ContinuousClock()
    let start = clock.now
    log("begin: \(step)")
    let result = Result(catching: body)
    let time = Self.text((clock.now - start) / .nanoseconds(1))
    switch result {
    case .success: log("end: \(step) (\(time))")
    case .failure(let error): log("failed: \(step) (\(time)): \(error)")
    }
    return try result.get()
  }

  private func log(_ message: String) { logger.info("\(message)", metadata: ["store": "\(path)"]) }

  // MARK: Statements

  private func ended(_ statement: OpaquePointer, _ nanoseconds: Int64) {
    guard let sql = sqlite3_sql(statement).map({ String(cString: $0) }) else { return }
    var count = rows.withLock { $0.removeValue(forKey: UInt(bitPattern: statement)) } ?? 0
    var verb = "row"
    if sqlite3_stmt_readonly(statement) == 0, count == 0, Self.changesRows(sql) {
      count = Int(sqlite3_changes(sqlite3_db_handle(statement)))
      verb = "changed row"
    }
    log("\(shown(statement) ?? sql) (\(count) \(verb)\(count == 1 ? "" : "s"), \(Self.text(Double(nanoseconds))))")
    guard level == .plans, Self.changesRows(sql) || sql.hasPrefix("SELECT") || sql.hasPrefix("WITH") else { return }
    for line in plan(of: sql) { log("  plan: \(line)") }
  }

  /// The statement with its arguments; nil where they aren't shown.
  private func shown(_ statement: OpaquePointer) -> String? {
    guard level.rawValue >= SQLLogLevel.arguments.rawValue, let text = sqlite3_expanded_sql(statement) else {
      return nil
    }
    defer { sqlite3_free(text) }
    return String(cString: text)
  }

  private static func changesRows(_ sql: String) -> Bool {
    ["INSERT", "UPDATE", "DELETE", "REPLACE"].contains(where: sql.hasPrefix)
  }

  private static func text(_ nanoseconds: Double) -> String { String(format: "%.3f ms", nanoseconds / 1_000_000) }

  // MARK: Plans

  /// SQLite's plan, made on a connection of its own: the statement's connection is in use. A table that a transaction has just
  /// made isn't there for it.
  private func plan(of sql: String) -> [String] {
    plans.withLock { plans in
      if let known = plans.known[sql] { return known }
      let lines: [String]
      do {
        let connection = try plans.connection ?? planConnection()
        plans.connection = connection
        lines = try connection.read { db in
          let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
          // A plan doesn't depend on them.
          statement.setUncheckedArguments(StatementArguments())
          return try Row.fetchAll(statement).map { $0["detail"] ?? "" }
        }
      } catch {
        return ["can't be had: \(error)"]
      }
      if plans.known.count >= 500 { plans.known = [:] }
      plans.known[sql] = lines
      return lines
    }
  }

  private func planConnection() throws -> DatabaseQueue {
    var configuration = SQLiteStore.configuration(SQLiteStoreOptions())
    configuration.readonly = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}

/// What an SQLite store's description holds beside what every store's has.
package struct SQLiteStoreSettings: Sendable {
  var options = SQLiteStoreOptions()
  package var logger = Logger(label: "sql")

  /// The settings of a description that says nothing else.
  package init() {}
}
