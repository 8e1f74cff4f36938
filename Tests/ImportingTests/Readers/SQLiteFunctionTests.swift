import CSQLite
import Foundation
import Testing

@testable import Importing

/// Functions that replace SQLite's own.
@Suite("Functions in queries of SQLite files")
struct SQLiteFunctionTests {
  private let file: SourceFile
  private let size: Int64

  init() throws {
    let bytes = try SQLiteFixture.bytes("CREATE TABLE t(a); INSERT INTO t VALUES(1);")
    file = try SourceFile(bytes, name: "a.db")
    size = Int64(bytes.count)
  }

  /// The first row's first value, or the error.
  private func value(of sql: String, in database: SQLiteDatabase) throws -> String {
    do {
      let rows = try database.prepare(sql).get()
      return try rows.next() ? rows.text(0) : "no row"
    } catch SQLiteSourceError.badQuery(let reason) {
      return reason
    } catch ReaderError.database(.cannotCompute(let reason, _)) {
      return reason
    }
  }

  private func open() throws -> SQLiteDatabase {
    try SQLiteDatabase(descriptor: file.descriptor, fileSize: size, isQueried: true, maximumRecordBytes: 16 << 20)
  }

  private func value(of sql: String) throws -> String { try value(of: sql, in: open()) }

  /// The same by SQLite's own functions.
  private func ownValue(of sql: String, in connection: OpaquePointer?) -> String {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return String(cString: sqlite3_errmsg(connection)) }
    return sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
  }

  /// A value as an SQL literal: of few different bytes, so that searches match, some of them invalid UTF-8.
  private static func literal(_ dice: inout Dice, longest: Int) -> String {
    let bytes = [
      0x61, 0x61, 0x61, 0x62, 0x41, 0x20, 0xC3, 0xA9, 0xC3, 0xE2, 0x82, 0xAC, 0x25, 0x5F, 0x2A, 0x3F, 0x5B, 0x5D,
    ]
    let rare = [0x00, 0xFF, 0x5E, 0x2D, 0x31, 0x21]
    let hex = (0..<dice.roll(longest + 1)).map { _ -> String in
      let byte = dice.roll(12) == 0 ? dice.pick(rare) : dice.pick(bytes)
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
    switch dice.roll(12) {
    case 0: return "NULL"
    case 1: return "\(dice.roll(200) - 100)"
    case 2: return "\(dice.roll(100)).5"
    case 3, 4: return "x'\(hex)'"
    default: return "CAST(x'\(hex)' AS TEXT)"
    }
  }

  @Test(
    "they return what SQLite's own return",
    arguments: ["instr", "replace", "trim", "ltrim", "rtrim", "like", "escape", "glob"])
  func same(name: String) throws {
    let database = try open()
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    #expect(sqlite3_open(":memory:", &connection) == SQLITE_OK)
    sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
    var dice = Dice(seed: 7)
    var results: Set<String> = []
    for _ in 0..<3_000 {
      let first = Self.literal(&dice, longest: 14)
      let second = Self.literal(&dice, longest: dice.pick([1, 2, 3, 8]))
      let call =
        switch name {
        case "replace": "replace(\(first), \(second), \(Self.literal(&dice, longest: 4)))"
        case "like": "\(first) LIKE \(second)"
        case "glob": "\(first) GLOB \(second)"
        case "escape":
          "\(first) LIKE \(second) ESCAPE "
            + dice.pick(["'!'", "'a'", "'é'", "''", "'ab'", "NULL", "x'21'", "x'FF'", "x'A9'", "1", "x'C382'", "x'C1'"])
        default: "\(name)(\(first), \(second))"
        }
      let sql = "SELECT typeof(v) || ' ' || hex(v) FROM (SELECT \(call) AS v)"
      let result = try value(of: sql, in: database)
      #expect(result == ownValue(of: sql, in: connection), "\(call)")
      results.insert(result)
    }
    #expect(results.count > 2, "there was nothing to compare: \(results)")
  }

  /// The bytes of a text in which a search that restarts at every byte would take an hour.
  private static let long = "WITH p(x) AS MATERIALIZED (SELECT replace(printf('%08000000d', 0), '0', 'a')) "

  /// AddressSanitizer checks all that `memmem` might read at each call, which is what takes quadratic time then.
  private static let isMemmemChecked = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

  @Test("what nearly matches everywhere doesn't take quadratic time", .disabled(if: isMemmemChecked))
  func linear() throws {
    let search = "substr(x, 1, 4000000) || 'b'"
    #expect(try value(of: Self.long + "SELECT instr(x, \(search)) FROM p") == "0")
    #expect(try value(of: Self.long + "SELECT instr(x || 'b', \(search)) FROM p") == "4000001")
    #expect(try value(of: Self.long + "SELECT length(replace(x || 'b', \(search), 'cd')) FROM p") == "4000002")
    #expect(try value(of: Self.long + "SELECT length(replace(x, 'a', 'bc')) FROM p") == "16000000")
    let set = (0..<126).map { String(UnicodeScalar(0x400 + $0) ?? "?") }.joined() + "bcda"
    #expect(try value(of: Self.long + "SELECT length(trim(substr(x, 1, 1000000), '\(set)')) FROM p") == "0")
  }

  @Test("a result longer than a value may be is an error", .disabled(if: isMemmemChecked))
  func tooLong() throws {
    #expect(
      try value(of: Self.long + "SELECT length(replace(x, 'a', 'bcd')) FROM p") == "string or blob too big")
  }

  @Test(
    "trimming by more than 256 bytes, LIKE by more than 100, and what takes quadratic time or a stack without end is refused with a reason"
  )
  func refused() throws {
    let set = String(repeating: "x", count: 257)
    #expect(try value(of: "SELECT trim('xa', '\(set.dropLast())')") == "a")
    let reason = "the second argument of trim, ltrim and rtrim has 257 bytes; it may have 256"
    for name in ["trim", "ltrim", "rtrim"] { #expect(try value(of: "SELECT \(name)('xa', '\(set)')") == reason) }
    #expect(try value(of: "SELECT 'a' LIKE '\(set.prefix(100))'") == "0")
    for name in ["LIKE", "GLOB"] {
      #expect(try value(of: "SELECT 'a' \(name) '\(set.prefix(101))'") == "LIKE or GLOB pattern too complex")
    }
    #expect(try value(of: "SELECT 'a' LIKE 'a' ESCAPE '%'") == "% and _ can't be the ESCAPE character here")
    for call in ["json_patch('{}', '{}')", "json_set('{}', '$.a', 1)", "json_insert('{}', '$.a', 1)"] {
      #expect(try value(of: "SELECT \(call)").contains("not authorized"))
    }
    #expect(try value(of: "SELECT unhex('00', 'x')").contains("unhex"))
  }

  @Test("generated columns of the file's schema are computed by them")
  func generated() throws {
    let set = String(repeating: "x", count: 257)
    func read(_ columns: String) throws -> ReadResult {
      try SourceFile(
        SQLiteFixture.bytes("CREATE TABLE t(a, \(columns)); INSERT INTO t(a) VALUES('xax');"), name: "a.db"
      ).read()
    }
    let result = try read(
      "b AS (replace(a, 'x', 'yz')), c AS (instr(a, 'a')), d AS (trim(a, 'x')), e AS (a LIKE 'X_x')")
    #expect(result.error == nil)
    #expect(result.cells == [["xax", "yzayz", "2", "a", "1"]])
    let trimmed = try read("b AS (ltrim(a, '\(set)'))")
    guard case .database(.cannotCompute(let reason, 0))? = trimmed.error else {
      Issue.record("\(String(describing: trimmed.error))")
      return
    }
    #expect(reason.contains("257 bytes"))
  }
}
