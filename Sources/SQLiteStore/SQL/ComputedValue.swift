import Foundation
import GRDB
import ManagedObjects

/// Values in the form that computed ones have in SQL; see ``QueryBuilder/expression(_:)``.
enum ComputedValue {
  /// The letter by which `lade_call` and `lade_cast` know the kind of an argument.
  static func letter(of expression: ResolvedExpression) -> String {
    switch expression.kind {
    case .number?: return expression.isDecimal ? "d" : "n"
    case .date?: return "t"
    case .uuid?: return "u"
    case .uri?: return "l"
    case .data?: return "b"
    case .string?, .object?, .opaque?, nil: return "s"
    }
  }

  /// The value that stands for `stored`, which is of the kind of that letter.
  static func value(of stored: DatabaseValue, _ letter: Character) -> Value {
    switch (letter, stored.storage) {
    case ("d", .int64(let integer)): return .decimal(Decimal(integer))
    case ("d", .double(let double)): return Decimal(string: "\(double)").map(Value.decimal) ?? .null
    case ("d", .blob(let digits)):
      return Decimal(string: String(decoding: digits, as: UTF8.self)).map(Value.decimal) ?? .null
    case ("t", .int64(let microseconds)): return .date(ISODate.date(microseconds: microseconds))
    case ("t", .double(let microseconds)): return .date(Date(timeIntervalSince1970: microseconds / 1_000_000))
    case ("u", .string(let text)): return UUID(uuidString: text).map(Value.uuid) ?? .null
    case ("l", .string(let text)): return URL(string: text).map(Value.uri) ?? .null
    case (_, .int64(let integer)): return .int(integer)
    case (_, .double(let double)): return .double(double)
    case (_, .string(let text)): return .string(text)
    case (_, .blob(let data)): return .data(data)
    case (_, .null): return .null
    }
  }

  /// The form of a value. Objects have the numbers of their rows.
  static func databaseValue(of value: Value) -> DatabaseValue {
    if case .date(let date) = value {
      return ISODate.microseconds(of: date)?.databaseValue ?? (date.timeIntervalSince1970 * 1_000_000).databaseValue
    }
    return ValueCodec.databaseValue(of: value)
  }
}
