import Foundation
import TestSupport
import Testing

@testable import Importing

@Suite("SQLite files")
struct SQLiteReaderTests {
  private func read(
    _ sql: String, table: String? = nil, query: String? = nil, name: String = "a.db", limit: Int = 1_000,
    _ change: (inout ReaderOptions) -> Void = { _ in }
  ) throws -> ReadResult {
    var options = ReaderOptions()
    (options.table, options.query) = (table, query)
    change(&options)
    return try SourceFile(SQLiteFixture.bytes(sql), name: name).read(options, limit: limit)
  }

  static let kinds = """
    CREATE TABLE t(i INTEGER, r REAL, s TEXT, b BLOB, n, "odd "" name" TEXT DEFAULT '');
    INSERT INTO t VALUES(9007199254740993, 0.1, 'Zoë "x"', x'00FF10', NULL, ''),
      (-1, 1e300, 'a', x'', 2.5, 'x'), (1, 9e999, 'b', x'61', 'text', 'y');
    """

  @Test(
    "rows of the only table are records; values keep their kind, blobs are Base64", arguments: ["a.db", "a.csv", "a"])
  func kinds(name: String) throws {
    let result = try read(Self.kinds, name: name)
    #expect(result.error == nil)
    #expect(result.columns == ["i", "r", "s", "b", "n", "odd \" name"])
    #expect(
      result.cells == [
        ["9007199254740993", "0.1", "Zoë \"x\"", "AP8Q", "<null>", ""], ["-1", "1e+300", "a", "", "2.5", "x"],
        ["1", "inf", "b", "YQ==", "text", "y"],
      ])
    #expect(result.lines == [1, 2, 3])
    #expect(
      result.ends.last
        == ReaderPosition(byteOffset: result.ends[0].byteOffset, line: 4, record: 3, state: "row 3"))
  }

  @Test(
    "a blob whose Base64 consists of hexadecimal digits is written in hexadecimal, so that nothing has to be guessed")
  func ambiguousBlob() throws {
    let result = try read(
      "CREATE TABLE t(b BLOB); INSERT INTO t VALUES(x'000000000D34'), (x'000000'), (x'FFEE');",
      name: "a.db")
    #expect(result.cells == [[#"\x000000000d34"#], [#"\x000000"#], ["/+4="]])
  }

  @Test("a record's source is a JSON object, for the reject file")
  func raw() throws {
    let file = try SourceFile(SQLiteFixture.bytes(Self.kinds), name: "a.db")
    let reader = try openReader(fileDescriptor: file.descriptor, name: "a.db", options: ReaderOptions(), from: nil)
    let batch = RecordBatch()
    #expect(try reader.read(into: batch, limit: 10))
    #expect(
      String(decoding: batch.rawBytes(0), as: UTF8.self)
        == #"{"i":9007199254740993,"r":0.1,"s":"Zoë \"x\"","b":"AP8Q","n":null,"odd \" name":""}"#)
  }

  @Test("tables are chosen by name, whatever the case; several without one are an error, and so is none")
  func choice() throws {
    let sql = "CREATE TABLE One(a); INSERT INTO One VALUES(1); CREATE TABLE two(a); CREATE VIEW v AS SELECT 7 AS a;"
    #expect(try read(sql, table: "ONE").cells == [["1"]])
    #expect(try read(sql, table: "two").cells == [])
    #expect(try read(sql).error == .database(.severalTables(found: ["One", "two"])))
    #expect(try read(sql, table: "v").error == .database(.tableNotFound(table: "v", found: ["One", "two"])))
    #expect(try read("CREATE VIEW v AS SELECT 7 AS a").error == .database(.noTable))
    #expect(try read(sql, query: "SELECT a + 1 AS b FROM one UNION ALL SELECT a FROM v").cells == [["2"], ["7"]])
    #expect(
      try read(sql, table: "One", query: "SELECT 1").error
        == .invalidOption(name: "query", reason: "there is a table as well; give one of them"))
  }

  static let forbidden = [
    "SELECT load_extension('x')", "SELECT random()", "SELECT * FROM pragma_table_list", "PRAGMA journal_mode",
    "INSERT INTO t VALUES(1)", "DELETE FROM t", "ATTACH '/etc/passwd' AS p", "SELECT 1; SELECT 2", "", "SELECT ?",
    "SELECT * FROM nothing", "SELEC", "VACUUM INTO '/tmp/x'", "SELECT writefile('/tmp/x', 'y')",
    "SELECT * FROM json_each('[1]')", "CREATE TEMP TABLE x(a)", "EXPLAIN SELECT 1 FROM f",
    "SELECT * FROM f", "SELECT count(*) FROM f", "SELECT count(*) FROM pragma_database_list",
  ]

  @Test("a query only reads, and only what the file's own tables have", arguments: forbidden)
  func refused(query: String) throws {
    let sql = "CREATE TABLE t(a); INSERT INTO t VALUES(1); CREATE VIRTUAL TABLE f USING fts5(a);"
    switch try read(sql, query: query).error {
    case .database(.badQuery)?, .invalidOption?: break
    case let other: Issue.record("\(query): \(String(describing: other))")
    }
  }

  @Test(
    "reading can be resumed after any number of rows",
    arguments: [
      "CREATE TABLE t(a, b); INSERT INTO t SELECT value * 7 % 11, value FROM generate",
      "CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b); INSERT INTO t SELECT value * 7 - 30, value FROM generate",
      "CREATE TABLE t(a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t SELECT 'k' || (value * 7 % 23), value FROM generate",
      "CREATE TABLE t(rowid, oid, _rowid_); INSERT INTO t SELECT value, 1, 2 FROM generate; CREATE INDEX i ON t(oid, rowid, _rowid_)",
      "QUERY CREATE TABLE t(a, b); INSERT INTO t SELECT value * 7 % 11, value FROM generate",
    ])
  func resumption(text: String) throws {
    let isQuery = text.hasPrefix("QUERY ")
    let sql = text.replacing("QUERY ", with: "").replacing(
      "FROM generate",
      with: """
        FROM (WITH RECURSIVE g(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM g WHERE value < 20) SELECT * FROM g)
        """)
    let file = try SourceFile(SQLiteFixture.bytes(sql), name: "a.db")
    var options = ReaderOptions()
    if isQuery { options.query = "SELECT a, b FROM t ORDER BY a, b DESC" }
    let whole = try file.read(options)
    #expect(whole.error == nil && whole.records.count == 20)
    for limit in [1, 3, 19, 20] {
      var records: [ReadRecord] = []
      var position: ReaderPosition?
      while records.count < 20 {
        let reader = try openReader(fileDescriptor: file.descriptor, name: "a.db", options: options, from: position)
        let batch = RecordBatch()
        #expect(try reader.read(into: batch, limit: limit))
        for record in 0..<batch.count { records.append(SourceFile.record(record, of: batch)) }
        position = batch.end
      }
      #expect(records == whole.records)
    }
  }

  @Test("text that isn't UTF-8, and a zero byte in it, are problems of the record")
  func badText() throws {
    let result = try read(
      "CREATE TABLE t(a); INSERT INTO t VALUES(CAST(x'FF' AS TEXT)), ('ok'), (CAST(x'610062' AS TEXT));")
    #expect(result.problems == [.invalidUTF8, nil, .nulByte])
    let wide = try read("PRAGMA encoding = 'UTF-16'; CREATE TABLE t(a); INSERT INTO t VALUES('Zoë😀');")
    #expect(wide.cells == [["Zoë😀"]])
  }

  @Test("a row that is too long is a record with a problem, and reading continues", arguments: [2_000, 3_000_000])
  func tooLong(bytes: Int) throws {
    let result = try read(
      "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 'x'), (2, zeroblob(\(bytes))), (3, 'y');"
    ) { $0.maximumRecordBytes = 1_000 }
    #expect(result.error == nil)
    #expect(result.problems == [nil, .recordTooLong(limit: 1_000), nil])
    #expect(result.records.map { $0.named["a"] } == ["1", nil, "3"])
    #expect(result.lines == [1, 2, 3])
  }

  @Test("a file that generates rows without end is cut off")
  func endless() throws {
    let sql = """
      CREATE TABLE t(a); CREATE VIEW v AS WITH RECURSIVE g(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM g) SELECT a FROM g;
      """
    let rows = try read(sql, query: "SELECT a FROM v", limit: 100_000) { $0.maximumUnpackedBytes = 1_000_000 }
    #expect(rows.error == .source(.unpacksTooFar(limit: 1_000_000)))
    #expect(try read(sql, query: "SELECT count(*) FROM v").error == .database(.tooMuchWork))
  }

  @Test("a query is cut off when its rows are cheap one by one, but not together")
  func laborious() throws {
    func query(_ rows: Int) -> String {
      func count(to last: Int) -> String { "(SELECT 1 AS x UNION ALL SELECT x + 1 FROM c WHERE x < \(last))" }
      return "WITH RECURSIVE c AS \(count(to: rows)) SELECT o.x, "
        + "(WITH RECURSIVE c AS \(count(to: 500)) SELECT max(c.x) FROM c WHERE c.x < o.x + 500) "
        + "FROM c AS o"
    }
    let bytes = try SQLiteFixture.bytes("CREATE TABLE t(a)")
    func rows(_ wanted: Int) throws -> (Int, (any Error)?) {
      let file = try SourceFile(bytes, name: "a.db")
      defer { withExtendedLifetime(file) {} }
      var limits = SQLiteCostLimits(fileSize: Int64(bytes.count), maximumRecordBytes: 1_000)
      limits.steps = max(50_000, bytes.count * 64)
      let database = try SQLiteDatabase(
        descriptor: file.descriptor, fileSize: Int64(bytes.count), isQueried: true,
        maximumRecordBytes: 1_000, limits: limits)
      let rows = try database.prepare(query(wanted)).get()
      var count = 0
      do {
        while try rows.next() { count += 1 }
      } catch {
        return (count, error)
      }
      return (count, nil)
    }
    #expect(try rows(100).1 == nil)
    let (count, error) = try rows(1_000_000)
    #expect(error as? ReaderError == .database(.tooMuchWork))
    #expect((1_000..<1_000_000).contains(count), "\(count)")
  }

  @Test("a database that is packed, truncated or not a database is refused with its own message")
  func damaged() throws {
    let bytes = try SQLiteFixture.bytes(
      "CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(5000) FROM (VALUES(1),(2),(3),(4));")
    let packed = try SourceFile(Packing.compressed(bytes, .gzip), name: "a.db.gz")
    #expect(try packed.read().error == .database(.packed))
    #expect(try read("CREATE TABLE t(a)").error == nil)
    #expect(try SourceFile(Array("a,b\n1,2\n".utf8), name: "a.db").read().error == .database(.notADatabase))
    #expect(try SourceFile([], name: "a.db").read().error == .emptyFile)
    for length in [100, 4_096, 9_000, bytes.count - 4_096] {
      guard case .database(.failed)? = try SourceFile(Array(bytes[..<length]), name: "a.db").read().error else {
        Issue.record("\(length) bytes were taken")
        continue
      }
    }
  }

  @Test("any wrong byte yields an error or records, never more than the limits allow")
  func everyByte() throws {
    let bytes = try SQLiteFixture.bytes(
      "PRAGMA page_size = 512; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE); "
        + "INSERT INTO t VALUES(1,'a'),(2,'b'),(3,'c'); CREATE VIEW v AS SELECT b FROM t; "
        + "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;")
    var options = ReaderOptions()
    options.maximumUnpackedBytes = 100_000
    // The header and the schema byte by byte, and of the pages after them every fifth.
    for index in bytes.indices where index < 600 || index % 5 == 0 {
      var wrong = bytes
      wrong[index] ^= UInt8(1 + index % 255)
      let result = try SourceFile(wrong, name: "a.db").read(options)
      #expect(result.records.count < 13_000, "byte \(index)")
    }
  }

  @Test("what a write-ahead log may have is said of a file that was moved, and not of one that has none in its place")
  func writeAheadLog() throws {
    let directory = try ScratchDirectory()
    let file = directory.file("a.db")
    try SQLiteFixture.make("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1);", at: file)
    try Data("not a log".utf8).write(to: directory.file("a.db-wal"))
    let descriptor = open(file.path, O_RDONLY)
    defer { close(descriptor) }
    for isMoved in [true, false] {
      let opened = try openSource(
        fileDescriptor: descriptor, name: "a.db", options: ReaderOptions(), isMoved: isMoved, from: nil)
      let batch = RecordBatch()
      #expect(try opened.reader.read(into: batch, limit: 10))
      #expect(batch.count == 1)
      #expect(opened.detection.format == .sqlite)
      #expect(opened.detection.notes == (isMoved ? [SQLiteLog.absence] : []))
    }
  }
}
