import LadeTypes

/// Why the rows of an incremental source can't be read. All of these may pass, when somebody does what they say.
package enum ExtractionError: Error, Sendable, Hashable {
  /// There is no such file.
  case missing(path: String)
  /// The database can't be opened: SQLite's reason.
  case cannotOpen(path: String, reason: String)
  /// The PostgreSQL server doesn't answer, or refuses the connection: libpq's reason.
  case noServer(reason: String)
  /// Another program has it locked.
  case locked(path: String)
  /// The file isn't a SQLite database.
  case notADatabase(path: String)
  /// The table isn't there, or the query doesn't fit the database: the database's reason.
  case badSelection(reason: String)
  /// There is no column of this name in the rows; those that there are (the first twenty).
  case noCursor(column: String, found: [String])
  /// Two columns have this name, or one has none.
  case badColumns(reason: String)
  /// The database can't continue.
  case failed(reason: String)
  /// A row took longer than this.
  case timeLimit(Duration)
  /// The lag is a duration, the cursor a number, and nothing says what that counts.
  case lagWithoutUnit(cursor: String, value: String)
  /// The lag is a duration, and the cursor's value no time.
  case lagOfNoTime(cursor: String, value: String)
  /// The lag is a number, and the cursor a text.
  case numberLagOfText(cursor: String, value: String)
  /// The cursor is a number, and is to be set to another value.
  case noNumber(value: String)
  /// An operator sets a cursor with a lag in time to what is no time.
  case noTime(value: String)
  /// The recipe names another column than that of which its cursor is.
  case otherCursor(recipe: String, was: String, is: String)
  /// The recipe's cursor is a value of another database or selection.
  case otherSource(recipe: String)
  /// The extract can't be read again.
  case extract(path: String)
  /// The database was changed while it was read without a lock.
  case changed(path: String)
}

extension ExtractionError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .missing(let path):
      "the database \(SourceError.shown(path)) isn't there; is the path in the recipe's `from` right?"
    case .cannotOpen(let path, let reason):
      "the database \(SourceError.shown(path)) can't be opened: \(reason); the daemon's user has to be able to read it, its "
        + "folder, and of one in WAL mode its -wal and -shm; one that wasn't closed has to be opened by its program first"
    case .noServer(let reason):
      "there is no connection to PostgreSQL: \(reason); is the connection string in the recipe's `from` right, and does the "
        + "server let the daemon's user in?"
    case .locked(let path):
      "the database \(SourceError.shown(path)) is locked by another program; the job reads it when that has ended its "
        + "transaction"
    case .notADatabase(let path):
      "the file \(SourceError.shown(path)) isn't a SQLite database, or it is encrypted"
    case .badSelection(let reason):
      "the rows can't be selected: \(reason); has the database's schema changed? Adapt `table` or `query` of the recipe's "
        + "`from`"
    case .noCursor(let column, let found):
      "the rows have no column “\(column)”, which is to be the cursor: they have "
        + found.map { "“\($0)”" }.joined(separator: ", ")
    case .badColumns(let reason): "\(reason); give the columns names in a query, by AS"
    case .failed(let reason): "the database can't be read: \(reason)"
    case .timeLimit(let limit):
      "the database took longer than \(limit.text) for a row; an index on the cursor makes it faster, and queries.exports "
        + "of the configuration is the limit"
    case .lagWithoutUnit(let cursor, let value):
      "the lag is a duration, and \(cursor) is a number (\(value)): say by `date_format` of the recipe's `from` what it counts, "
        + "or give the lag as a number"
    case .lagOfNoTime(let cursor, let value):
      "the lag is a duration, and \(cursor) is no time in ISO 8601 and UTC (\(SourceError.shown(value))): select it as one in a "
        + "query, such as datetime(\(cursor)), or leave the lag out"
    case .numberLagOfText(let cursor, let value):
      "the lag is a number, and \(cursor) is a text (\(SourceError.shown(value))): give a duration, or leave it out"
    case .noNumber(let value): "the cursor is a number, and “\(SourceError.shown(value))” is none"
    case .noTime(let value):
      "with this lag, the cursor is a time in ISO 8601 and UTC, such as 2026-11-28 09:30:00, and "
        + "“\(SourceError.shown(value))” is none"
    case .otherCursor(let recipe, let was, let now):
      "the recipe's cursor is \(now) now, and it was \(was) when it last read: 'ladectl recipe cursor \(recipe) --set VALUE' "
        + "says where to go on, --reset has it read every row"
    case .otherSource(let recipe):
      "the recipe reads another database, table or query than before, whose cursor may mean something else: "
        + "'ladectl recipe cursor \(recipe) --set VALUE' says where to go on, --reset has it read every row"
    case .extract(let path):
      "the rows in \(path) can't be read again; submit another job, which reads them from the database"
    case .changed(let path):
      "the database \(SourceError.shown(path)) was changed while it was read; the job reads it again"
    }
  }
}
