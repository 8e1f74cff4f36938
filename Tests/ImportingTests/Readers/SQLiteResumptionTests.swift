import Testing

@testable import Importing

@Suite("SQLite files, resumed")
struct SQLiteResumptionTests {
  /// The output of a reader: its records, the position after each, and the error that ended it.
  private struct Given {
    var records: [ReadRecord] = []
    var ends: [ReaderPosition] = []
    var error: ReaderError?
  }

  private func read(_ file: SourceFile, _ options: ReaderOptions, from position: ReaderPosition?) throws -> Given {
    var given = Given()
    do {
      let reader = try openReader(fileDescriptor: file.descriptor, name: "a.db", options: options, from: position)
      let batch = RecordBatch()
      while try reader.read(into: batch, limit: 1) {
        given.records.append(SourceFile.record(0, of: batch))
        given.ends.append(batch.end)
      }
    } catch let error as ReaderError {
      given.error = error
    }
    return given
  }

  /// Reads the file in one go, and resumes after each of its records.
  private func readEveryWay(_ file: SourceFile, _ options: ReaderOptions = ReaderOptions()) throws -> Given {
    let whole = try read(file, options, from: nil)
    for (index, end) in whole.ends.enumerated() {
      let rest = try read(file, options, from: end)
      #expect(rest.records == Array(whole.records[(index + 1)...]), "after record \(index)")
      #expect(rest.error == whole.error, "after record \(index)")
    }
    return whole
  }

  /// A table of six rows; the fourth is stored with the number 2.
  private static func disordered() throws -> [UInt8] {
    var bytes = try SQLiteFixture.bytes(
      "PRAGMA page_size = 512; CREATE TABLE t(a); INSERT INTO t VALUES('a'),('b'),('c'),('d'),('e'),('f');")
    // The table's page is the second: a header of eight bytes, and where each row is. There its length stands first, then
    // its number: https://www.sqlite.org/fileformat.html#b_tree_pages
    let page = 512
    let pointer = page + 8 + 2 * 3
    let row = page + Int(bytes[pointer]) << 8 + Int(bytes[pointer + 1])
    #expect(bytes[row + 1] == 4)
    bytes[row + 1] = 2
    return bytes
  }

  @Test("with row numbers out of order, the error comes after the same record, resumed or not")
  func disorder() throws {
    let whole = try readEveryWay(SourceFile(Self.disordered(), name: "a.db"))
    #expect(whole.records.map { $0.named["a"] } == ["a", "b", "c"])
    #expect(whole.error == .database(.failed(reason: "row 2 comes after row 3", record: 3)))
  }

  @Test("rows that are too long are skipped as they were delivered")
  func tooLong() throws {
    var options = ReaderOptions()
    options.maximumRecordBytes = 1_000
    let sql = """
      CREATE TABLE t(a, b); INSERT INTO t VALUES(1, zeroblob(3000000)), (2, 'x'), (3, zeroblob(2000)), (4, 'y'),
      (5, zeroblob(3000000)), (6, zeroblob(3000000)), (7, 'z');
      """
    let whole = try readEveryWay(SourceFile(SQLiteFixture.bytes(sql), name: "a.db"), options)
    #expect(whole.error == nil)
    #expect(whole.records.map { $0.named["a"] } == [nil, "2", nil, "4", nil, nil, "7"])
  }

  @Test("a file that holds too much fails after the same record, resumed or not, even if that is its last")
  func expansion() throws {
    var options = ReaderOptions()
    options.maximumUnpackedBytes = 50
    let file = try SourceFile(
      SQLiteFixture.bytes("CREATE TABLE t(a); INSERT INTO t VALUES('0123456789'), ('a'), (zeroblob(60));"), name: "a.db"
    )
    let whole = try readEveryWay(file, options)
    #expect(whole.records.count == 2)
    #expect(whole.ends.last?.record == 2)
    #expect(whole.error == .source(.unpacksTooFar(limit: 50)))
  }

  @Test(
    "a position that isn't one of this file is refused",
    arguments: [
      ReaderPosition(byteOffset: 10, line: 2, record: 1, state: "row 7"),
      ReaderPosition(byteOffset: 10, line: 2, record: 1, state: ""),
      ReaderPosition(byteOffset: 10, line: 2, record: 1, state: "row x"),
      ReaderPosition(byteOffset: 10, line: 9, record: 8, state: "row 8"),
      ReaderPosition(byteOffset: 10, line: 0, record: -1, state: ""),
    ])
  func foreign(position: ReaderPosition) throws {
    let bytes = try SQLiteFixture.bytes("CREATE TABLE t(a); INSERT INTO t VALUES('a'), ('b');")
    let file = try SourceFile(bytes, name: "a.db")
    let given = try read(file, ReaderOptions(), from: position)
    #expect(given.error == .positionInvalid(position, fileSize: Int64(bytes.count)))
    #expect(given.records.isEmpty)
  }
}
