import Foundation
import Testing

@testable import Importing

@Suite("A Parquet file")
struct ParquetReaderTests {
  private func file(_ name: String) throws -> SourceFile {
    try SourceFile(WorkbookFile.resource(name), name: name)
  }

  @Test("of every type has its values, exact, with the edges of each")
  func types() throws {
    let result = try file("types.parquet").read()
    #expect(result.error == nil)
    #expect(result.lines == [1, 2, 3])
    let first = try #require(result.named.first)
    let expected = [
      "i8": "-128", "u8": "255", "i16": "-32768", "i32": "-2147483648", "u32": "4294967295",
      "i64": "-9223372036854775808", "u64": "18446744073709551615", "f16": "0.5", "f32": "0.1", "f64": "0.1",
      "flag": "<yes>", "text": "é, \"q\"", "bin": "AP8=", "fixed": "YWJjZGU=", "day": "<date>2024-02-29",
      "ms": "12:30:00", "us": "12:30:00.000001", "local": "<date>2024-01-31T12:30:00",
      "instant": "<date>2024-01-31T12:30:00.000001Z", "ns": "<date>2024-01-31T12:30:00.000000001", "d9": "-0.01",
      "d18": "0.00001", "d38": "12345678901234567890123456789012345678",
      "d76": String(repeating: "1", count: 50) + "." + String(repeating: "2", count: 20),
      "uuid": "12345678-1234-5678-1234-567812345678", "none": "<null>",
    ]
    for (name, value) in expected { #expect(first[name] == value, "\(name)") }
    let second = try #require(result.named.dropFirst().first)
    #expect(second["f32"] == "Infinity" && second["f64"] == "5e-324" && second["text"]?.isEmpty == true)
    #expect(second["day"] == "<date>0001-01-01" && second["ns"] == "<date>1969-12-31T23:59:59.999999999")
    #expect(second["d18"] == "-9999999999999.99999" && second["d76"] == "-0.00000000000000000001")
    let third = try #require(result.named.last)
    #expect(third["f64"] == "NaN")
    #expect(third.filter { $0.key != "f64" }.allSatisfy { $0.value == "<null>" })
  }

  @Test("takes bytes without an annotation for texts where the options say so")
  func binaryAsText() throws {
    var options = ReaderOptions()
    options.binaryAsText = true
    let result = try file("types.parquet").read(options)
    #expect(result.problems == [.nulByte, nil, nil])
    #expect(result.named[1]["fixed"] == "12345" && result.named[1]["bin"]?.isEmpty == true)
  }

  @Test("has lists, objects and maps as JSON has them, to any depth, with nulls and nothing told apart")
  func nested() throws {
    let result = try file("nested.parquet").read()
    #expect(result.error == nil)
    #expect(result.records.count == 100)
    for (index, record) in result.named.enumerated() {
      let list =
        index % 7 == 0
        ? "<null>" : "<nested>[\((0..<index % 4).map { $0 == 1 ? "null" : "\($0)" }.joined(separator: ","))]"
      #expect(record["list"] == list)
      let items = (0..<index % 4).map { item in
        #"{"sku":"s\#(item)","tags":[\#(item % 2 == 1 ? #""x""# : "")],"n":\#(item % 2 == 1 ? "null" : "\(item)")}"#
      }
      #expect(record["items"] == "<nested>[\(items.joined(separator: ","))]")
      let names = (0..<index % 3).map { "\"k\($0)\":\($0)" }
      #expect(record["names"] == "<nested>{\(names.joined(separator: ","))}")
      let at = index % 2 == 1 ? "null" : "{\"lat\":\(Double(index) / 2),\"lon\":null}"
      #expect(record["place"] == (index % 5 == 0 ? "<null>" : "<nested>{\"city\":\"c\(index)\",\"at\":\(at)}"))
    }
  }

  @Test(
    "goes on after any record, in any row group, with what it would have had",
    arguments: ["nested.parquet", "staff.parquet", "types.parquet", "products.parquet"])
  func resumption(_ name: String) throws {
    let file = try file(name)
    let whole = try file.read(limit: 1)
    #expect(whole.error == nil)
    for (index, end) in whole.ends.enumerated() {
      let rest = try file.read(from: end, limit: 7)
      #expect(rest.error == nil && rest.records == Array(whole.records[(index + 1)...]), "\(end)")
      #expect(rest.ends.last == whole.ends.last || rest.ends.isEmpty)
    }
    var wrong = try #require(whole.ends.first)
    for state in [
      "group 0 row 2 unpacked 1", "group 9 row 1 unpacked 1", "group 0 row x unpacked 1", "group -1 row 0 unpacked 1",
      "group 0 row 1 unpacked -1", "group 0 row 1", "",
    ] {
      wrong.state = state
      if case .positionInvalid? = try file.read(from: wrong).error { continue }
      Issue.record("it goes on at \(state)")
    }
  }

  @Test("is recognised by its bytes, and a text that begins alike is a text")
  func detection() throws {
    let bytes = try WorkbookFile.resource("staff.parquet")
    for name in ["a.parquet", "a.csv", "a"] {
      let opened = try SourceFile(bytes, name: name)
      let source = try openSource(
        fileDescriptor: opened.descriptor, name: name, options: ReaderOptions(), from: nil)
      #expect(source.detection.format == .parquet && source.isTabular)
    }
    let nested = try file("products.parquet")
    #expect(
      try !openSource(
        fileDescriptor: nested.descriptor, name: "a", options: ReaderOptions(), from: nil
      ).isTabular)
    #expect(try SourceFile(Array("PAR1,b\n1,2\n".utf8), name: "a.csv").read().columns == ["PAR1", "b"])
    let packed = try Packing.zip([("a.parquet", bytes)])
    #expect(try SourceFile(packed, name: "a.zip").read().error == .parquet(.packed))
    var options = ReaderOptions()
    options.format = .parquet
    #expect(try SourceFile(Array("a,b\n".utf8), name: "a.csv").read(options).error == .parquet(.notParquet))
  }

  @Test("that is encrypted, cut off or damaged is refused by name")
  func damage() throws {
    let bytes = try WorkbookFile.resource("nested.parquet")
    func error(_ bytes: [UInt8]) throws -> ReaderError? { try SourceFile(bytes, name: "a.parquet").read().error }
    var encrypted = bytes
    encrypted.replaceSubrange(0..<4, with: Array("PARE".utf8))
    encrypted.replaceSubrange((bytes.count - 4)..., with: Array("PARE".utf8))
    #expect(try error(encrypted) == .parquet(.encrypted))
    guard case .parquet(.malformed(let part, _))? = try error(Array(bytes.dropLast(9))) else {
      Issue.record("a file that is cut off is read")
      return
    }
    #expect(part == "the footer")
    // In the first page behind its header: pages have checksums.
    var damaged = bytes
    let place = try #require(bytes.firstRange(of: [0x28, 0xB5, 0x2F, 0xFD] as [UInt8])).upperBound + 3
    damaged[place] ^= 0xFF
    guard case .parquet(.damaged(let column))? = try error(damaged) else {
      Issue.record("a damaged page is read: \(String(describing: try error(damaged)))")
      return
    }
    #expect(column.contains("row group 1"))
    for error: ParquetError in [
      .notParquet, .packed, .encrypted, .malformed(part: "a", what: "b"), .damaged(part: "a"),
      .unsupported(what: "a", column: "b"), .tooLarge(part: "a", bytes: 1, limit: 1 << 20),
      .tooManyPages(limit: 1 << 20), .tooManyColumns(limit: 1),
    ] {
      #expect(!"\(ReaderError.parquet(error))".isEmpty)
    }
  }

  @Test("doesn't unpack more than the limits allow, and cuts records that are too long")
  func limits() throws {
    var options = ReaderOptions()
    options.maximumUnpackedBytes = 1_000
    guard case .source(.unpacksTooFar(limit: 1_000))? = try file("nested.parquet").read(options).error else {
      Issue.record("it unpacks too far")
      return
    }
    options = ReaderOptions()
    options.maximumRecordBytes = 60
    let result = try file("nested.parquet").read(options)
    #expect(result.error == nil && result.records.count == 100)
    #expect(result.problems.contains(.recordTooLong(limit: 60)) && result.problems.contains(nil))
  }

  @Test(
    "that lies about its parts is refused, and takes neither time nor memory for what it claims",
    arguments: [
      HostileParquet.mapWithoutValue, HostileParquet.listWithoutElement, HostileParquet.levelsOverflow,
      HostileParquet.longPaths, HostileParquet.zeros, HostileParquet.otherType, HostileParquet.manyChunks,
    ])
  func lies(bytes: [UInt8]) throws {
    let error = try SourceFile(bytes, name: "a.parquet").read().error
    guard case .parquet(.malformed)? = error else {
      Issue.record("it is read, or refused for another reason: \(String(describing: error))")
      return
    }
  }

  @Test("with values beyond those of their type is read all the same: what no attribute takes rejects its record alone")
  func beyond() throws {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
    func read(_ file: [UInt8]) throws -> [[String]] {
      let result = try SourceFile(file, name: "a.parquet").read()
      #expect(result.error == nil)
      return result.cells
    }
    let times: [Int32] = [1_000, 90_000_500, -1_000]
    #expect(
      try read(HostileParquet.column(type: 1, converted: 7, times.map { bytes($0) }))
        == [["00:00:01"], ["25:00:00.5"], ["-00:00:01"]])
    let day = Int64(86_400_000_000_000)
    let instants = [0, day + 1_000_000_000, -1_000_000_000].map { bytes($0) + bytes(Int32(2_440_588)) }
    #expect(
      try read(HostileParquet.column(type: 3, instants))
        == [["<date>1970-01-01T00:00:00"], ["<date>1970-01-02T00:00:01"], ["<date>1969-12-31T23:59:59"]])
    // Bytes with their length in front of them, as a decimal.
    #expect(
      try read(HostileParquet.column(type: 6, converted: 5, [bytes(Int32(1)) + [7], bytes(Int32(0))]))
        == [["7"], ["unreadable bytes 0x"]])
  }

  @Test("whose only record is endless is refused at the limit of what a file may unpack to")
  func endless() throws {
    let error = try SourceFile(HostileParquet.endlessList, name: "a.parquet").read().error
    guard case .source(.unpacksTooMuch)? = error else {
      Issue.record("it isn't refused: \(String(describing: error))")
      return
    }
  }
}
