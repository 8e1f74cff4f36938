package import Foundation
package import GRDB
package import ManagedObjects

/// The stored forms of values in SQLite, for every writer and reader of the store:
/// - integer: INTEGER; boolean: INTEGER 0 or 1; double and float: REAL, where NaN is NULL;
/// - string, URI: TEXT; UUID: TEXT in lower case; binary data and transformables: BLOB;
/// - date: see ``DateStorage``; never finer than a microsecond;
/// - decimal: see ``DecimalStorage``;
/// - object: the number of its row, INTEGER.
package enum ValueCodec {
  /// The stored form of a decimal. It is canonical, so that equal decimals are equal in SQL.
  package enum DecimalStorage: Sendable, Hashable {
    /// INTEGER: whole numbers of 64 bits.
    case integer(Int64)
    /// REAL: numbers of at most 15 digits, which survive conversion to a double and back. Also NaN, which becomes NULL.
    case real(Double)
    /// BLOB of ASCII digits with sign and point: all others.
    case digits(String)
  }

  /// How `number` is stored.
  package static func storage(of number: Decimal) -> DecimalStorage {
    if number.isNaN { return .real(.nan) }
    if let whole = number.wholeInt64 { return .integer(whole) }
    var text = number.description
    if text.utf8.contains(UInt8(ascii: ".")) {
      while text.hasSuffix("0") { text.removeLast() }
    }
    let digits = text.utf8.filter { $0 &- 0x30 < 10 }.drop { $0 == 0x30 }
    let trailing = digits.reversed().prefix { $0 == 0x30 }.count
    if digits.count - trailing <= 15, let double = Double(text), double.isFinite { return .real(double) }
    return .digits(text)
  }

  /// The stored form of a value of `attribute`.
  package static func databaseValue(of value: Value, for attribute: AttributeDescription) -> DatabaseValue {
    if case .date(let date) = value { return databaseValue(of: date, DateStorage(attribute)) }
    return databaseValue(of: value)
  }

  /// The stored form of a date. A year without an ISO form becomes text that sorts before or after all dates.
  package static func databaseValue(of date: Date, _ storage: DateStorage) -> DatabaseValue {
    switch storage {
    case .iso:
      let before = date.timeIntervalSince1970 < 0
      return (ISODate.text(of: date) ?? (before ? "" : "~")).databaseValue
    case .unix:
      switch unixSeconds(of: date) {
      case .integer(let seconds): return seconds.databaseValue
      case .real(let seconds): return seconds.databaseValue
      case .digits(let text): return text.databaseValue
      }
    }
  }

  /// Seconds from the start of 1970 to `date`, to the microsecond: an integer where they are whole, else a real.
  package static func unixSeconds(of date: Date) -> DecimalStorage {
    guard let microseconds = ISODate.microseconds(of: date) else { return .real(date.timeIntervalSince1970) }
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return rest == 0 ? .integer(seconds) : .real(Double(seconds) + Double(rest) / 1_000_000)
  }

  /// The stored form of a value, a date as text.
  static func databaseValue(of value: Value) -> DatabaseValue {
    switch value {
    case .null, .unresolved, .objects, .orderedObjects, .composite: return .null
    case .bool(let bool): return Int64(bool ? 1 : 0).databaseValue
    case .int(let integer): return integer.databaseValue
    case .double(let double): return double.isNaN ? .null : double.databaseValue
    case .decimal(let decimal):
      switch storage(of: decimal) {
      case .integer(let whole): return whole.databaseValue
      case .real(let double): return double.isNaN ? .null : double.databaseValue
      case .digits(let text): return Data(text.utf8).databaseValue
      }
    case .string(let string): return string.databaseValue
    case .date(let date): return databaseValue(of: date, .iso)
    case .data(let data): return data.databaseValue
    case .uuid(let uuid): return uuid.uuidString.lowercased().databaseValue
    case .uri(let url): return url.absoluteString.databaseValue
    case .object(let id): return id.number.databaseValue
    }
  }
}
