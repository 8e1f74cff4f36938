import GRDB

/// What a store's file held at one moment, on a connection of its own that keeps a read transaction open.
///
/// While there is one, SQLite can't take what was committed since out of its write-ahead log: the log grows until the
/// snapshot is let go of and the next checkpoint comes.
final class SQLiteSnapshot: SQLiteReader {
  let store: SQLiteStore
  private let snapshot: DatabaseSnapshot

  init(of store: SQLiteStore) throws {
    self.store = store
    snapshot = try store.translating { try store.pool.makeSnapshot() }
  }

  /// Reentrant: who goes through the rows of one query may ask another meanwhile.
  func read<T>(_ body: (Database) throws -> T) throws -> T { try snapshot.unsafeReentrantRead(body) }
}
