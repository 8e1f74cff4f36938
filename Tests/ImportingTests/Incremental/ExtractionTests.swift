import CSQLite
import Foundation
import GRDB
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@testable import Importing

@Suite("What is read of a database")
struct ExtractionTests {
  private let folder: ScratchDirectory
  private var database: URL { folder.file("app é?.sqlite") }

  init() throws { folder = try ScratchDirectory() }

  private func fill(_ sql: String, isLogged: Bool = false) throws {
    let queue = try DatabaseQueue(path: database.path)
    if isLogged { try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func source(
    _ selection: IncrementalSource.Selection = .table("orders"), cursor: String = "at",
    lag: IncrementalSource.Lag? = nil,
    unit: IncrementalSource.TimeUnit? = nil
  ) -> IncrementalSource {
    IncrementalSource(.sqlite(path: database.path), selection, cursor: cursor, lag: lag, timeUnit: unit)
  }

  private func read(
    _ source: IncrementalSource, since: CursorValue? = nil, by job: Int64 = 1,
    _ adjust: (inout Extraction) -> Void = { _ in }
  ) throws -> (window: ExtractWindow, rows: [String], problems: [String])? {
    let target = folder.file("1.sqlite")
    let cursor = since.map {
      RecipeCursor(column: source.cursor, source: source.identity, value: $0, movedAt: Date(), job: job)
    }
    var extraction = try Extraction(source, of: "r", since: cursor, to: target)
    adjust(&extraction)
    guard let extract = try extraction.run() else { return nil }
    let again = try #require(try Extract(existing: target))
    #expect(again.window == extract.window)
    let (rows, problems) = try records(of: extract)
    return (extract.window, rows, problems)
  }

  /// The records of an extract, and what is wrong with them.
  private func records(of extract: Extract) throws -> (rows: [String], problems: [String]) {
    let descriptor = open(extract.url.path, O_RDONLY)
    defer { close(descriptor) }
    let reader = try openReader(
      fileDescriptor: descriptor, name: "a", options: extract.window.reader, from: nil)
    let batch = RecordBatch()
    var (rows, problems) = ([String](), [String]())
    while try reader.read(into: batch, limit: 1000) {
      for index in 0..<batch.count {
        let cells = reader.columns.indices.map { batch.cell(index, $0) }
        rows.append(cells.map { $0.kind == .null ? "null" : batch.string($0) }.joined(separator: "|"))
        problems.append(batch.problem(index)?.code ?? "")
      }
    }
    return (rows, problems)
  }

  @Test("is what has a cursor from the last one on, in its order, and what has none")
  func order() throws {
    try fill(
      """
      CREATE TABLE orders (id INTEGER PRIMARY KEY, at TEXT, amount REAL, data BLOB, "row id" TEXT);
      INSERT INTO orders VALUES (1, '2026-11-28 10:00:02', 1.5, x'00ff', 'a'), (2, '2026-11-28 10:00:01', 2, NULL, ''),
        (3, NULL, 3, NULL, NULL), (4, '2026-11-28 09:59:59', 4, NULL, NULL), (5, '2026-11-28 10:00:02', 5, x'', 'é');
      """)
    let all = try #require(try read(source()))
    #expect(
      all.rows == [
        "3|null|3.0|null|null", "4|2026-11-28 09:59:59|4.0|null|null", "2|2026-11-28 10:00:01|2.0|null|",
        "1|2026-11-28 10:00:02|1.5|AP8=|a", "5|2026-11-28 10:00:02|5.0||é",
      ])
    #expect(all.problems == ["no_cursor", "", "", "", ""])
    #expect(all.window.until == .text("2026-11-28 10:00:02") && all.window.bound == nil && all.window.rows == 5)
    let some = try #require(
      try read(source(lag: .seconds(1)), since: .text("2026-11-28 10:00:02")))
    #expect(some.rows.map { $0.prefix(1) } == ["3", "2", "1", "5"])
    #expect(some.window.bound == .text("2026-11-28 10:00:01"))
    let none = try #require(try read(source(), since: .text("2026-11-28 11:00:00")))
    #expect(none.rows.count == 1 && none.window.until == .text("2026-11-28 11:00:00"))
  }

  @Test("takes the form of most cursors, whatever the first is, and goes on seeing those that have another one")
  func oddCursors() throws {
    try fill(
      """
      CREATE TABLE orders (id INTEGER PRIMARY KEY, at DATETIME);
      INSERT INTO orders VALUES (1, '2026-11-28 10:00:00'), (2, '2026-11-28 11:00:00'), (3, 0), (4, '2019-01-01'),
        (5, ''), (6, 'zz');
      """)
    let first = try #require(try read(source()))
    #expect(first.rows.map { $0.prefix(1) } == ["3", "5", "4", "1", "2", "6"])
    let odd = "unusable_cursor"
    #expect(first.problems == [odd, odd, odd, "", "", odd])
    #expect(first.window.until == .text("2026-11-28 11:00:00"))
    let timed = try #require(try read(source(lag: .seconds(60))))
    #expect(timed.window.until == .text("2026-11-28 11:00:00") && timed.problems == first.problems)
    let next = try #require(try read(source(), since: .text("2026-11-28 11:00:00")))
    #expect(next.rows.map { $0.prefix(1) } == ["3", "5", "2", "6"] && next.problems == [odd, odd, "", odd])
    // An operator has written it otherwise than the rows do.
    for value in [CursorValue.text("2026-11-28T00:00:00"), .text("2026-11-28"), .integer(3)] {
      let set = try #require(try read(source(), since: value, by: 0))
      #expect(set.window.until == .text("2026-11-28 11:00:00"), "\(value)")
    }
    // What a job has found isn't given up for a few odd rows.
    let late = try #require(try read(source(), since: .text("2026-11-28 12:00:00")))
    #expect(late.window.until == .text("2026-11-28 12:00:00") && late.problems == [odd, odd, odd])
  }

  @Test("isn't read by the cursor of another source")
  func otherSource() throws {
    try fill("CREATE TABLE orders (at INTEGER); CREATE TABLE others (at INTEGER)")
    let cursor = RecipeCursor(
      column: "at", source: source().identity, value: .integer(1), movedAt: Date(), job: 1)
    #expect(throws: ExtractionError.otherSource(recipe: "r")) {
      try Extraction(source(.table("others")), of: "r", since: cursor, to: folder.file("1.sqlite"))
    }
  }

  @Test("has what a query selects, be it a view, a join or with a comment at its end, and no write")
  func queries() throws {
    try fill(
      """
      CREATE TABLE orders (id INTEGER, at INTEGER); CREATE TABLE names (id INTEGER, name TEXT);
      INSERT INTO orders VALUES (1, 10), (2, 20), (3, 15); INSERT INTO names VALUES (1, 'a'), (2, 'b'), (3, 'c');
      CREATE VIEW both AS SELECT id, at, name FROM orders JOIN names USING (id);
      """)
    let query = "WITH o AS (SELECT * FROM both) SELECT id AS n, max(at, 12) AS at, upper(name) AS name FROM o -- all"
    let found = try #require(try read(source(.query(query), lag: .number(5)), since: .integer(20)))
    #expect(found.rows == ["3|15|C", "2|20|B"] && found.window.until == .integer(20))
    #expect(try #require(try read(source(.table("both")))).rows == ["1|10|a", "3|15|c", "2|20|b"])
    for (bad, part) in [
      ("DELETE FROM orders", "not authorized"), ("SELECT 1 AS at; SELECT 2;", "more than one statement"),
      ("PRAGMA user_version = 3", "not authorized"), ("SELECT ?1 AS at", "parameters"), ("-- nothing", "empty"),
      ("SELECT x FROM orders", "no such column"), ("SELECT load_extension('x') AS at", "not authorized"),
      ("ATTACH 'x' AS y", "not authorized"), ("SELECT at, id AS AT FROM orders", "two columns"),
      ("SELECT id FROM orders", "no column “at”"),
    ] {
      let error = #expect(throws: ExtractionError.self, "\(bad)") { try read(source(.query(bad))) }
      #expect(error?.description.contains(part) == true, "\(bad): \(error?.description ?? "")")
    }
    #expect(throws: ExtractionError.self) { try read(source(.table("gone"))) }
  }

  @Test("rejects a cursor of another type, or in another form, and goes on from the last good one")
  func kinds() throws {
    try fill(
      """
      CREATE TABLE orders (id INTEGER, at);
      INSERT INTO orders VALUES (1, 10), (2, 12.5), (3, 'x'), (4, x'01'), (5, 9e999);
      CREATE TABLE times (id INTEGER, at TEXT);
      INSERT INTO times VALUES (1, '2026-01-01 00:00:00'), (2, '2026-01-01T00:00:00'), (3, '2026-01-02'), (4, 'soon');
      """)
    let numbers = try #require(try read(source()))
    #expect(numbers.problems == ["", "", "unusable_cursor", "unusable_cursor", "unusable_cursor"])
    #expect(numbers.window.until == .real(12.5))
    let times = try #require(try read(source(.table("times"), lag: .seconds(60))))
    #expect(times.problems == ["", "unusable_cursor", "unusable_cursor", "unusable_cursor"])
    #expect(times.window.until == .text("2026-01-01 00:00:00"))
    let error = #expect(throws: ExtractionError.self) { try read(source(lag: .seconds(60))) }
    #expect(error?.description.contains("date_format") == true)
  }

  @Test("doesn't take the cursor into the future")
  func future() throws {
    try fill(
      "CREATE TABLE orders (id INTEGER, at TEXT); INSERT INTO orders VALUES (1, '2026-01-01 00:00:00'), (2, '9999-01-01 00:00:00')"
    )
    let now = try #require(ISO8601DateFormatter().date(from: "2026-06-01T00:00:00Z"))
    let found = try #require(try read(source()) { $0.now = { now } })
    #expect(found.rows.count == 2 && found.window.until == .text("2026-06-01 00:00:00"))
  }

  @Test(
    "is one moment of a database in WAL mode, whatever is committed at the same time, and nothing is left beside it")
  func snapshot() throws {
    try fill("CREATE TABLE orders (id INTEGER, at INTEGER); INSERT INTO orders VALUES (1, 1)", isLogged: true)
    let names = { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix("app") } }
    #expect(try names() == [database.lastPathComponent])
    // No program has it open: there is no log.
    #expect(try #require(try read(source())).rows == ["1|1"])
    #expect(try names() == [database.lastPathComponent])
    let writer = try DatabaseQueue(path: database.path)
    try writer.write { try $0.execute(sql: "INSERT INTO orders VALUES (2, 2)") }
    #expect(try #require(try read(source())).rows == ["1|1", "2|2"])
    let asked = Mutex(0)
    try writer.write {
      try $0.execute(
        sql:
          "WITH n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO orders SELECT i, i FROM n")
    }
    let found = try read(source()) {
      $0.shouldStop = {
        // Called while rows are read.
        let isFirst = asked.withLock { asked in
          asked += 1
          return asked == 1
        }
        if isFirst {
          do {
            try writer.write { try $0.execute(sql: "INSERT INTO orders VALUES (0, 0), (99999, 99999)") }
          } catch {
            Issue.record(error)
          }
        }
        return false
      }
    }
    #expect(asked.withLock { $0 } > 0)
    #expect(found?.rows.count == 20_000)
    try writer.close()
  }

  @Test("is refused with a reason while the database is locked, missing, encrypted or no file")
  func unavailable() throws {
    #expect(throws: ExtractionError.missing(path: database.path)) { try read(source()) }
    try fill("CREATE TABLE orders (id INTEGER, at INTEGER)")
    let writer = try DatabaseQueue(path: database.path)
    try writer.inDatabase { database in
      try database.execute(sql: "BEGIN EXCLUSIVE")
      #expect(throws: ExtractionError.locked(path: self.database.path)) { try read(source()) }
      try database.execute(sql: "ROLLBACK")
    }
    #expect(try #require(try read(source())).rows == [])
    try writer.close()
    try Data(repeating: 0x5A, count: 8192).write(to: database)
    #expect(throws: ExtractionError.notADatabase(path: database.path)) { try read(source()) }
    try FileManager.default.removeItem(at: database)
    try FileManager.default.createDirectory(at: database, withIntermediateDirectories: false)
    #expect(throws: ExtractionError.cannotOpen(path: database.path, reason: "it isn't a regular file")) {
      try read(source())
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains("partial") } == [])
  }

  @Test("ends when it isn't wanted any more, and when the database takes too long for a row")
  func interruption() throws {
    try fill("CREATE TABLE orders (id INTEGER, at INTEGER)")
    let endless = IncrementalSource.Selection.query(
      "WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n) SELECT count(*) AS at FROM n")
    #expect(try read(source(endless)) { $0.shouldStop = { true } } == nil)
    #expect(throws: ExtractionError.timeLimit(.milliseconds(50))) {
      try read(source(endless)) { $0.pause = .milliseconds(50) }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("1.sqlite").path))
  }
}
