import Foundation
package import ManagedObjects

/// Turns the bytes of cells into values of one attribute's type.
///
/// Made once for an attribute, then called for every cell: what to do is a byte in the struct, nothing is looked up,
/// and nothing is allocated that the value itself doesn't need. Where a cell can't be converted, the error thrown is one
/// byte too; `problem(_:text:)` says it in words.
///
/// - Spaces and tabs around the text are ignored, except for strings.
/// - Text of no bytes is null, except for strings where the caller said otherwise.
/// - Whether the attribute takes null, and its bounds, are checked by validation, not here.
package struct ValueConverter: Sendable {
  enum Kind: UInt8 {
    case integer, decimal, double, float, boolean, string, isoDate, unixTime, datePattern, uuid, uri, data
  }

  /// The attribute whose values are made.
  package let attribute: AttributeDescription
  let kind: Kind
  let emptyStringIsNull: Bool
  let least: Int64
  let greatest: Int64
  let pattern: DatePattern?
  private let dateFormat: String?

  /// A converter for `attribute`.
  ///
  /// - Parameters:
  ///   - dateFormat: for dates: nil for ISO 8601, `UnixTime`, or a pattern of Unicode's TR 35, see `DatePattern`.
  ///   - emptyStringIsNull: whether text of no bytes is null for a string too.
  /// - Throws: `ConverterError`.
  package init(attribute: AttributeDescription, dateFormat: String?, emptyStringIsNull: Bool = true) throws {
    self.attribute = attribute
    self.emptyStringIsNull = emptyStringIsNull
    self.dateFormat = dateFormat
    self.least = attribute.type.integerRange?.lowerBound ?? 0
    self.greatest = attribute.type.integerRange?.upperBound ?? 0
    var pattern: DatePattern?
    switch attribute.type {
    case .integer16, .integer32, .integer64: kind = .integer
    case .decimal: kind = .decimal
    case .double: kind = .double
    case .float: kind = .float
    case .boolean: kind = .boolean
    case .string: kind = .string
    case .uuid: kind = .uuid
    case .uri: kind = .uri
    case .binaryData: kind = .data
    case .date:
      switch dateFormat {
      case nil, "": kind = .isoDate
      case "UnixTime": kind = .unixTime
      case let format?:
        kind = .datePattern
        pattern = try DatePattern(format, attribute: attribute.name)
      }
    case .transformable, .objectID, .composite, .undefined:
      throw ConverterError.unsupportedType(attribute: attribute.name, type: attribute.type)
    }
    self.pattern = pattern
  }

  /// The value of text: a CSV field, or a JSON string without its quotes and escapes. The bytes are valid UTF-8.
  package func convert(text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    if kind == .string {
      if text.isEmpty && emptyStringIsNull { return .null }
      return .string(String(decoding: text, as: UTF8.self))
    }
    let text = Self.trimmed(text)
    if text.isEmpty { return .null }
    switch kind {
    case .integer: return .int(try integer(text))
    case .decimal: return .decimal(try DecimalNotation(text).decimal(text))
    case .double: return .double(try DecimalNotation(text).double(text))
    case .float: return .double(try float(text))
    case .boolean: return .bool(try boolean(text))
    case .isoDate, .unixTime, .datePattern: return .date(try date(text))
    case .uuid: return .uuid(try uuid(text))
    case .uri: return .uri(try uri(text))
    case .data: return .data(try data(text))
    case .string: return .null  // Went its way above.
    }
  }

  /// The value of a JSON number, as it was written.
  ///
  /// Integers may be written as `12.0` or `1.2e1`. A string takes the number's own text. A date without a format is
  /// seconds since 1970; one with a pattern is the number's digits under the pattern.
  package func convert(number: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    switch kind {
    case .integer: return .int(try wholeNumber(number))
    case .isoDate: return .date(try instant(DecimalNotation(number).double(number)))
    case .uuid, .uri, .data: throw .wrongKind
    default: return try convert(text: number)
    }
  }

  /// The value of a JSON boolean: also 1 or 0 for an integer, and `true` or `false` for a string.
  package func convert(bool: Bool) throws(ConversionCode) -> Value {
    switch kind {
    case .boolean: return .bool(bool)
    case .integer: return .int(bool ? 1 : 0)
    case .string: return .string(bool ? "true" : "false")
    default: throw .wrongKind
    }
  }

  /// What was wrong with a cell, in words: called for a cell that is rejected, and only then.
  package func problem(_ code: ConversionCode, text: UnsafeRawBufferPointer) -> ConversionProblem {
    // 60 characters of the longest clusters that anybody writes fit into this, so that a huge cell isn't decoded whole.
    let all = String(decoding: text.prefix(1024), as: UTF8.self)
    let short = all.prefix(60)
    var expected = attribute.type.rawValue
    switch kind {
    case .isoDate: expected += " as in 2024-01-31 or 2024-01-31T12:00:00Z"
    case .unixTime: expected += " as seconds or milliseconds since 1970"
    case .datePattern: expected += " in the format \(dateFormat ?? "")"
    case .integer: expected += " (\(least) to \(greatest))"
    default: break
    }
    return ConversionProblem(
      code: code, attribute: attribute.name, expected: expected,
      text: short.count < all.count || text.count > 1024 ? "\(short)…" : String(short))
  }

  /// Without spaces and tabs at its ends.
  @inline(__always)
  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var start = 0
    var end = text.count
    while start < end, text[start] == 0x20 || text[start] == 0x09 { start &+= 1 }
    while end > start, text[end &- 1] == 0x20 || text[end &- 1] == 0x09 { end &-= 1 }
    return UnsafeRawBufferPointer(rebasing: text[start..<end])
  }
}
