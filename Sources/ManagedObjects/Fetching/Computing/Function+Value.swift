import Foundation

extension FetchPredicate.Function {
  /// The result of the function; nil if an argument is nil or of the wrong kind.
  ///
  /// The only implementation: the in-memory evaluator, the folding of constants and the functions that a store registers
  /// with its database all use it.
  package func value(of arguments: [Value]) -> Value {
    if isAggregate { return Aggregation.value(self, of: arguments) }
    switch (arguments.count, arguments.first, arguments.last) {
    case (1, let argument?, _): return value(of: argument)
    case (2, let first?, let second?): return value(of: first, second)
    default: return .null
    }
  }

  private func value(of argument: Value) -> Value {
    if case .string(let text) = argument {
      switch self {
      case .length: return .int(Int64(text.utf16.count))
      case .lowercase: return .string(text.lowercased())
      case .uppercase: return .string(text.uppercased())
      case .canonical: return .string(folded(text, caseInsensitive: true, diacriticInsensitive: true))
      default: return .null
      }
    }
    guard let number = Number(argument) else { return .null }
    switch self {
    case .negate: return (-number).value
    case .absolute: return number.magnitude.value
    case .ceiling: return number.rounded(.up).value
    case .floor: return number.rounded(.down).value
    case .truncate: return number.rounded(.towardZero).value
    case .squareRoot: return Number.double(number.double.squareRoot()).value
    case .exponential: return Number.double(exp(number.double)).value
    // Infinite for zero, undefined below.
    case .naturalLogarithm: return number.double > 0 ? Number.double(log(number.double)).value : .null
    case .logarithm: return number.double > 0 ? Number.double(log10(number.double)).value : .null
    case .onesComplement: return number.integer.map { .int(~$0) } ?? .null
    default: return .null
    }
  }

  private func value(of first: Value, _ second: Value) -> Value {
    if case .date(let date) = first { return value(of: date, second) }
    if case .date(let date) = second { return self == .add ? value(of: date, first) : .null }
    guard let a = Number(first), let b = Number(second) else { return .null }
    switch self {
    case .add: return (a + b).value
    case .subtract: return (a - b).value
    case .multiply: return (a * b).value
    case .divide: return (a / b).value
    case .modulus: return (a % b).value
    case .power: return Number.double(pow(a.double, b.double)).value
    default: return bits(a, b)
    }
  }

  private func bits(_ first: Number, _ second: Number) -> Value {
    guard let a = first.integer, let b = second.integer else { return .null }
    switch self {
    case .bitwiseAnd: return .int(a & b)
    case .bitwiseOr: return .int(a | b)
    case .bitwiseXor: return .int(a ^ b)
    case .leftShift: return .int(a << b)
    case .rightShift: return .int(a >> b)
    default: return .null
    }
  }

  /// A date plus or minus seconds, or the seconds between two dates, to the microsecond, as stores keep dates.
  private func value(of date: Date, _ other: Value) -> Value {
    guard self == .add || self == .subtract, let start = ISODate.microseconds(of: date) else { return .null }
    if case .date(let end) = other {
      guard self == .subtract, let end = ISODate.microseconds(of: end) else { return .null }
      let (difference, isTooLarge) = start.subtractingReportingOverflow(end)
      return .double((isTooLarge ? Double(start) - Double(end) : Double(difference)) / 1_000_000)
    }
    guard let seconds = Number(other)?.double,
      let microseconds = Int64(exactly: (seconds * 1_000_000).rounded()),
      case let (sum, overflow) = self == .add
        ? start.addingReportingOverflow(microseconds) : start.subtractingReportingOverflow(microseconds), !overflow
    else { return .null }
    return .date(ISODate.date(microseconds: sum))
  }
}

extension FetchPredicate.CastType {
  /// Microseconds from 1970 to 2001, Core Data's reference date.
  private static var reference: Int64 { 978_307_200_000_000 }

  /// The value converted to the type; nil if that is impossible.
  package func value(of value: Value) -> Value {
    switch self {
    case .number: return Self.number(value).map { $0.value } ?? .null
    case .decimal: return Self.number(value).map { Number.decimal($0.decimal).value } ?? .null
    case .string:
      if case .bool(let bool) = value { return .string(bool ? "1" : "0") }
      return value.comparisonKey.isNull ? .null : .string(Self.text(value))
    case .date:
      switch value {
      case .date: return value
      case .string(let text): return ISODate.date(parsing: text).map(Value.date) ?? .null
      default:
        guard let seconds = Number(value)?.double,
          let microseconds = Int64(exactly: (seconds * 1_000_000).rounded()), microseconds < Int64.max - Self.reference
        else { return .null }
        return .date(ISODate.date(microseconds: microseconds + Self.reference))
      }
    }
  }

  private static func number(_ value: Value) -> Number? {
    switch value {
    case .date(let date):
      return ISODate.microseconds(of: date).map { .double(Double($0 - reference) / 1_000_000) }
    case .string(let text): return Double(text).flatMap { Number(.double($0)) }
    case .decimal: return Number(value).map { .double($0.double) }
    default: return Number(value)
    }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .double(let double): return "\(double)"
    case .date(let date): return ISODate.text(of: date) ?? ""
    default: return value.plainText
    }
  }
}
