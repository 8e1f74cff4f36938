// The readers have checked what stands in a cell, and how deep it goes: at most `JSONMistake.maximumDepth` levels, which is
// how deep this recurses. What isn't JSON all the same reads as nil.

extension NestedValue {
  /// Reads a nested cell.
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
    case .missing, .empty, .nested: return nil
    }
  }

  private static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ escaped: Bool) -> String {
    guard escaped else { return String(decoding: bytes, as: UTF8.self) }
    return String(unsafeUninitializedCapacity: bytes.count) { buffer in
      buffer.baseAddress.map { JSONToken.unescape(bytes, to: $0) } ?? 0
    }
  }
}
