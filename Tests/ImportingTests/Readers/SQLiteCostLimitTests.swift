import Testing

@testable import Importing

@Suite("What a query of a SQLite file may cost")
struct SQLiteCostLimitTests {
  /// Meters that advance by a fixed amount at each reading.
  private final class Meters {
    var elapsed = 0
    var processor = 0
    var memory: Int64 = 0
    let elapsedALook: Int
    let processorALook: Int
    let memoryALook: Int64

    init(elapsed: Int = 1_000_000_000, processor: Int = 0, memory: Int64 = 0) {
      (elapsedALook, processorALook, memoryALook) = (elapsed, processor, memory)
    }

    var meters: SQLiteCostMeters {
      SQLiteCostMeters(
        elapsed: {
          self.elapsed += self.elapsedALook
          return self.elapsed
        },
        processor: {
          self.processor += self.processorALook
          return self.processor
        },
        memory: {
          self.memory += self.memoryALook
          return self.memory
        })
    }
  }

  private static let usual = SQLiteCostLimits(
    steps: 100_000_000, nanoseconds: 1_000, temporaryBytes: 1 << 28, memoryBytes: 1_000)

  private static func numbers(to last: Int) -> String {
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < \(last)) "
  }

  /// The values of the first column until the end or an error.
  private func read(
    _ query: String, limits: SQLiteCostLimits = usual, meters: SQLiteCostMeters = SQLiteCostMeters()
  ) throws -> (values: [String], error: ReaderError?) {
    let bytes = try SQLiteFixture.bytes("CREATE TABLE t(a)")
    let file = try SourceFile(bytes, name: "a.db")
    defer { withExtendedLifetime(file) {} }
    let database = try SQLiteDatabase(
      descriptor: file.descriptor, fileSize: Int64(bytes.count), isQueried: true, maximumRecordBytes: 16 << 20,
      limits: limits, meters: meters)
    let rows = try database.prepare(query).get()
    var values: [String] = []
    do throws(ReaderError) {
      while try rows.next() { values.append(rows.text(0)) }
    } catch {
      return (values, error)
    }
    return (values, nil)
  }

  @Test("a row whose steps are few and cost much is cut off; one that waits for others isn't")
  func row() throws {
    let query = Self.numbers(to: 10_000) + "SELECT count(*) FROM c"
    #expect(try read(query, meters: Meters(processor: 100).meters).error == .database(.tooMuchWork))
    let waiting = try read(query, meters: Meters(processor: 0).meters)
    #expect(waiting.error == nil && waiting.values == ["10000"])
  }

  @Test("rows of which each costs little, and all together too much, are cut off")
  func allRows() throws {
    let result = try read(Self.numbers(to: 1_000_000) + "SELECT x FROM c", meters: Meters(processor: 100).meters)
    #expect(result.error == .database(.tooMuchWork))
    // A thousand looks at the processor's time take as much as is allowed for all.
    #expect(result.values.count > 10_000)
  }

  @Test("a function that may take long asks for time, wherever it stands")
  func longFunction() throws {
    let calls = (0..<50).map { "instr(x, 'b\($0)')" }.joined(separator: " + ")
    let query = "WITH p(x) AS (SELECT printf('%02000000d', 0)) SELECT \(calls) FROM p"
    #expect(try read(query, meters: Meters(processor: 100).meters).error == .database(.tooMuchWork))
    #expect(try read(query, meters: Meters(processor: 0).meters).values == ["0"])
  }

  @Test("a query that takes more and more memory is cut off")
  func memory() throws {
    let query = Self.numbers(to: 10_000) + "SELECT count(*) FROM c"
    #expect(
      try read(query, meters: Meters(memory: 200).meters).error == .database(.tooMuchMemory(limit: 1_000)))
  }

  static let kept = [
    "SELECT printf('%0900d', x * 7919 % 300007) FROM c ORDER BY 1",
    "SELECT DISTINCT printf('%0900d', x * 7919 % 300007) FROM c",
    "SELECT printf('%0900d', x) FROM c UNION SELECT 'a'",
    "SELECT count(*) FROM (SELECT printf('%0900d', x) AS y FROM c GROUP BY y)",
  ]

  @Test("sorts and intermediate results go to temporary files of limited size", arguments: kept)
  func temporaryFiles(query: String) throws {
    var limits = SQLiteCostLimits(fileSize: 0, maximumRecordBytes: 16 << 20)
    limits.temporaryBytes = 16 << 20
    // 270 MB, of which the first 16 and what fits into memory are made.
    #expect(
      try read(Self.numbers(to: 300_000) + query, limits: limits).error
        == .database(.tooMuchToKeep(limit: 16 << 20)))
    // Beyond the memory of a sort or a table, and within the space.
    let some = try read(Self.numbers(to: 7_000) + query, limits: limits)
    #expect(some.error == nil)
    #expect(some.values.count >= 7_000 || some.values == ["7000"])
    if query.hasSuffix("ORDER BY 1") { #expect(some.values == some.values.sorted()) }
    limits.temporaryBytes = 0
    #expect(
      try read(Self.numbers(to: 7_000) + query, limits: limits).error == .database(.tooMuchToKeep(limit: 0)))
  }

  @Test("a refusal says what to do")
  func words() {
    #expect("\(SQLiteSourceError.tooMuchToKeep(limit: 16 << 20))".contains("16 MiB"))
    #expect("\(SQLiteSourceError.tooMuchToKeep(limit: 16 << 20))".contains("add an index"))
    #expect("\(SQLiteSourceError.tooMuchMemory(limit: 16 << 20))".contains("16 MiB"))
  }
}
