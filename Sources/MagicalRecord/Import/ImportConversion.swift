import Foundation
import ManagedObjects

/// Converts data to attribute values. Belongs to one import, and is used on its context's queue.
final class ImportConversion {
  private var formatters: [String: DateFormatter] = [:]

  /// The value of an attribute.
  /// - Throws: ``MagicalImportError``.
  func value(_ data: ImportedValue, for attribute: AttributeDescription) throws -> Value {
    if data.isNull { return .null }
    let value: Value?
    switch attribute.type {
    case .integer16, .integer32, .integer64: value = integer(data).map(Value.int)
    case .boolean: value = boolean(data).map(Value.bool)
    case .double, .float: value = double(data).map(Value.double)
    case .decimal: value = decimal(data).map(Value.decimal)
    case .string: value = text(data).map(Value.string)
    case .date: return .date(try date(data, for: attribute))
    case .binaryData: value = text(data).flatMap { Data(base64Encoded: $0) }.map(Value.data)
    case .uuid: value = text(data).flatMap(UUID.init(uuidString:)).map(Value.uuid)
    case .uri: value = text(data).flatMap(URL.init(string:)).map(Value.uri)
    case .transformable:
      // Data of a Codable type is JSON already; the format of other transformers isn't known here.
      value = attribute.isCodable ? .data(try CodableData.encode(data)) : nil
    case .objectID, .composite, .undefined: value = nil
    }
    guard let value, value.fits(attribute.type) else { throw unfit(data, attribute) }
    return value
  }

  private func unfit(_ data: ImportedValue, _ attribute: AttributeDescription) -> MagicalImportError {
    .unfit(
      entity: attribute.entity.name, attribute: attribute.name, type: attribute.type.rawValue, value: data.shown)
  }

  private func integer(_ data: ImportedValue) -> Int64? {
    switch data {
    case .int(let int): return int
    case .bool(let bool): return bool ? 1 : 0
    case .decimal(let decimal): return decimal.wholeInt64
    case .string(let text):
      return Int64(text.trimmingCharacters(in: .whitespaces))
        ?? number(in: text).flatMap { Decimal(string: $0)?.wholeInt64 }
    case .null, .array, .object: return nil
    }
  }

  private func boolean(_ data: ImportedValue) -> Bool? {
    switch data {
    case .bool(let bool): return bool
    case .int(let int): return int != 0
    case .decimal(let decimal): return decimal != 0
    case .string(let text):
      switch text.trimmingCharacters(in: .whitespaces).lowercased() {
      case "true", "yes", "y", "t", "1": return true
      case "false", "no", "n", "f", "0": return false
      default: return nil
      }
    case .null, .array, .object: return nil
    }
  }

  private func double(_ data: ImportedValue) -> Double? {
    switch data {
    case .int(let int): return Double(int)
    // By its digits: a decimal's own conversion loses the last digit.
    case .decimal(let decimal): return Double(decimal.description)
    case .bool(let bool): return bool ? 1 : 0
    case .string(let text): return number(in: text).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    case .null, .array, .object: return nil
    }
  }

  private func decimal(_ data: ImportedValue) -> Decimal? {
    switch data {
    case .int(let int): return Decimal(int)
    case .decimal(let decimal): return decimal
    case .bool(let bool): return bool ? 1 : 0
    case .string(let text): return number(in: text).flatMap { Decimal(string: $0) }
    case .null, .array, .object: return nil
    }
  }

  /// The text without spaces around it, if all of it is a number in decimal notation. Foundation's `Decimal` reads `12 apples`
  /// as 12 and `0x10` as 0; `Double` reads hexadecimal numbers and `nan`.
  private func number(in text: String) -> String? {
    let text = text.trimmingCharacters(in: .whitespaces)
    return text.wholeMatch(of: /[+\-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+\-]?[0-9]{1,3})?/) == nil ? nil : text
  }

  private func text(_ data: ImportedValue) -> String? {
    switch data {
    case .string(let text): return text
    case .int(let int): return "\(int)"
    case .decimal(let decimal): return decimal.description
    case .bool(let bool): return bool ? "true" : "false"
    case .null, .array, .object: return nil
    }
  }

  /// Numbers are seconds since 1970 unless the format names another unit. `UnixTime` means milliseconds, as in MagicalRecord.
  private func date(_ data: ImportedValue, for attribute: AttributeDescription) throws -> Date {
    let format = attribute.userInfo["dateFormat"]
    var unit: UnixTimeUnit? = .seconds
    if let format { unit = format == UnixTimeUnit.seconds.rawValue ? .milliseconds : UnixTimeUnit(rawValue: format) }
    if let unit, let count = number(data, isTextToo: format != nil) {
      return Date(timeIntervalSince1970: count / Double(unit.perSecond))
    }
    guard let text = text(data) else { throw unfit(data, attribute) }
    if let format, unit == nil {
      if let date = formatter(format).date(from: text) { return date }
    } else if format == nil, let date = ISODate.date(parsing: text) {
      return date
    }
    throw MagicalImportError.date(
      entity: attribute.entity.name, attribute: attribute.name, format: format ?? "yyyy-MM-dd'T'HH:mm:ss'Z'",
      value: data.shown)
  }

  private func number(_ data: ImportedValue, isTextToo: Bool) -> Double? {
    switch data {
    case .int, .decimal: return double(data)
    case .string: return isTextToo ? double(data) : nil
    case .null, .bool, .array, .object: return nil
    }
  }

  private func formatter(_ format: String) -> DateFormatter {
    if let known = formatters[format] { return known }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = format
    formatters[format] = formatter
    return formatter
  }
}

extension ImportedValue {
  /// The value in a message, cut to one line.
  var shown: String {
    let whole: String
    switch self {
    case .null: return "null"
    case .bool(let bool): return bool ? "true" : "false"
    case .int(let int): return "\(int)"
    case .decimal(let decimal): return decimal.description
    case .string(let text): whole = "\"\(text)\""
    case .array(let elements): return "a list of \(elements.count)"
    case .object(let values): whole = "an object with " + values.keys.sorted().joined(separator: ", ")
    }
    return whole.count > 80 ? whole.prefix(79) + "…" : whole
  }
}
