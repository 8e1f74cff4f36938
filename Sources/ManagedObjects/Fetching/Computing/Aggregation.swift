import Foundation

/// Aggregates of values, the same in whichever order the values come: memory has sets, and SQL any order it likes. Nil
/// among them is left out.
package enum Aggregation {
  /// The aggregate of the values. `count` is that of the values.
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
    // Neither sum is the same in any order, but sorted values have one.
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

  /// The values without those that are equal to an earlier one.
  package static func distinct(_ values: [Value]) -> [Value] {
    var known: Set<Value> = []
    return values.filter { value in
      var key = value.comparisonKey
      // Strings are told apart by their bytes, which Swift's equality doesn't do.
      if case .string(let text) = key { key = .data(Data(text.utf8)) }
      return known.insert(key).inserted
    }
  }
}
