import Testing

@testable import Importing

@Suite("How many SELECTs a query becomes")
struct SQLExpansionTests {
  private func chain(of count: Int, times: Int, _ define: (Int, String) -> String) -> [String] {
    (1...count).map { index in
      let names = (0..<times).map { "c\(index - 1) AS a\($0)" }.joined(separator: ", ")
      return define(index, "SELECT a0.x FROM \(names)")
    }
  }

  private func with(_ count: Int, times: Int) -> String {
    let links = chain(of: count, times: times) { "c\($0) AS (\($1))" }
    return "WITH c0 AS (SELECT 1 AS x), " + links.joined(separator: ", ") + " SELECT x FROM c\(count)"
  }

  private func statements(_ count: Int, times: Int) -> [String: String] {
    var views = ["c0": "CREATE VIEW c0 AS SELECT 1 AS x"]
    for (index, sql) in chain(of: count, times: times, { "CREATE VIEW c\($0)(x) AS \($1)" }).enumerated() {
      views["c\(index + 1)"] = sql
    }
    return views
  }

  private func views(_ count: Int, times: Int) -> [String: [UInt8]] {
    statements(count, times: times).mapValues { Array($0.utf8) }
  }

  @Test("names that stand for twice as much at each level, or go too deep, are refused")
  func growth() {
    #expect(SQLExpansion(views: [:]).allows(with(8, times: 2)))
    #expect(!SQLExpansion(views: [:]).allows(with(30, times: 2)))
    #expect(SQLExpansion(views: views(8, times: 2)).allows("SELECT x FROM c8"))
    #expect(!SQLExpansion(views: views(30, times: 2)).allows("SELECT x FROM c30"))
    #expect(SQLExpansion(views: views(30, times: 2)).allows("SELECT x FROM c5"))
    #expect(!SQLExpansion(views: views(20_000, times: 1)).allows("SELECT x FROM c20000"))
    #expect(SQLExpansion(views: views(90, times: 1)).allows("SELECT x FROM c90"))
  }

  static let hidden = [
    "SELECT x FROM \"C30\"", "SELECT x FROM [c30]", "SELECT x FROM 'c30'", "SELECT x FROM `c30`",
    "SELECT x FROM main.c30", "SELECT x FROM \u{FEFF}c30", "SELECT 1 IN c30", "SELECT x FROM/**/c30--",
    "SELECT (SELECT x FROM (t JOIN c30))",
    "WITH c30 AS (SELECT * FROM main.c30) SELECT * FROM c30", "WITH w(y) AS MATERIALIZED (TABLE c30) SELECT y FROM w",
  ]

  @Test("however a name is written", arguments: hidden)
  func spelling(query: String) {
    #expect(!SQLExpansion(views: views(30, times: 2)).allows(query))
  }

  static let honest = [
    "SELECT 1", "SELEC", "", ")", "WITH", "WITH a", "SELECT 'it''s' || \"a\"\"b\" /* c30", "SELECT x AS c30 FROM t",
    "SELECT t.c30, c30(x) FROM t", "WITH c30 AS (SELECT 1 AS x) SELECT x FROM c30, c30 AS b",
    "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 9) SELECT * FROM g, g AS h",
    "WITH totals AS (SELECT id, count(*) AS orders FROM o GROUP BY id), orders AS (SELECT * FROM o JOIN totals USING (id)) "
      + "SELECT * FROM orders",
  ]

  @Test("other words don't count", arguments: honest)
  func others(query: String) {
    #expect(SQLExpansion(views: views(30, times: 2)).allows(query))
  }

  @Test("an inner WITH counts for itself, also by a name that there is outside")
  func scopes() {
    var query = "SELECT 1 AS x"
    for _ in 0..<30 { query = "WITH c AS (\(query)) SELECT a.x FROM c AS a, c AS b" }
    #expect(!SQLExpansion(views: [:]).allows(query))
    let views = ["a": "CREATE VIEW a AS SELECT b FROM c", "c": "CREATE VIEW c AS SELECT a.x FROM t AS d, a"].mapValues {
      Array($0.utf8)
    }
    #expect(!SQLExpansion(views: views).allows("SELECT * FROM c"))
  }

  @Test("a query whose views stand for too much is refused before SQLite sees it")
  func refused() throws {
    let sql = "CREATE TABLE t(a); " + statements(30, times: 2).values.joined(separator: "; ")
    let file = try SourceFile(SQLiteFixture.bytes(sql), name: "a.db")
    var options = ReaderOptions()
    options.query = "SELECT x FROM c30"
    guard case .database(.badQuery(let reason))? = try file.read(options).error else {
      Issue.record("it was taken")
      return
    }
    #expect(reason.contains("1000 SELECTs"))
    options.query = "SELECT x FROM c3"
    #expect(try file.read(options).cells == [["1"]])
  }
}
