import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

@Suite("Writing records")
struct WritingTests {
  private static func attribute(_ type: AttributeType, dateFormat: String? = nil) throws -> AttributeDescription {
    let definition = AttributeDefinition("a", type, userInfo: dateFormat.map { ["dateFormat": $0] } ?? [:])
    let model = try ManagedObjectModel(entities: [EntityDefinition("E", attributes: [definition])])
    return try #require(model.entitiesByName["E"]?.attributes.first)
  }

  /// The output for records of one attribute.
  private static func written(
    _ values: [Value], of attribute: AttributeDescription, _ format: WrittenFormat
  ) throws -> String {
    let folder = try ScratchDirectory()
    let file = try AtomicFile(folder: folder.url.path, name: "file", hiddenName: ".part")
    let writer = try format.writer(into: file, .init(title: "E", columns: [WrittenColumn(attribute, name: "a")]))
    for value in values { try writer.write([value], []) }
    try writer.finish()
    try file.commit()
    return try String(contentsOf: folder.file("file"), encoding: .utf8)
  }

  @Test("a CSV of one column has a line for each record, even for null")
  func oneColumn() throws {
    let text = try Self.written([.string("x"), .null, .string(""), .string("y")], of: Self.attribute(.string), .csv)
    #expect(text == "a\nx\n\"\"\n\"\"\ny\n")
  }

  @Test("a CSV of many records is read as it was written, across every buffer")
  func manyRecords() throws {
    let folder = try ScratchDirectory()
    let texts = (0..<20_000).map { String(repeating: $0.isMultiple(of: 3) ? "\"\n" : "é,", count: $0 % 40) + "\($0)" }
    for compression in [nil, WrittenCompression.gzip, .zstd] {
      let file = try AtomicFile(folder: folder.url.path, name: "file.csv", hiddenName: ".part")
      let columns = try ["a", "b"].map { try WrittenColumn(Self.attribute(.string), name: $0) }
      let writer = try WrittenFormat.csv.writer(
        into: file, .init(title: "E", columns: columns, delimiter: UInt8(ascii: ";")), compression: compression)
      for text in texts { try writer.write([.string(text), .int(-12)], []) }
      try writer.finish()
      try file.commit()
      let descriptor = open(folder.file("file.csv").path, O_RDONLY)
      defer { close(descriptor) }
      let reader = try openReader(
        fileDescriptor: descriptor, name: "file.csv", options: ReaderOptions(), from: nil)
      let batch = RecordBatch()
      var found: [String] = []
      while try reader.read(into: batch, limit: 1000) {
        for record in 0..<batch.count {
          #expect(batch.string(batch.cell(record, 1)) == "-12")
          found.append(batch.string(batch.cell(record, 0)))
        }
      }
      #expect(found == texts)
    }
  }

  @Test("JSON escapes texts, and keeps all digits of numbers")
  func json() throws {
    let text = try Self.written(
      [.string("\u{0}\u{1f}\"\\/\u{7f}\u{2028}é")], of: Self.attribute(.string), .ndjson)
    #expect(text == "{\"a\":\"\\u0000\\u001f\\\"\\\\/\u{7f}\u{2028}é\"}\n")
    let numbers = try Self.written(
      [.decimal(try #require(Decimal(string: "12345678901234567890.123456789"))), .double(0.1), .double(.infinity)],
      of: Self.attribute(.decimal), .ndjson)
    #expect(numbers == "{\"a\":12345678901234567890.123456789}\n{\"a\":0.1}\n{\"a\":\"inf\"}\n")
  }

  @Test("data is Base64, in JSON and CSV", arguments: [0, 1, 2, 3, 4, 1000])
  func data(_ count: Int) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 77) })
    let text = try Self.written([.data(data)], of: Self.attribute(.binaryData), .ndjson)
    #expect(text == "{\"a\":\"\(data.base64EncodedString())\"}\n")
  }

  @Test(
    "dates in the model's format are read as the same instant",
    arguments: [
      "yyyy-MM-dd'T'HH:mm:ss.SSSSSSZ", "EEEE, dd MMMM yyyy h:mm:ss a XXX S", "y.M.d H:m:s.S", "yyyyMMddHHmmssSSSSSS",
      "''yyyy''MMddHHmmss.SSSSSSx", "UnixTime", "UnixTimeMillis", "UnixTimeMicros",
    ])
  func dates(_ format: String) throws {
    let attribute = try Self.attribute(.date, dateFormat: format)
    let converter = try ValueConverter(attribute: attribute, dateFormat: format)
    for microseconds: Int64 in [
      0, 1, -1, 951_827_696_123_456, -2_208_988_800_000_000, 4_102_444_799_999_990, 253_402_300_799_000_000,
      -62_135_596_800_000_000,
    ] {
      let date = ISODate.date(microseconds: microseconds)
      let text = try Self.written([.date(date)], of: attribute, .csv).split(separator: "\n")[1]
      let plain = text.replacing("\"", with: "")
      let read = try Array(plain.utf8).withUnsafeBytes { bytes throws(ConversionCode) in
        try converter.convert(text: bytes)
      }
      #expect(read == .date(date), "\(text)")
    }
  }

  @Test("a date isn't written if the format would drop part of it")
  func lossy() throws {
    let attribute = try Self.attribute(.date, dateFormat: "dd.MM.yyyy")
    #expect(try Self.written([.date(Date(timeIntervalSince1970: 86_400))], of: attribute, .csv) == "a\n02.01.1970\n")
    #expect(throws: WriterError.lossyDate(column: "a", format: "dd.MM.yyyy", date: "1970-01-01 00:00:01")) {
      try Self.written([.date(Date(timeIntervalSince1970: 1))], of: attribute, .csv)
    }
  }
}

@Suite("Writing a file whole or not at all")
struct WritingFileTests {
  @Test("a file that isn't committed doesn't exist and leaves nothing behind")
  func abandoned() throws {
    let folder = try ScratchDirectory()
    try Data("before".utf8).write(to: folder.file("file"))
    do {
      let file = try AtomicFile(folder: folder.url.path, name: "file", hiddenName: ".part")
      try Data("after".utf8).withUnsafeBytes { try file.write($0) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == [".part", "file"])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file"])
    #expect(try String(contentsOf: folder.file("file"), encoding: .utf8) == "before")
  }

  @Test("a partial file that a killed writer left is removed")
  func rests() throws {
    let folder = try ScratchDirectory()
    let path = folder.file("new").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try Data("rest".utf8).write(to: folder.file("new/.part"))
    let file = try AtomicFile(folder: path, name: "file", hiddenName: ".part")
    try Data("whole".utf8).withUnsafeBytes { try file.write($0) }
    try file.commit()
    #expect(file.length == 5)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["file"])
  }

  @Test("a full disk is reported as such")
  func full() throws {
    #expect(WriterError.file(path: "a", operation: "write", errno: ENOSPC).isDiskFull)
    #expect(WriterError.database(path: "a", code: 13, reason: "").isDiskFull)
    #expect(!WriterError.file(path: "a", operation: "write", errno: EIO).isDiskFull)
  }
}
