import ManagedObjects

/// What stands in a nested cell, as a tree: a JSON object or array, or what the XML and property list readers write as one.
///
/// A number keeps its text, so that it loses nothing before the attribute's type is known. Of equal keys the last counts,
/// as in records.
enum NestedValue: Hashable, Sendable {
  case null
  case yes
  case no
  case number(String)
  case text(String)
  case array([NestedValue])
  case object([String: NestedValue])

  /// What a path of keys leads to; nil where a key isn't there. Over arrays no path leads: an array is several objects.
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

  /// For messages, at most a line.
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

extension ValueConverter {
  /// The value of something that isn't nested.
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

  /// What was wrong with it, in words.
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
