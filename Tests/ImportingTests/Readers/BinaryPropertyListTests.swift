import Foundation
import Testing

@testable import Importing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
  private static func bytes(_ list: Any) throws -> [UInt8] {
    Array(try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
  }

  private func read(_ bytes: [UInt8], _ options: ReaderOptions = ReaderOptions(), blockSize: Int = 4_096) throws
    -> ReadResult
  {
    try SourceFile(bytes, name: "a.plist").read(options, blockSize: blockSize)
  }

  static var values: [String: Any] {
    [
      "i": 9_007_199_254_740_993 as Int64, "u": UInt64.max, "m": -1, "r": 0.5, "t": true, "f": false,
      "s": "a<&>\u{1}\r\n",
      "w": "Zoë😀", "e": "", "b": Data([1, 2, 3]), "d": Date(timeIntervalSince1970: 1_709_208_000),
      "o": ["k": [1.5, "é", true, [String: Any]()] as [Any]], "long": String(repeating: "日本語", count: 20_000),
      "data": Data(repeating: 7, count: 100_000),
    ]
  }

  @Test("have the records that the same list has in XML", arguments: [1, 7, 4_096, 262_144])
  func sameAsXML(blockSize: Int) throws {
    let list: [String: Any] = ["x": ["rows": [Self.values, ["i": 1], "no dictionary", [String: Any]()]]]
    let options = ReaderOptions(root: "x.rows")
    let binary = try read(Self.bytes(list), options, blockSize: blockSize)
    let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    #expect(binary.error == nil)
    let expected = try read(Array(xml), options)
    #expect(binary.records.count == 4)
    #expect(binary.problems == expected.problems)
    var first = binary.records[0].named
    #expect(first.removeValue(forKey: "s") == "a<&>\u{1}\r\n")
    #expect(first["o"] == #"<nested>{"k":[1.5,"é",true,{}]}"#)
    #expect(first["u"] == "18446744073709551615" && first["d"] == "2024-02-29T12:00:00Z" && first["b"] == "AQID")
    var other = expected.records[0].named
    other["s"] = nil
    for (key, value) in other where first[key] != value { Issue.record("\(key) is another") }
    #expect(first.count == other.count)
    #expect(binary.records[1].named == ["i": "1"])
  }

  @Test("compressed, in an archive or under another name, they are read too")
  func packed() throws {
    let bytes = try Self.bytes([["a": "b"]])
    for name in ["a.plist", "a.csv", "a"] { #expect(try SourceFile(bytes, name: name).read().cells == [["b"]]) }
    let packed = try SourceFile(Packing.compressed(bytes, .gzip), name: "a.plist.gz")
    #expect(try packed.read().cells == [["b"]])
  }

  @Test("of one dictionary are one record")
  func alone() throws {
    #expect(try read(Self.bytes(["a": "b", "c": ["d": 1]] as [String: Any])).records.map { $0.named["a"] } == ["b"])
    #expect(
      try read(Self.bytes(["n": 1, "rows": [["a": "b"], ["a": "c"]]] as [String: Any])).cells == [["b"], ["c"]])
  }

  @Test("can be resumed after any record", arguments: [1, 3])
  func resumption(limit: Int) throws {
    let file = try SourceFile(Self.bytes((0..<10).map { ["n": $0, "s": "é\($0)"] as [String: Any] }), name: "a.plist")
    let whole = try file.read()
    #expect(whole.records.count == 10)
    var records: [ReadRecord] = []
    var position: ReaderPosition?
    while records.count < 10 {
      let reader = try openReader(
        fileDescriptor: file.descriptor, name: "a.plist", options: ReaderOptions(), from: position)
      let batch = RecordBatch()
      #expect(try reader.read(into: batch, limit: limit))
      for record in 0..<batch.count { records.append(SourceFile.record(record, of: batch)) }
      position = batch.end
    }
    #expect(records.map(\.named) == whole.records.map(\.named))
    #expect(records.map(\.line) == whole.records.map(\.line))
  }

  /// A list of these objects, of which the first is the list itself.
  static func list(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1] + number(objects.count) + number(0) + number(table)
    return bytes
  }

  private static func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> ($0 * 8) & 255) } }

  @Test("numbers of 128 bits are read when 64 are enough, and refused otherwise")
  func longNumbers() throws {
    func value(_ bytes: [UInt8]) throws -> ReadResult {
      try read(Self.list([[0xA1, 1], [0xD1, 2, 3], [0x51, 0x61], bytes]))
    }
    let high: [UInt8] = Array(repeating: 0xFF, count: 8)
    #expect(try value([0x14] + [UInt8](repeating: 0, count: 8) + high).cells == [["18446744073709551615"]])
    #expect(try value([0x14] + high + high).cells == [["-1"]])
    #expect(try value([0x14] + [0, 0, 0, 0, 0, 0, 0, 1] + high).error != nil)
    #expect(try value([0x22, 0x3F, 0x80, 0, 0]).cells == [["1.0"]])
    #expect(try value([0x80, 1]).error != nil)
    #expect(try value([0x62, 0xD8, 0x3D, 0xDE, 0x00]).cells == [["😀"]])
    #expect(try value([0x61, 0xD8, 0x3D]).problems == [.invalidUTF8])
  }

  @Test("lists that contain themselves, are too deep or too long for their file are refused")
  func hostile() throws {
    // An array that holds itself; fifty arrays that each hold the next ten times.
    #expect(try read(Self.list([[0xA1, 0]])).error != nil)
    #expect(try read(Self.list([[0xA1, 1], [0xD1, 2, 1], [0x51, 0x61]])).error != nil)
    let bomb = (0..<50).map { [0xAA] + [UInt8](repeating: UInt8($0 + 1), count: 10) } + [[0x09]]
    var options = ReaderOptions(maximumRecordBytes: 10_000)
    options.maximumUnpackedBytes = 1 << 20
    #expect(try read(Self.list(bomb), options).error == .source(.unpacksTooFar(limit: 1 << 20)))
    let deep = (0..<250).map { [0xA1, UInt8($0 + 1)] } + [[0x09]]
    #expect(try read(Self.list(deep)).error != nil)
    #expect(try read(Self.list([[0x5F, 0x13] + Self.number(Int.max)])).error != nil)
    #expect(try read(Array("bplist00".utf8)).error != nil)
  }

  @Test("whatever byte is wrong, and wherever the file ends, it is an error or records")
  func everyByte() throws {
    let bytes = try Self.bytes(
      [
        ["name": "Ann", "age": 7, "at": Date(timeIntervalSince1970: 0), "x": Data([1]), "r": 0.5, "w": "é"],
        ["nested": ["a": [1, 2]]],
      ] as [[String: Any]])
    var options = ReaderOptions()
    options.maximumUnpackedBytes = 1 << 20
    for index in bytes.indices {
      for wrong in [0, 1, 0x7F, 0x80, 0xFF, bytes[index] ^ 0x10, bytes[index] &+ 1] {
        var changed = bytes
        changed[index] = wrong
        _ = try read(changed, options)
      }
      _ = try read(Array(bytes[..<index]), options)
    }
  }
}
