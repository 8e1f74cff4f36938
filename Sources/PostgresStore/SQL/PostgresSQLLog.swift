import Foundation
import Logging
import PostgreSQL
import SQLSchema
import Synchronization

/// Logs the statements of a store's connections. Safe from any thread.
final class PostgresSQLLog: Sendable {
  private let level: SQLLogLevel
  private let logger: Logger
  private let store: String
  /// The connection for plans: that of a statement may be in use.
  private let pool: PostgresPool
  private let plans = Mutex<[String: [String]]>([:])

  /// nil when nothing is logged.
  init?(_ level: SQLLogLevel, _ logger: Logger, store: String, _ access: PostgresAccess) {
    if level == .off { return nil }
    self.level = level
    self.logger = logger
    self.store = store
    pool = PostgresPool(access, limit: 1, timeout: 5)
  }

  /// Notes a statement that has ended.
  func note(_ trace: PostgresTrace) {
    let verb = Self.changesRows(trace.statement) ? "changed row" : "row"
    let time = String(format: "%.3f ms", trace.time / .milliseconds(1))
    log("\(shown(trace)) (\(trace.rows) \(verb)\(trace.rows == 1 ? "" : "s"), \(time))")
    guard level == .plans, Self.changesRows(trace.statement) || trace.statement.hasPrefix("SELECT") else { return }
    for line in plan(of: trace) { log("  plan: \(line)") }
  }

  /// Notes that SQL has selected more rows than a fetch has, because it wouldn't answer the rest alike.
  func noteSelection(in entity: String, among rows: Int) {
    log("the rest of the fetch of \(entity) is done in memory, among \(rows) row\(rows == 1 ? "" : "s")")
  }

  func close() { pool.close() }

  private func log(_ message: String) { logger.info("\(message)", metadata: ["store": "\(store)"]) }

  private static func changesRows(_ sql: String) -> Bool {
    ["INSERT", "UPDATE", "DELETE", "COPY"].contains(where: sql.hasPrefix)
  }

  private func shown(_ trace: PostgresTrace) -> String {
    level.rawValue >= SQLLogLevel.arguments.rawValue ? Self.complete(trace) : trace.statement
  }

  /// The statement with its parameters in place.
  private static func complete(_ trace: PostgresTrace) -> String {
    if trace.parameters.isEmpty { return trace.statement }
    var text = ""
    var rest = trace.statement[...]
    var quote: Character?
    while let character = rest.popFirst() {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "$" {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        if let number = Int(digits), trace.parameters.indices.contains(number - 1) {
          text += literal(trace.parameters[number - 1])
          rest = rest.dropFirst(digits.count)
          continue
        }
      }
      text.append(character)
    }
    return text
  }

  private static func literal(_ value: PostgresValue) -> String {
    // The type of an empty list can't be told from what is in it.
    if case .array(let type, let list) = value, list.isEmpty { return "'{}'::\(type)[]" }
    return PostgresDialect.literal(value)
  }

  private func plan(of trace: PostgresTrace) -> [String] {
    if let known = plans.withLock({ $0[trace.statement] }) { return known }
    let statement = Self.complete(trace)
    if statement.hasPrefix("COPY") { return [] }
    let lines: [String]
    do {
      lines = try pool.repeating { connection in
        try connection.settled { try PostgresCatalogue(connection).texts("EXPLAIN \(statement)").compactMap { $0[0] } }
      }
    } catch {
      return ["can't be had: \(error)"]
    }
    plans.withLock { plans in
      if plans.count >= 500 { plans = [:] }
      plans[trace.statement] = lines
    }
    return lines
  }
}
