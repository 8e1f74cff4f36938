import Foundation
package import ManagedObjects

/// Converts the bytes of cells into values of one attribute's type.
///
/// Made once for an attribute, then called for every cell: the kind of conversion is one byte, nothing is looked up, and
/// nothing is allocated that the value itself doesn't need. It is a class since what has one is copied for every cell: then
/// one reference is counted, and not each of its own. The error for a cell that can't be converted is
/// one byte too; `problem(_:text:)` puts it into words.
///
/// - Spaces, tabs and line ends around the text, as in indented XML, are ignored; around strings only if a recipe says so.
/// - Text of no bytes is null, but for strings: there it is the empty text, unless the caller says otherwise.
/// - A recipe's rules for texts are in `CellRules`, and cost nothing where there are none.
/// - Validation checks whether the attribute accepts null, and its bounds; conversion doesn't.
package final class ValueConverter: Sendable {
  enum Kind: UInt8 {
    case integer, decimal, double, float, boolean, string, isoDate, unixTime, unixMillis, unixMicros, datePattern, uuid,
      uri
    /// Bytes, as base64 or as hexadecimal digits.
    case data, hexadecimal
    /// The strings between separators, as the data of a transformable attribute. With rules only.
    case list
    /// By `CellRules`, and then by `base`.
    case ruled
  }

  /// The attribute whose values are made.
  package let attribute: AttributeDescription
  let kind: Kind
  /// The kind of the values, regardless of rules.
  let base: Kind
  let emptyStringIsNull: Bool
  let least: Int64
  let greatest: Int64
  let pattern: DatePattern?
  let dateFormat: String?
  /// A recipe's rules for texts; for the kind `ruled` only.
  let rules: CellRules?

  /// A converter for `attribute`.
  ///
  /// - Parameters:
  ///   - dateFormat: for dates: nil for ISO 8601, one of ``UnixTimeUnit``, or a pattern of Unicode's TR 35; see `DatePattern`.
  ///   - emptyStringIsNull: whether text of no bytes is null for a string too.
  /// - Throws: `ConverterError`.
  package convenience init(
    attribute: AttributeDescription, dateFormat: String?, emptyStringIsNull: Bool = false
  ) throws(ConverterError) {
    try self.init(
      attribute: attribute, dateFormat: dateFormat, emptyStringIsNull: emptyStringIsNull, separator: nil)
  }

  /// A converter for `attribute`; with a separator, for an array of strings.
  convenience init(
    attribute: AttributeDescription, dateFormat: String?, emptyStringIsNull: Bool = false, separator: String?,
    bytes: PropertyRule.BinaryEncoding? = nil
  ) throws(ConverterError) {
    let (plain, pattern) = try Self.kind(of: attribute, dateFormat: dateFormat, isList: separator != nil)
    let kind = plain == .data && bytes == .hexadecimal ? Kind.hexadecimal : plain
    self.init(
      attribute: attribute, kind: kind, base: kind, emptyStringIsNull: emptyStringIsNull, pattern: pattern,
      dateFormat: dateFormat, rules: nil)
  }

  /// - Parameter rules: for the kind `ruled`.
  init(
    attribute: AttributeDescription, kind: Kind, base: Kind, emptyStringIsNull: Bool, pattern: DatePattern?,
    dateFormat: String?, rules: CellRules?, range: ClosedRange<Int64>? = nil
  ) {
    self.attribute = attribute
    self.kind = kind
    self.base = base
    self.emptyStringIsNull = emptyStringIsNull
    let range = range ?? attribute.type.integerRange
    self.least = range?.lowerBound ?? 0
    self.greatest = range?.upperBound ?? 0
    self.pattern = pattern
    self.dateFormat = dateFormat
    self.rules = rules
  }

  /// A converter of the same texts into values of a wider type; nil if the texts mean something else there.
  func widened(to type: AttributeType) -> ValueConverter? {
    let wider: Kind
    switch type {
    case .integer32, .integer64: wider = .integer
    case .decimal: wider = .decimal
    case .double: wider = .double
    case .string: wider = .string
    default: return nil
    }
    return ValueConverter(
      attribute: attribute, kind: kind == .ruled ? .ruled : wider, base: wider, emptyStringIsNull: emptyStringIsNull,
      pattern: nil, dateFormat: nil, rules: rules, range: type.integerRange)
  }

  private static func kind(
    of attribute: AttributeDescription, dateFormat: String?, isList: Bool
  ) throws(ConverterError) -> (Kind, DatePattern?) {
    switch attribute.type {
    case .integer16, .integer32, .integer64: return (.integer, nil)
    case .decimal: return (.decimal, nil)
    case .double: return (.double, nil)
    case .float: return (.float, nil)
    case .boolean: return (.boolean, nil)
    case .string: return (.string, nil)
    case .uuid: return (.uuid, nil)
    case .uri: return (.uri, nil)
    case .binaryData: return (.data, nil)
    case .date:
      switch dateFormat {
      case nil, "": return (.isoDate, nil)
      case let format?:
        switch UnixTimeUnit(rawValue: format) {
        case .seconds: return (.unixTime, nil)
        case .milliseconds: return (.unixMillis, nil)
        case .microseconds: return (.unixMicros, nil)
        case nil: return (.datePattern, try DatePattern(format, attribute: attribute.name))
        }
      }
    case .transformable where isList:
      do {
        // A transformer may still refuse the strings of a record, but it accepts strings.
        _ = try attribute.data(of: ["a", "b"])
        return (.list, nil)
      } catch {
        throw ConverterError.noList(attribute: attribute.name, reason: "\(error)")
      }
    case .transformable, .objectID, .composite, .undefined:
      throw ConverterError.unsupportedType(attribute: attribute.name, type: attribute.type)
    }
  }

  /// The value of text: a CSV field, or a JSON string without its quotes and escapes. The bytes are valid UTF-8.
  package func convert(text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    if kind == .string {
      if text.isEmpty && emptyStringIsNull { return .null }
      return .string(String(decoding: text, as: UTF8.self))
    }
    let trimmed = Self.trimmed(text)
    if trimmed.isEmpty { return kind == .ruled ? try ruled(text) : .null }
    return try value(of: trimmed, kind, whole: text)
  }

  /// The value of text that isn't empty and, unless it is a string, has no space around it.
  /// - Parameter whole: the same text with the space around it, for the rules.
  @inline(__always)
  func value(
    of text: UnsafeRawBufferPointer, _ kind: Kind, whole: UnsafeRawBufferPointer
  ) throws(ConversionCode) -> Value {
    switch kind {
    case .integer: return .int(try integer(text))
    case .decimal: return .decimal(try DecimalNotation(text).decimal(text))
    case .double: return .double(try DecimalNotation(text).double(text))
    case .float: return .double(try float(text))
    case .boolean: return .bool(try boolean(text))
    case .isoDate, .unixTime, .unixMillis, .unixMicros, .datePattern: return .date(try date(text))
    case .uuid: return .uuid(try uuid(text))
    case .uri: return .uri(try uri(text))
    case .data: return .data(try data(text))
    case .hexadecimal: return .data(try hexadecimal(text))
    case .string: return .string(String(decoding: text, as: UTF8.self))
    case .list: return try list(text)
    case .ruled: return try ruled(whole)
    }
  }

  /// The value of a JSON number, as it was written.
  ///
  /// Integers may be written as `12.0` or `1.2e1`. A string takes the number's own text. A date without a format is
  /// seconds since 1970; with a pattern, the pattern is applied to the number's digits.
  ///
  /// A recipe's notations for numbers, dates and booleans apply to texts only; a JSON number means what it means in JSON.
  /// But it may be one of the recipe's nulls or values.
  package func convert(number: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    try value(ofNumber: number, kind)
  }

  @inline(__always)
  func value(ofNumber number: UnsafeRawBufferPointer, _ kind: Kind) throws(ConversionCode) -> Value {
    switch kind {
    case .integer: return .int(try wholeNumber(number))
    case .isoDate: return .date(try instant(DecimalNotation(number).double(number)))
    case .uuid, .uri, .data, .hexadecimal, .list: throw .wrongKind
    case .ruled: return try ruled(number: number)
    default: return try value(of: number, kind, whole: number)
    }
  }

  /// The value of a JSON boolean: also 1 or 0 for an integer, and `true` or `false` for a string.
  package func convert(bool: Bool) throws(ConversionCode) -> Value {
    try value(ofBool: bool, kind)
  }

  @inline(__always)
  func value(ofBool bool: Bool, _ kind: Kind) throws(ConversionCode) -> Value {
    switch kind {
    case .boolean: return .bool(bool)
    case .integer: return .int(bool ? 1 : 0)
    case .string: return .string(bool ? "true" : "false")
    case .ruled: return try ruled(bool: bool)
    default: throw .wrongKind
    }
  }

  /// Why a cell can't be converted, in words. Called only for rejected cells.
  package func problem(_ code: ConversionCode, text: UnsafeRawBufferPointer) -> ConversionProblem {
    // Enough for 60 characters of long grapheme clusters, so that a huge cell isn't decoded completely.
    let all = String(decoding: text.prefix(1024), as: UTF8.self)
    let short = all.prefix(60)
    var expected = attribute.type.rawValue
    switch base {
    case .isoDate: expected += " as in 2024-01-31 or 2024-01-31T12:00:00Z"
    case .unixTime: expected += " as seconds since 1970 (UnixTimeMillis is for milliseconds)"
    case .unixMillis: expected += " as milliseconds since 1970"
    case .unixMicros: expected += " as microseconds since 1970"
    case .data: expected += " as base64 (hexadecimal digits need binary_encoding: hex)"
    case .hexadecimal: expected += " as hexadecimal digits"
    case .datePattern: expected += " in the format \(dateFormat ?? "")"
    case .integer: expected += " (\(least) to \(greatest))"
    default: break
    }
    if let more = rules?.expectation { expected += more }
    if code == .notANumber || code == .notAnInteger, rules?.marks == nil, NumberMarks.hasUsualUnit(all) {
      expected += "; a currency or percent sign needs unit in the recipe"
    }
    return ConversionProblem(
      code: code, attribute: attribute.name, expected: expected, words: rules?.listed(code),
      text: short.count < all.count || text.count > 1024 ? "\(short)…" : String(short))
  }

  /// The text without spaces, tabs and line ends at its ends.
  @inline(__always)
  static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var start = 0
    var end = text.count
    while start < end, isSpace(text[start]) { start &+= 1 }
    while end > start, isSpace(text[end &- 1]) { end &-= 1 }
    return UnsafeRawBufferPointer(rebasing: text[start..<end])
  }

  @inline(__always)
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }
}

// MARK: Spreadsheets

extension ValueConverter {
  /// The value of a spreadsheet's number. It is as one of JSON, but never a date: a date has the style of one.
  package func convert(quantity number: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard base == .isoDate else { return try value(ofNumber: number, kind) }
    if let value = try rules?.value(of: number) { return value }
    throw .notADate
  }

  /// The value of a spreadsheet's date, in ISO 8601 without a zone: also where texts have another format.
  package func convert(date text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    switch base {
    case .isoDate, .unixTime, .unixMillis, .unixMicros, .datePattern:
      if let value = try rules?.value(of: text) { return value }
      return .date(try isoDate(text))
    default: return try convert(text: text)
    }
  }

  /// The value of a spreadsheet's error, or formula without a value: one that a recipe gives it, such as null.
  package func convert(fault text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    if let value = try rules?.value(of: text) { return value }
    throw text.first == UInt8(ascii: "=") ? .formulaWithoutValue : .cellError
  }
}

// MARK: Flat rows

extension ValueConverter {
  /// Converts a cell into a slot of the row that was begun.
  /// - Parameter keepsNull: whether null leaves what the row has already.
  @inline(__always)
  func convert(
    _ cell: Cell, _ bytes: UnsafeRawBufferPointer, into rows: NewRows, _ slot: Int, keepsNull: Bool
  ) throws(ConversionCode) {
    switch cell.kind {
    case .text: try convert(text: bytes, into: rows, slot, keepsNull: keepsNull)
    case .missing: break
    case .empty, .null: if !keepsNull { rows.setNull(slot) }
    case .number: set(try convert(number: bytes), in: rows, slot, keepsNull: keepsNull)
    case .yes: set(try convert(bool: true), in: rows, slot, keepsNull: keepsNull)
    case .no: set(try convert(bool: false), in: rows, slot, keepsNull: keepsNull)
    case .nested: set(try convert(nested: bytes), in: rows, slot, keepsNull: keepsNull)
    case .quantity: set(try convert(quantity: bytes), in: rows, slot, keepsNull: keepsNull)
    case .date: set(try convert(date: bytes), in: rows, slot, keepsNull: keepsNull)
    case .fault: set(try convert(fault: bytes), in: rows, slot, keepsNull: keepsNull)
    }
  }

  @inline(__always)
  private func set(_ value: Value, in rows: NewRows, _ slot: Int, keepsNull: Bool) {
    if keepsNull, value.isNull { return }
    rows.set(slot, value)
  }

  /// Like ``convert(text:)``, but without making a value where the row can take the text's meaning directly.
  @inline(__always)
  private func convert(
    text: UnsafeRawBufferPointer, into rows: NewRows, _ slot: Int, keepsNull: Bool
  ) throws(ConversionCode) {
    if kind == .string {
      if !text.isEmpty || !emptyStringIsNull { rows.set(slot, text: text) } else if !keepsNull { rows.setNull(slot) }
      return
    }
    let trimmed = Self.trimmed(text)
    if trimmed.isEmpty, kind != .ruled {
      if !keepsNull { rows.setNull(slot) }
      return
    }
    switch kind {
    case .integer: rows.set(slot, int: try integer(trimmed))
    case .double: rows.set(slot, double: try DecimalNotation(trimmed).double(trimmed))
    case .boolean: rows.set(slot, bool: try boolean(trimmed))
    case .isoDate:
      rows.set(slot, microseconds: try isoMicroseconds(trimmed))
    default: set(try convert(text: text), in: rows, slot, keepsNull: keepsNull)
    }
  }
}
