import Foundation

/// Aggregates that don't depend on the order of the values, since sets in memory and rows in SQL have none. They ignore
/// nil.
package enum Aggregation {
  /// The aggregate of the values. `count` counts values that aren't nil.
  package static func value(_ function: FetchPredicate.Function, of values: [Value]) -> Value {
    switch function {
    case .count: return .int(Int64(values.count { !$0.comparisonKey.isNull }))
    case .sum: return sum(values.compactMap(Number.init)).value
    case .average: return average(values.compactMap(Number.init)).value
    case .minimum: return extreme(values) { $0 < 0 }
    case .maximum: return extreme(values) { $0 > 0 }
    default: return .null
    }
  }

  private static func extreme(_ values: [Value], _ isBetter: (Int) -> Bool) -> Value {
    var best = Value.null
    for value in values where !value.comparisonKey.isNull {
      if best.isNull || isBetter(value.order(to: best) ?? 0) { best = value }
    }
    return best
  }

  private static func sum(_ numbers: [Number]) -> Number {
    var (whole, doubles, decimals) = (Int128(0), [Double](), [Decimal]())
    for number in numbers {
      switch number {
      case .int(let integer): whole += Int128(integer)
      case .double(let double): doubles.append(double)
      case .decimal(let decimal): decimals.append(decimal)
      }
    }
    let integers = Int64(exactly: whole).map(Number.int) ?? .double(Double(whole))
    // Floating-point sums depend on the order, so sort first.
    if !decimals.isEmpty {
      decimals.sort()
      for double in doubles.sorted() { decimals.append(Number.double(double).decimal) }
      return decimals.reduce(integers) { $0 + .decimal($1) }
    }
    if doubles.isEmpty { return integers }
    return .double(doubles.sorted().reduce(integers.double, +))
  }

  private static func average(_ numbers: [Number]) -> Number {
    if numbers.isEmpty { return .double(.nan) }
    let sum = sum(numbers)
    if case .decimal = sum { return sum / .int(Int64(numbers.count)) }
    return .double(sum.double / Double(numbers.count))
  }

  /// The values without duplicates.
  package static func distinct(_ values: [Value]) -> [Value] {
    var known: Set<Value> = []
    return values.filter { value in
      var key = value.comparisonKey
      // Strings are distinct by their bytes; Swift's equality goes by canonical equivalence.
      if case .string(let text) = key { key = .data(Data(text.utf8)) }
      return known.insert(key).inserted
    }
  }
}
