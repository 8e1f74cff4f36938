// Programs with different versions of a model may meet at one store. Each connection of a store holds a lock of the server's for
// as long as it lives (pg_advisory_lock), and takes it only after it has passed a gate at which it compares the store's version
// with its own. A migration closes the gate until its transaction ends, and ends the connections that are inside.
// So no statement that was made for the old tables ever meets the new ones: its connection is lost, the next one waits at the
// gate, and there its program learns that the store was migrated.
//
// Behind a pooler, transactions do what connections do otherwise. Their gate is a lock of lade_metadata: LOCK TABLE takes no
// snapshot, so what they compare and read afterwards is at least as new. They hold it until they end; who closes it ends them.

import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// The connections of a store's programs.
struct PostgresSessions: Sendable {
  /// The key in `lade_metadata` that counts migrations.
  static let key = "migrations"

  let namespace: String
  /// The store, for errors.
  let name: String

  private func lock(_ purpose: String) -> String {
    "hashtextextended(\(SQLText.literal("\(purpose) \(namespace)")), 0)"
  }

  /// Passed by each connection before it uses the store.
  private var gate: String { lock("lade") }
  /// Held by each connection that uses the store.
  private var inside: String { lock("lade session") }

  /// Closes the gate until the transaction ends. Waits for another who has.
  func closeGate(_ connection: PostgresConnection) throws {
    try connection.run("SELECT pg_advisory_xact_lock(\(gate))")
  }

  /// Lets new connections in.
  /// - Parameter migrations: the count of migrations when the store was opened. Where it is another,
  ///   ``MigrationError/migratedElsewhere(store:)`` is thrown.
  func entry(after migrations: String) -> PostgresEntry {
    let now = "SELECT coalesce(max(value), '0') FROM \(metadata) WHERE key = '\(Self.key)'"
    return PostgresEntry(
      session: "BEGIN; SELECT pg_advisory_xact_lock_shared(\(gate)); SELECT pg_advisory_lock_shared(\(inside)); "
        + "\(now); COMMIT",
      transactionLock: "LOCK TABLE \(metadata) IN ACCESS SHARE MODE",
      transaction: "(\(now)), pg_advisory_xact_lock_shared(\(inside))"
    ) { [name] found in
      guard found == migrations else { throw MigrationError.migratedElsewhere(store: name) }
    }
  }

  private var metadata: String { "\(SQLText.name(namespace)).lade_metadata" }

  /// Ends all connections but this one. The gate must be closed.
  /// - Throws: ``ManagedObjectError/store(_:)`` when the server doesn't let it.
  func endOthers(_ connection: PostgresConnection, timeout: TimeInterval) throws {
    let end = Date(timeIntervalSinceNow: timeout)
    let others =
      "FROM pg_locks, (SELECT \(inside) AS number) AS key WHERE locktype = 'advisory' AND objsubid = 1 "
      + "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
      + "AND classid = ((key.number >> 32) & 4294967295)::oid AND objid = (key.number & 4294967295)::oid "
      + "AND pid <> pg_backend_pid()"
    while true {
      let left: String?
      do {
        left = try connection.text("SELECT sum(CASE WHEN pg_terminate_backend(pid) THEN 1 ELSE 0 END) \(others)")
      } catch let error as PostgresError where error.state == "42501" {
        throw ManagedObjectError.store(
          StoreFailure(
            .permission, path: name,
            message: "programs of other roles have the store open, and their connections can't be ended: stop them, or "
              + "grant pg_signal_backend", detail: error.message))
      }
      if try left == nil && closeToTransactions(connection) { return }
      guard Date() < end else {
        throw ManagedObjectError.store(
          StoreFailure(.busy, path: name, message: "connections of other programs to the store don't end"))
      }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  /// Closes the gate of transactions. Returns whether no transaction holds it open.
  private func closeToTransactions(_ connection: PostgresConnection) throws -> Bool {
    let limit = try connection.text("SHOW lock_timeout") ?? "0"
    try connection.run("SAVEPOINT lade_gate; SET LOCAL lock_timeout = 200")
    do {
      // New ones wait behind this.
      try connection.run("LOCK TABLE \(metadata) IN ACCESS EXCLUSIVE MODE")
    } catch let error as PostgresError where error.state == "55P03" {
      try connection.run("ROLLBACK TO SAVEPOINT lade_gate")
      return false
    }
    try connection.run("RELEASE SAVEPOINT lade_gate; SET LOCAL lock_timeout = \(SQLText.literal(limit))")
    return true
  }
}
