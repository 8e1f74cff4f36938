import GRDB

/// The tables of a store that tracks history.
///
/// Numbers of transactions are never reused, also after the latest ones were deleted.
enum HistoryTables {
  static let statements = [
    """
    CREATE TABLE IF NOT EXISTS lade_history_transaction (
      number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, author TEXT, context TEXT, process INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS lade_history_change (
      number INTEGER PRIMARY KEY AUTOINCREMENT, transaction_number INTEGER NOT NULL, kind TEXT NOT NULL,
      entity TEXT NOT NULL, object INTEGER NOT NULL, properties TEXT, tombstone TEXT
    )
    """,
    """
    CREATE INDEX IF NOT EXISTS lade_history_change_transaction ON lade_history_change (transaction_number)
    """,
  ]
}
