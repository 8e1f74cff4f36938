// Row numbers come from the sequences of the tables' identity columns, outside of the transaction that uses them, so that none is
// given twice. Each process takes a block at a time. Behind a pooler, sessions are few, and a transaction that waited for another
// one might wait for its own kind: it takes its numbers itself, as many as it needs, and leaves none to transactions after it.

import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema
import Synchronization

/// Numbers new rows. Safe from any thread.
final class PostgresNumbers: Sendable {
  private static let smallest = 32
  private static let largest = 1024

  private struct Block {
    var next: Int64
    var end: Int64
    var size: Int
  }

  private let pool: PostgresPool
  private let name: String
  private let blocks = Mutex<[String: Block]>([:])

  init(_ pool: PostgresPool, name: String) {
    self.pool = pool
    self.name = name
  }

  /// Forgets the numbers that were taken and not given.
  func forget() { blocks.withLock { $0 = [:] } }

  private func settled<T>(_ body: (PostgresConnection) throws -> T) throws -> T {
    try pool.repeating { connection in try connection.settled { try body(connection) } }
  }

  /// Gives up its connection.
  func close() { pool.close() }

  /// The first of `count` numbers in sequence.
  /// - Parameter own: the connection of the thread's transaction, if there is one.
  func take(_ count: Int, _ layout: PostgresLayout, within own: PostgresConnection?) throws -> Int64 {
    let known: Int64? = blocks.withLock { blocks in
      guard var block = blocks[layout.table], block.end - block.next >= Int64(count) else { return nil }
      defer { blocks[layout.table] = block }
      block.next += Int64(count)
      return block.next - Int64(count)
    }
    if let known { return known }
    if let own, own.isPooled { return try allocate(count, layout, own) }
    let size = blocks.withLock { blocks in
      min(Self.largest, (blocks[layout.table]?.size ?? Self.smallest / 2) * 2)
    }
    // Of a large number nothing is left over.
    let taken = count > size / 2 ? count : size
    let first = try settled { try allocate(taken, layout, $0) }
    if taken > count {
      blocks.withLock { blocks in
        blocks[layout.table] = Block(next: first + Int64(count), end: first + Int64(taken), size: size)
      }
    }
    return first
  }

  private func allocate(_ count: Int, _ layout: PostgresLayout, _ connection: PostgresConnection) throws -> Int64 {
    let (table, key) = (SQLText.name(layout.table), SQLText.name(layout.keyColumn))
    let sequence =
      "pg_get_serial_sequence(\(SQLText.literal(table)), \(SQLText.literal(layout.keyColumn)))"
    // Another program may number rows by itself, or take numbers in between.
    for _ in 0..<1000 {
      let rows = try connection.query(
        "SELECT min(n), max(n), COALESCE((SELECT max(\(key)) FROM \(table)), 0) "
          + "FROM (SELECT nextval(\(sequence)) AS n FROM generate_series(1, $1)) AS taken", [.int(Int64(count))])
      let (first, last, greatest) = (rows.int(0, 0), rows.int(0, 1), rows.int(0, 2))
      if first <= greatest {
        guard greatest < Int64.max - Int64(count) else { break }
        // Never lower: another program may have taken numbers since.
        try connection.query("SELECT setval(\(sequence), greatest($1, nextval(\(sequence))))", [.int(greatest)])
      } else if last - first == Int64(count) - 1 {
        return first
      }
    }
    throw ManagedObjectError.store(
      StoreFailure(
        .outOfRange, path: name,
        message: "the table \(layout.table) has no more numbers for rows: its greatest is too near to \(Int64.max)"))
  }

  /// The highest number that any row has or had.
  func highest(_ layouts: some Sequence<PostgresLayout>) throws -> Int64 {
    var highest: Int64 = 0
    for layout in layouts {
      let (table, key) = (SQLText.name(layout.table), SQLText.name(layout.keyColumn))
      highest = try settled { connection in
        let sequence = try connection.query(
          "SELECT pg_get_serial_sequence(\(SQLText.literal(table)), \(SQLText.literal(layout.keyColumn)))"
        ).text(0, 0)
        let rows = try connection.rows(
          "SELECT GREATEST((SELECT max(\(key)) FROM \(table)), (SELECT CASE WHEN is_called THEN last_value END "
            + "FROM \(sequence)), 0)")
        return max(highest, rows.int(0, 0))
      }
    }
    return highest
  }

  /// Gives new rows higher numbers than `number`.
  func raise(above number: Int64, _ layouts: some Sequence<PostgresLayout>) throws {
    for layout in layouts {
      let table = SQLText.name(layout.table)
      let sequence =
        "pg_get_serial_sequence(\(SQLText.literal(table)), \(SQLText.literal(layout.keyColumn)))"
      try settled { connection in
        _ = try connection.query(
          "SELECT setval(\(sequence), GREATEST($1, nextval(\(sequence))))", [.int(number)])
      }
      blocks.withLock { $0[layout.table] = nil }
    }
  }
}
