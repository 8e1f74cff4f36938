import Foundation

/// A number in an expression. Integers stay integers while they fit, otherwise they become doubles; a decimal operand makes
/// the result decimal. These are the rules of SQL, so that a store's own operators agree.
enum Number {
  case int(Int64)
  case double(Double)
  case decimal(Decimal)

  /// Nil for values that aren't numbers, including NaN.
  init?(_ value: Value) {
    switch value {
    case .int(let integer): self = .int(integer)
    case .bool(let bool): self = .int(bool ? 1 : 0)
    case .double(let double) where !double.isNaN: self = .double(double)
    case .decimal(let decimal) where !decimal.isNaN: self = .decimal(decimal)
    default: return nil
    }
  }

  /// The number as a value; nil for NaN.
  var value: Value {
    switch self {
    case .int(let integer): return .int(integer)
    case .double(let double): return double.isNaN ? .null : .double(double)
    case .decimal(let decimal): return decimal.isNaN ? .null : .decimal(decimal)
    }
  }

  var double: Double {
    switch self {
    case .int(let integer): return Double(integer)
    case .double(let double): return double
    case .decimal(let decimal): return Double(decimal.description) ?? .nan
    }
  }

  /// A double by its shortest digits.
  var decimal: Decimal {
    switch self {
    case .int(let integer): return Decimal(integer)
    case .double(let double): return Decimal(string: "\(double)") ?? .nan
    case .decimal(let decimal): return decimal
    }
  }

  /// The integer, truncated towards zero; nil if it doesn't fit.
  var integer: Int64? {
    switch self {
    case .int(let integer): return integer
    case .double(let double): return Int64(exactly: double.rounded(.towardZero))
    case .decimal(let decimal): return decimal.rounded(.towardZero).wholeInt64
    }
  }

  private var isDecimal: Bool {
    if case .decimal = self { return true }
    return false
  }

  // MARK: Arithmetic

  /// Applies the operation for the common type of both numbers.
  private static func combine(
    _ a: Number, _ b: Number, _ integers: (Int64, Int64) -> Number, _ doubles: (Double, Double) -> Double,
    _ decimals: (Decimal, Decimal) -> Decimal
  ) -> Number {
    if a.isDecimal || b.isDecimal {
      let (first, second) = (a.decimal, b.decimal)
      return .decimal(first.isNaN || second.isNaN ? .nan : decimals(first, second))
    }
    if case .int(let first) = a, case .int(let second) = b { return integers(first, second) }
    return .double(doubles(a.double, b.double))
  }

  private static func checked(_ result: (partialValue: Int64, overflow: Bool), _ otherwise: Double) -> Number {
    result.overflow ? .double(otherwise) : .int(result.partialValue)
  }

  static func + (a: Number, b: Number) -> Number {
    combine(a, b, { checked($0.addingReportingOverflow($1), Double($0) + Double($1)) }, +, +)
  }

  static func - (a: Number, b: Number) -> Number {
    combine(a, b, { checked($0.subtractingReportingOverflow($1), Double($0) - Double($1)) }, -, -)
  }

  static func * (a: Number, b: Number) -> Number {
    combine(a, b, { checked($0.multipliedReportingOverflow(by: $1), Double($0) * Double($1)) }, *, *)
  }

  static func / (a: Number, b: Number) -> Number {
    combine(
      a, b, { $1 == 0 ? .double(.nan) : checked($0.dividedReportingOverflow(by: $1), Double($0) / Double($1)) },
      { $1 == 0 ? .nan : $0 / $1 }, { $1 == 0 ? .nan : $0 / $1 })
  }

  static func % (a: Number, b: Number) -> Number {
    combine(
      a, b, { $1 == 0 ? .double(.nan) : .int($1 == -1 ? 0 : $0 % $1) },
      { $1 == 0 ? .nan : $0.truncatingRemainder(dividingBy: $1) },
      { $1 == 0 ? .nan : $0 - ($0 / $1).rounded(.towardZero) * $1 })
  }

  static prefix func - (a: Number) -> Number {
    switch a {
    case .int(let integer): return checked(Int64(0).subtractingReportingOverflow(integer), -Double(integer))
    case .double(let double): return .double(-double)
    case .decimal(let decimal): return .decimal(-decimal)
    }
  }

  var magnitude: Number {
    switch self {
    case .int(let integer): return integer < 0 ? -self : self
    case .double(let double): return .double(Swift.abs(double))
    case .decimal(let decimal): return decimal < 0 ? -self : self
    }
  }

  func rounded(_ rule: FloatingPointRoundingRule) -> Number {
    switch self {
    case .int: return self
    case .double(let double): return .double(double.rounded(rule))
    case .decimal(let decimal): return .decimal(decimal.rounded(rule))
    }
  }
}

extension Decimal {
  /// The number rounded up, down or towards zero.
  func rounded(_ rule: FloatingPointRoundingRule) -> Decimal {
    if isNaN { return self }
    var (value, result) = (self, Decimal())
    switch rule {
    case .up: NSDecimalRound(&result, &value, 0, .up)
    case .down: NSDecimalRound(&result, &value, 0, .down)
    default: NSDecimalRound(&result, &value, 0, self < 0 ? .up : .down)
    }
    return result
  }
}
