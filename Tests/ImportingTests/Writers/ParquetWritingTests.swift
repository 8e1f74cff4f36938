import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

@Suite("Writing Parquet")
struct ParquetWritingTests {
  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .double, .float, .boolean, .string, .date, .uuid, .uri, .binaryData, .decimal,
  ]

  /// A column of each type, and two of lists.
  private static func layout() throws -> WrittenFormat.Layout {
    let definitions = types.enumerated().map { AttributeDefinition("a\($0)", $1) }
    let model = try ManagedObjectModel(entities: [EntityDefinition("E", attributes: definitions)])
    let entity = try #require(model.entitiesByName["E"])
    let columns = try entity.attributes.sorted {
      $0.name.count == $1.name.count ? $0.name < $1.name : $0.name.count < $1.name.count
    }
    .map { try WrittenColumn($0, name: $0.name) }
    return WrittenFormat.Layout(
      title: "E", columns: columns + [WrittenColumn(name: "n")],
      collections: [
        WrittenCollection(keys: columns[6], name: "keys", separator: nil),
        WrittenCollection(objects: [columns[0], columns[6]], name: "objects"),
      ])
  }

  private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  private static func record(_ index: Int) throws -> (ContiguousArray<Value>, [[ContiguousArray<Value>]]) {
    if index % 10 == 9 { return (ContiguousArray(repeating: .null, count: types.count + 1), [[], []]) }
    let number = Int64(index)
    let values: ContiguousArray<Value> = [
      .int(number % 32_768), .int(-number), .int(number * 1_000_000_007), .double(Double(index) / 7),
      .double(Double(Float(index) / 3)), .bool(index % 2 == 0), .string("é \(index % 100)"),
      .date(ISODate.date(microseconds: number * 86_399_000_001)), .uuid(id),
      .uri(try #require(URL(string: "https://example.org/\(index)"))), .data(Data([0, UInt8(index % 256)])),
      .decimal(Decimal(index) / 100), .int(number),
    ]
    let keys = (0..<index % 3).map { ContiguousArray([Value.string("k\($0)")]) }
    let objects = (0..<index % 4).map { ContiguousArray([$0 == 1 ? Value.null : .int(Int64($0)), .string("o\($0)")]) }
    return (values, [keys, objects])
  }

  @discardableResult
  private static func write(
    _ count: Int, to folder: ScratchDirectory, _ compression: WrittenCompression? = nil
  ) throws -> URL {
    let file = try AtomicFile(folder: folder.url.path, name: "file.parquet", hiddenName: ".part")
    let writer = try WrittenFormat.parquet.writer(into: file, layout(), compression: compression)
    #expect(writer.needsSurvey)
    for index in 0..<count {
      let (values, collected) = try record(index)
      try writer.survey(values, collected)
    }
    for index in 0..<count {
      let (values, collected) = try record(index)
      try writer.write(values, collected)
    }
    try writer.finish()
    try file.commit()
    return folder.file("file.parquet")
  }

  @Test(
    "is read as it was written, in row groups of bounded size", arguments: [0, 1, 25, 150_000],
    [nil, WrittenCompression.gzip, .zstd])
  func reading(_ count: Int, _ compression: WrittenCompression?) throws {
    guard count < 1_000 || compression == nil else { return }
    let folder = try ScratchDirectory()
    let path = try Self.write(count, to: folder, compression).path
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    let reader = try openReader(fileDescriptor: descriptor, name: path, options: ReaderOptions(), from: nil)
    let batch = RecordBatch()
    var index = 0
    while try reader.read(into: batch, limit: 1_000) {
      for record in 0..<batch.count {
        defer { index += 1 }
        let isNull = index % 10 == 9
        func shown(_ column: Int) -> String { show(batch.cell(record, column), of: batch) }
        #expect(shown(2) == (isNull ? "<null>" : "\(index * 1_000_000_007)"))
        guard index % 997 < 12 else { continue }
        #expect(shown(6) == (isNull ? "<null>" : "é \(index % 100)"))
        #expect(
          shown(11) == (isNull ? "<null>" : "\(index / 100).\(index % 100 < 10 ? "0" : "")\(index % 100)") || count == 1
        )
        #expect(shown(8) == (isNull ? "<null>" : Self.id.uuidString.lowercased()))
        let keys = isNull ? "" : (0..<index % 3).map { "\"k\($0)\"" }.joined(separator: ",")
        #expect(shown(13) == "<nested>[\(keys)]")
        let objects =
          isNull
          ? ""
          : (0..<index % 4).map { "{\"a0\":\($0 == 1 ? "null" : "\($0)"),\"a6\":\"o\($0)\"}" }.joined(separator: ",")
        #expect(shown(14) == "<nested>[\(objects)]")
      }
    }
    #expect(index == count)
  }

  @Test(
    "is what pyarrow reads, with types and statistics",
    .enabled(if: PyArrow.isThere, "pyarrow isn't installed: pip install pyarrow"),
    arguments: [nil, WrittenCompression.gzip, .zstd])
  func oracle(_ compression: WrittenCompression?) throws {
    let folder = try ScratchDirectory()
    let path = try Self.write(2_500, to: folder, compression).path
    let script = """
      import sys, pyarrow.parquet as pq
      file = pq.ParquetFile(sys.argv[1])
      table = file.read()
      rows = table.to_pylist()
      print([str(field.type) for field in table.schema])
      for i, row in enumerate(rows):
          if i % 10 == 9:
              assert all(v is None or v == [] for v in row.values()), (i, row)
              continue
          assert row["a0"] == i % 32768 and row["a1"] == -i and row["a2"] == i * 1000000007, (i, row)
          assert row["a3"] == i / 7 and row["a5"] == (i % 2 == 0) and row["a6"] == f"é {i % 100}", (i, row)
          assert row["a9"] == f"https://example.org/{i}" and row["a10"] == bytes([0, i % 256]), (i, row)
          assert row["a11"] * 100 == i and row["n"] == i, (i, row)
          assert row["keys"] == [f"k{j}" for j in range(i % 3)], (i, row)
          assert row["objects"] == [{"a0": None if j == 1 else j, "a6": f"o{j}"} for j in range(i % 4)], (i, row)
      column = file.metadata.row_group(0).column(2).statistics
      print(len(rows), column.min, column.max, column.null_count, file.metadata.row_group(0).column(2).compression)
      """
    let run = try ProgramOutput.now(PyArrow.python, ["python3", "-c", script, path])
    #expect(run.status == 0, "\(run.error)")
    let lines = run.text.split(separator: "\n").map(String.init)
    try #require(lines.count == 2)
    #expect(
      lines[0].contains("'int16', 'int32', 'int64', 'double', 'float', 'bool', 'string', 'timestamp[us, tz=UTC]'"))
    #expect(lines[0].contains("decimal128(4, 2)"))
    let codec = [nil: "SNAPPY", .gzip: "GZIP", .zstd: "ZSTD"][compression] ?? ""
    #expect(lines[1] == "2500 0 \(2_498 * 1_000_000_007) 250 \(codec)")
  }

  @Test("keeps decimals of more digits than the type has as texts")
  func decimals() throws {
    let model = try ManagedObjectModel(
      entities: [EntityDefinition("E", attributes: [AttributeDefinition("a", .decimal)])])
    let attribute = try #require(model.entitiesByName["E"]?.attributes.first)
    for (texts, isNumber) in [(["1.5", "-12345678901234567890.12345678901234567"], true), (["1e30", "1e-20"], false)] {
      let folder = try ScratchDirectory()
      let file = try AtomicFile(folder: folder.url.path, name: "f", hiddenName: ".part")
      let writer = try WrittenFormat.parquet.writer(
        into: file, .init(title: "E", columns: [WrittenColumn(attribute, name: "a")]))
      let numbers = try texts.map { try #require(Decimal(string: $0)) }
      for number in numbers { try writer.survey([.decimal(number)], []) }
      for number in numbers { try writer.write([.decimal(number)], []) }
      try writer.finish()
      try file.commit()
      let descriptor = open(folder.file("f").path, O_RDONLY)
      defer { close(descriptor) }
      let reader = try openReader(fileDescriptor: descriptor, name: "f", options: ReaderOptions(), from: nil)
      let batch = RecordBatch()
      #expect(try reader.read(into: batch, limit: 10))
      for (record, number) in numbers.enumerated() {
        #expect(batch.cell(record, 0).kind == (isNumber ? .number : .text))
        #expect(Decimal(string: batch.string(batch.cell(record, 0))) == number)
      }
    }
  }
}
