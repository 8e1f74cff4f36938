// A database that its program goes on writing is read in one read transaction, also in WAL mode. The daemon changes nothing and makes
// no file beside it: a -shm of another owner would keep the program out. A database in WAL mode that no program has open has none;
// it is read without locks then, and what was read counts only if the file is the same afterwards.

import CSQLite
import Foundation
import Glibc
import ManagedObjects

/// A SQLite file at one moment.
final class SQLiteSourceSnapshot: SourceSnapshot {
  private let path: String
  private let watch: ExtractionWatch
  private let selection: String
  private let connection: OpaquePointer
  private var statement: OpaquePointer?
  /// The file as it was, if it is read without locks.
  private let state: FileState?
  private(set) var columns: [String] = []

  /// How long another program may have the database locked.
  private static let busyMilliseconds: Int32 = 5_000
  private static let cacheKiB = 4_096
  /// The length of a value, and of a row.
  private static let longest: Int32 = 256 << 20
  private static let stepsPerCheck: Int32 = 10_000

  init(
    path: String, _ selection: IncrementalSource.Selection, _ watch: ExtractionWatch
  ) throws {
    self.path = path
    self.watch = watch
    switch selection {
    case .table(let name): self.selection = "SELECT * FROM \(SQLiteDatabase.quoted(name))"
    // A comment at its end ends with the line.
    case .query(let query): self.selection = IncrementalSource.Selection.statement(query) + "\n"
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { throw ExtractionError.missing(path: path) }
      throw ExtractionError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == Glibc.S_IFREG else {
      throw ExtractionError.cannotOpen(path: path, reason: "it isn't a regular file")
    }
    do {
      (connection, state) = (try Self.connect(path, isUnlocked: false), nil)
    } catch ExtractionError.cannotOpen(_, let reason) {
      guard let state = FileState.settled(path), state.isClosed else {
        throw ExtractionError.cannotOpen(path: path, reason: reason)
      }
      (connection, self.state) = (try Self.connect(path, isUnlocked: true), state)
    }
    authorize()
    sqlite3_progress_handler(
      connection, Self.stepsPerCheck,
      { context in
        guard let context else { return 1 }
        return Unmanaged<ExtractionWatch>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
      }, Unmanaged.passUnretained(watch).toOpaque())
    // By itself, before it becomes a part of other statements.
    try prepare(self.selection)
    columns = (0..<sqlite3_column_count(statement)).map { index in
      sqlite3_column_name(statement, index).map { String(cString: $0) } ?? ""
    }
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close(connection)
  }

  func select(_ range: CursorRange, by cursor: Int) throws {
    let name = SQLiteDatabase.quoted(columns[cursor])
    switch range {
    case .unordered(let bound):
      var isWanted = "\(name) IS NULL"
      if case .text(let text)? = bound {
        // Numbers stand before all texts. Neither text is a number, so no column's affinity makes it one; an index serves both.
        isWanted += " OR \(name) COLLATE BINARY < \(ISOText(text) == nil ? "''" : "'0-'")"
      }
      try prepare("SELECT * FROM (\(selection)) WHERE \(isWanted)")
    case .from(nil):
      try prepare("SELECT * FROM (\(selection)) WHERE \(name) IS NOT NULL ORDER BY \(name) COLLATE BINARY")
    case .from(let bound?):
      try prepare(
        "SELECT * FROM (\(selection)) WHERE \(name) COLLATE BINARY >= ?1 ORDER BY \(name) COLLATE BINARY", parameters: 1
      )
      let code =
        switch bound {
        case .integer(let number): sqlite3_bind_int64(statement, 1, number)
        case .real(let number): sqlite3_bind_double(statement, 1, number)
        case .text(let text):
          sqlite3_bind_text(statement, 1, text, Int32(clamping: text.utf8.count), Self.copied)
        }
      guard code == SQLITE_OK else { throw failure() }
    }
  }

  func next() throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure()
    }
  }

  func value(_ column: Int) -> CursorValue? {
    let column = Int32(column)
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT:
      let number = sqlite3_column_double(statement, column)
      return number.isFinite ? .real(number) : nil
    case SQLITE_TEXT: return sqlite3_column_text(statement, column).map { .text(String(cString: $0)) }
    default: return nil
    }
  }

  func copy(into writer: ExtractWriter) throws {
    for column in columns.indices { try writer.set(column, to: sqlite3_column_value(statement, Int32(column))) }
    try writer.endRow()
  }

  func finish() throws {
    guard let state, FileState(path) != state else { return }
    throw ExtractionError.changed(path: path)
  }

  private func prepare(_ sql: String, parameters: Int32 = 0) throws {
    sqlite3_finalize(statement)
    statement = nil
    var isAll = true
    var sql = sql
    let code = sql.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(connection, text.baseAddress, Int32(clamping: text.count), 0, &statement, &tail)
        let rest = tail.flatMap { tail in text.baseAddress.map { $0 + text.count - tail } } ?? 0
        isAll = text.suffix(rest).allSatisfy { JSONToken.isSpace(UInt8(bitPattern: $0)) }
        return code
      }
    }
    guard code == SQLITE_OK else {
      if code & 0xFF == SQLITE_ERROR || code & 0xFF == SQLITE_AUTH {
        throw ExtractionError.badSelection(reason: String(cString: sqlite3_errmsg(connection)))
      }
      throw failure()
    }
    guard let statement else { throw ExtractionError.badSelection(reason: "the query is empty") }
    guard isAll else { throw ExtractionError.badSelection(reason: "the query is more than one statement") }
    guard sqlite3_stmt_readonly(statement) != 0, sqlite3_column_count(statement) > 0 else {
      throw ExtractionError.badSelection(reason: "the query isn't a SELECT")
    }
    guard sqlite3_bind_parameter_count(statement) == parameters else {
      throw ExtractionError.badSelection(reason: "the query has parameters")
    }
  }

  /// Opens the database and begins a read transaction.
  private static func connect(_ path: String, isUnlocked: Bool) throws -> OpaquePointer {
    guard let vfs = lade_reading_vfs() else {
      throw ExtractionError.cannotOpen(path: path, reason: "SQLite has no file system")
    }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      address(of: path, isUnlocked: isUnlocked), &opened,
      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, vfs)
    guard let opened else { throw ExtractionError.cannotOpen(path: path, reason: "there is no memory") }
    do {
      guard code == SQLITE_OK else { throw error(of: opened, path) }
      sqlite3_busy_timeout(opened, busyMilliseconds)
      sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest)
      sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0)
      let statements = [
        "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0", "PRAGMA cache_size = -\(cacheKiB)",
        "PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "BEGIN", "SELECT count(*) FROM sqlite_schema",
      ]
      for statement in statements {
        guard sqlite3_exec(opened, statement, nil, nil, nil) == SQLITE_OK else { throw error(of: opened, path) }
      }
      return opened
    } catch {
      sqlite3_close(opened)
      throw error
    }
  }

  private func failure() -> any Error {
    do {
      if sqlite3_errcode(connection) & 0xFF == SQLITE_INTERRUPT { try watch.check() }
    } catch {
      return error
    }
    return Self.error(of: connection, path)
  }

  private static func error(of connection: OpaquePointer, _ path: String) -> ExtractionError {
    let reason = String(cString: sqlite3_errmsg(connection))
    return switch sqlite3_errcode(connection) & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .locked(path: path)
    case SQLITE_NOTADB: .notADatabase(path: path)
    case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM: .cannotOpen(path: path, reason: reason)
    default: .failed(reason: reason)
    }
  }

  /// Allows reading, and nothing else.
  private func authorize() {
    sqlite3_set_authorizer(
      connection,
      { _, action, _, second, _, _ in
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: SQLITE_OK
        case SQLITE_FUNCTION:
          second.map { String(cString: $0).lowercased() } == "load_extension" ? SQLITE_DENY : SQLITE_OK
        default: SQLITE_DENY
        }
      }, nil)
  }

  private static func address(of path: String, isUnlocked: Bool) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "/-._~")
    let escaped = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
    return "file:\(escaped)?mode=ro&" + (isUnlocked ? "immutable=1" : "readonly_shm=1")
  }

  /// SQLITE_TRANSIENT, a macro that Swift doesn't import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

/// What changes when anybody writes to a database.
private struct FileState: Equatable {
  private struct Stamp: Equatable {
    let inode: UInt, size: Int, seconds: Int, nanoseconds: Int

    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      inode = UInt(status.st_ino)
      size = Int(status.st_size)
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
  }

  /// The clock of file systems has steps: of two writes in one of them, the second leaves no trace.
  private static let step: Double = 0.02

  private let database: Stamp?
  private let log: Stamp?
  private let index: Stamp?
  private let journal: Stamp?

  init(_ path: String) {
    database = Stamp(path)
    log = Stamp(path + "-wal")
    index = Stamp(path + "-shm")
    journal = Stamp(path + "-journal")
  }

  /// The state of a file that a later write would change; nil if others keep writing to it. May take a moment.
  static func settled(_ path: String) -> FileState? {
    for _ in 0..<10 {
      let state = FileState(path)
      guard let database = state.database else { return nil }
      let age = Date().timeIntervalSince1970 - Double(database.seconds) - Double(database.nanoseconds) / 1e9
      if age > step || age < 0 { return state }
      usleep(UInt32(step * 1e6))
    }
    return nil
  }

  /// Whether the database file alone is the whole database, and no program has it open in WAL mode.
  var isClosed: Bool { index == nil && (log?.size ?? 0) == 0 && (journal?.size ?? 0) == 0 }
}
