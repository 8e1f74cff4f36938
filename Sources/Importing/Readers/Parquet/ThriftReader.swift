/// Reads structures of Thrift's compact protocol, in which Parquet keeps its footer and its pages' headers. Nothing is
/// believed: no length goes past the end, and structures that are skipped nest up to a limit.
///
/// Source: the Thrift compact protocol, thrift.apache.org, `doc/specs/thrift-compact-protocol.md`.
struct ThriftReader {
  /// The type of a field or of a list's elements.
  enum FieldType: UInt8 {
    case yes = 1, no = 2, byte = 3, i16 = 4, i32 = 5, i64 = 6, double = 7, binary = 8, list = 9, set = 10, map = 11
    case structure = 12
    case uuid = 13
  }

  /// Why bytes aren't such a structure.
  enum Mistake: Error {
    /// They end too early; there may be more.
    case truncated
    case malformed
  }

  private(set) var place: BytePointer
  private let end: BytePointer
  private static let depthLimit = 32

  init(_ start: BytePointer, count: Int) {
    place = start
    end = start + count
  }

  var remaining: Int { end - place }

  @inline(__always)
  mutating func byte() throws(Mistake) -> UInt8 {
    guard place < end else { throw .truncated }
    let byte = place.pointee
    place += 1
    return byte
  }

  mutating func varint() throws(Mistake) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 63 || byte <= 1 else { throw .malformed }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  mutating func integer() throws(Mistake) -> Int64 {
    let value = try varint()
    return Int64(truncatingIfNeeded: value >> 1) ^ -Int64(truncatingIfNeeded: value & 1)
  }

  /// The next field of a structure, whose fields so far ended with number `last`; nil at the structure's end.
  mutating func field(after last: inout Int) throws(Mistake) -> FieldType? {
    let head = try byte()
    if head == 0 { return nil }
    guard let type = FieldType(rawValue: head & 15) else { throw .malformed }
    let number = head >> 4 == 0 ? Int(truncatingIfNeeded: try integer()) : last &+ Int(head >> 4)
    guard number > 0, number <= Int(Int16.max) else { throw .malformed }
    last = number
    return type
  }

  mutating func binary() throws(Mistake) -> UnsafeBufferPointer<UInt8> {
    let count = try varint()
    guard count <= UInt64(remaining) else { throw .truncated }
    let bytes = UnsafeBufferPointer(start: place, count: Int(count))
    place += Int(count)
    return bytes
  }

  mutating func text() throws(Mistake) -> String { String(decoding: try binary(), as: UTF8.self) }

  /// The head of a list or set. Each element takes a byte or more, so the count is bounded.
  mutating func list() throws(Mistake) -> (type: FieldType, count: Int) {
    let head = try byte()
    // An empty list may have any type of elements.
    guard let type = FieldType(rawValue: head & 15) ?? (head >> 4 == 0 ? .byte : nil) else { throw .malformed }
    let count = head >> 4 == 15 ? try varint() : UInt64(head >> 4)
    guard count <= UInt64(remaining) else { throw .truncated }
    return (type, Int(count))
  }

  mutating func skip(_ type: FieldType, inList: Bool = false, depth: Int = 0) throws(Mistake) {
    guard depth < Self.depthLimit else { throw .malformed }
    switch type {
    case .yes, .no: if inList { _ = try byte() }
    case .byte: _ = try byte()
    case .i16, .i32, .i64: _ = try varint()
    case .double: try pass(8)
    case .uuid: try pass(16)
    case .binary: _ = try binary()
    case .list, .set:
      let (element, count) = try list()
      for _ in 0..<count { try skip(element, inList: true, depth: depth + 1) }
    case .map:
      let count = try varint()
      if count == 0 { return }
      guard count <= UInt64(remaining) else { throw .truncated }
      let types = try byte()
      guard let key = FieldType(rawValue: types >> 4), let value = FieldType(rawValue: types & 15) else {
        throw .malformed
      }
      for _ in 0..<count {
        try skip(key, inList: true, depth: depth + 1)
        try skip(value, inList: true, depth: depth + 1)
      }
    case .structure:
      var last = 0
      while let type = try field(after: &last) { try skip(type, depth: depth + 1) }
    }
  }

  private mutating func pass(_ count: Int) throws(Mistake) {
    guard count <= remaining else { throw .truncated }
    place += count
  }
}

extension ThriftReader {
  /// Reads a structure: `take` gets each field's number, and reads the field or returns false to have it skipped.
  mutating func structure(
    _ take: (_ field: Int, _ type: FieldType, inout ThriftReader) throws(Mistake) -> Bool
  ) throws(Mistake) {
    var last = 0
    while let type = try field(after: &last) {
      if try !take(last, type, &self) { try skip(type) }
    }
  }

  mutating func integer(_ type: FieldType) throws(Mistake) -> Int64 {
    switch type {
    case .i16, .i32, .i64: return try integer()
    case .byte: return Int64(Int8(bitPattern: try byte()))
    default: throw .malformed
    }
  }

  mutating func text(_ type: FieldType) throws(Mistake) -> String {
    guard type == .binary else { throw .malformed }
    return try text()
  }

  static func flag(_ type: FieldType) throws(Mistake) -> Bool {
    switch type {
    case .yes: return true
    case .no: return false
    default: throw .malformed
    }
  }
}
