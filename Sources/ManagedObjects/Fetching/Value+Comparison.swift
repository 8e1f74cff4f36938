import Foundation

/// How values compare in predicates and sorts. See ``FetchPredicate`` for the rules.
extension Value {
  /// A normal form with which values that compare as equal are `==` and hash alike: whole numbers are integers, dates are
  /// microseconds, NaN is nil. Strings are the exception, since Swift compares them by canonical equivalence.
  var comparisonKey: Value {
    switch self {
    case .null, .int, .string, .data, .uuid, .object, .objects, .orderedObjects, .composite: return self
    case .unresolved: return .null
    case .bool(let bool): return .int(bool ? 1 : 0)
    case .double(let double):
      if double.isNaN { return .null }
      return Int64(exactly: double).map(Value.int) ?? self
    case .decimal(let decimal):
      if decimal.isNaN { return .null }
      if let integer = decimal.wholeInt64 { return .int(integer) }
      let double = Double(decimal.description) ?? .nan
      return Decimal(string: "\(double)") == decimal ? .double(double) : self
    case .date(let date):
      return ISODate.microseconds(of: date).map(Value.int) ?? .double(date.timeIntervalSince1970 * 1_000_000)
    case .uri(let url): return .string(url.absoluteString)
    }
  }

  /// Whether both are the same value; nil equals nil.
  func isEqualForPredicates(to other: Value) -> Bool {
    switch (self, other) {
    case (.int(let a), .int(let b)): return a == b
    case (.string(let a), .string(let b)): return UTF8Order.areEqual(a, b)
    case (.null, .null): return true
    case (.object(let a), .object(let b)): return a == b
    default:
      let (a, b) = (comparisonKey, other.comparisonKey)
      if case .string(let first) = a, case .string(let second) = b { return UTF8Order.areEqual(first, second) }
      if a == b { return true }
      return a.orderOfKeys(b) == 0
    }
  }

  /// Less than, equal to or greater than 0 as the value comes before, with or after the other; nil if one is nil or
  /// the two can't be compared.
  func order(to other: Value) -> Int? {
    switch (self, other) {
    case (.int(let a), .int(let b)): return a < b ? -1 : a == b ? 0 : 1
    case (.string(let a), .string(let b)): return UTF8Order.compare(a, b)
    case (.object(let a), .object(let b)): return a.number < b.number ? -1 : a.number == b.number ? 0 : 1
    default: return comparisonKey.orderOfKeys(other.comparisonKey)
    }
  }

  private func orderOfKeys(_ other: Value) -> Int? {
    switch (self, other) {
    case (.int(let a), .int(let b)): return a < b ? -1 : a == b ? 0 : 1
    case (.double(let a), .double(let b)): return a < b ? -1 : a == b ? 0 : 1
    case (.int(let a), .double(let b)): return Self.order(a, b)
    case (.double(let a), .int(let b)): return -Self.order(b, a)
    case (.decimal(let a), .int(let b)): return Self.order(a, Decimal(b))
    case (.int(let a), .decimal(let b)): return Self.order(Decimal(a), b)
    case (.decimal(let a), .decimal(let b)): return Self.order(a, b)
    case (.decimal(let a), .double(let b)): return Self.order(a, b)
    case (.double(let a), .decimal(let b)): return -Self.order(b, a)
    case (.string(let a), .string(let b)): return UTF8Order.compare(a, b)
    case (.uuid(let a), .uuid(let b)): return a < b ? -1 : a == b ? 0 : 1
    default: return nil
    }
  }

  /// An integer and a double by their exact values, as SQLite compares them.
  private static func order(_ integer: Int64, _ double: Double) -> Int {
    if double >= 0x1p63 { return -1 }
    if double < -0x1p63 { return 1 }
    let whole = Int64(double)
    if integer != whole { return integer < whole ? -1 : 1 }
    let rest = double - Double(whole)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }

  private static func order(_ a: Decimal, _ b: Decimal) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  /// A decimal and a double. The double counts as its shortest decimal representation: 0.1 is 0.1.
  private static func order(_ decimal: Decimal, _ double: Double) -> Int {
    if let other = Decimal(string: "\(double)"), !other.isNaN { return order(decimal, other) }
    let approximate = Double(decimal.description) ?? 0
    return approximate < double ? -1 : approximate == double ? 0 : 1
  }
}

extension Decimal {
  /// The decimal as a 64-bit integer, nil if it isn't whole or doesn't fit.
  package var wholeInt64: Int64? {
    if isNaN { return nil }
    if exponent >= 0 || magnitudeIsWhole { return Int64(description) }
    return nil
  }

  private var magnitudeIsWhole: Bool {
    var value = self
    var rounded = Decimal()
    NSDecimalRound(&rounded, &value, 0, .plain)
    return rounded == value
  }
}
