import Foundation
import ManagedObjects

/// The content of a nested cell, as a tree: a JSON object or array, or what the XML and property list readers write as one.
///
/// A number keeps its text, so that it loses nothing before the attribute's type is known. If keys repeat, the last counts,
/// as in records.
enum NestedValue: Hashable, Sendable {
  case null
  case yes
  case no
  case number(String)
  case text(String)
  case array([NestedValue])
  case object([String: NestedValue])

  /// The value at the end of a path of keys; nil if a key isn't there. No path leads through an array: it is several objects.
  func value(along path: ArraySlice<String>) -> NestedValue? {
    guard let key = path.first else { return self }
    guard case .object(let values) = self else { return nil }
    return values[key]?.value(along: path.dropFirst())
  }

  /// The elements of an array, or the value itself; without nulls.
  var elements: [NestedValue] {
    switch self {
    case .null: []
    case .array(let elements): elements.filter { $0 != .null }
    case .yes, .no, .number, .text, .object: [self]
    }
  }

  /// Whether it has parts.
  var isNested: Bool {
    switch self {
    case .array, .object: true
    case .null, .yes, .no, .number, .text: false
    }
  }

  /// For messages, at most one line.
  var shown: String {
    switch self {
    case .null: return "null"
    case .yes: return "true"
    case .no: return "false"
    case .number(let text): return text
    case .text(let text): return text.count > 60 ? text.prefix(59) + "…" : text
    case .array(let elements): return "an array of \(elements.count)"
    case .object: return "an object"
    }
  }
}

extension NestedValue {
  /// The value as canonical JSON: without spaces, keys in alphabetical order, so that equal values have equal bytes. A
  /// transformable attribute of a Codable type holds it.
  var data: Data {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return Data(bytes)
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += Array("null".utf8)
    case .yes: bytes += Array("true".utf8)
    case .no: bytes += Array("false".utf8)
    case .number(let text): bytes += Array(text.utf8)
    case .text(let text): JSONString.quote(text.utf8, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let values):
      bytes.append(UInt8(ascii: "{"))
      for (place, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONString.quote(key.utf8, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}

extension NestedValue {
  /// Reads a nested cell; nil if it isn't JSON.
  ///
  /// The readers have checked the cell and its depth, at most `JSONMistake.maximumDepth` levels, which bounds the recursion
  /// here.
  init?(json: UnsafeRawBufferPointer) {
    guard let start = json.bindMemory(to: UInt8.self).baseAddress else { return nil }
    var parser = NestedParser(place: start, end: start + json.count)
    guard let value = parser.value(depth: 0) else { return nil }
    self = value
  }
}

private struct NestedParser {
  var place: BytePointer
  let end: BytePointer

  mutating func value(depth: Int) -> NestedValue? {
    guard depth <= JSONMistake.maximumDepth, let byte = next() else { return nil }
    switch byte {
    case UInt8(ascii: "{"): return object(depth)
    case UInt8(ascii: "["): return array(depth)
    default: return scalar()
    }
  }

  /// The next byte that isn't white space.
  private mutating func next() -> UInt8? {
    place = JSONToken.skipSpace(place, end)
    return place < end ? place.pointee : nil
  }

  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard next() == UInt8(ascii: byte) else { return false }
    place += 1
    return true
  }

  private mutating func array(_ depth: Int) -> NestedValue? {
    place += 1
    var elements: [NestedValue] = []
    if take("]") { return .array(elements) }
    repeat {
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
    } while take(",")
    return take("]") ? .array(elements) : nil
  }

  private mutating func object(_ depth: Int) -> NestedValue? {
    place += 1
    var values: [String: NestedValue] = [:]
    if take("}") { return .object(values) }
    repeat {
      guard next() == JSONToken.quote, case .text(let key)? = scalar(), take(":"),
        let value = value(depth: depth + 1)
      else { return nil }
      values[key] = value
    } while take(",")
    return take("}") ? .object(values) : nil
  }

  private mutating func scalar() -> NestedValue? {
    let start = place
    var escaped = false
    let (kind, scan) = JSONToken.scalar(start, end, final: true, escaped: &escaped)
    guard case .end(let next) = scan else { return nil }
    place = next
    switch kind {
    case .yes: return .yes
    case .no: return .no
    case .null: return .null
    case .number:
      return .number(String(decoding: UnsafeBufferPointer(start: start, count: next - start), as: UTF8.self))
    case .text: return .text(Self.text(UnsafeBufferPointer(start: start + 1, count: next - start - 2), escaped))
    case .missing, .empty, .nested, .quantity, .date, .fault: return nil
    }
  }

  private static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ escaped: Bool) -> String {
    guard escaped else { return String(decoding: bytes, as: UTF8.self) }
    return String(unsafeUninitializedCapacity: bytes.count) { buffer in
      buffer.baseAddress.map { JSONString.unescape(bytes, to: $0) } ?? 0
    }
  }
}

extension ValueConverter {
  /// The value of something that isn't nested, or of an array of strings.
  func convert(_ nested: NestedValue) throws(ConversionCode) -> Value {
    switch nested {
    case .null: return .null
    case .yes: return try convert(bool: true)
    case .no: return try convert(bool: false)
    case .number(let text): return try Self.lend(text) { (bytes) throws(ConversionCode) in try convert(number: bytes) }
    case .text(let text): return try Self.lend(text) { (bytes) throws(ConversionCode) in try convert(text: bytes) }
    case .array:
      let json = nested.data
      return try Self.lend(String(decoding: json, as: UTF8.self)) { (bytes) throws(ConversionCode) in
        try convert(nested: bytes)
      }
    case .object: throw .wrongKind
    }
  }

  /// What is wrong with a nested value, in words.
  func problem(_ code: ConversionCode, _ nested: NestedValue) -> ConversionProblem {
    var text = nested.shown
    return text.withUTF8 { problem(code, text: UnsafeRawBufferPointer($0)) }
  }

  private static func lend(
    _ text: String, _ convert: (UnsafeRawBufferPointer) throws(ConversionCode) -> Value
  ) throws(ConversionCode) -> Value {
    var text = text
    let result = text.withUTF8 { buffer -> Result<Value, ConversionCode> in
      do throws(ConversionCode) {
        return .success(try convert(UnsafeRawBufferPointer(buffer)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
