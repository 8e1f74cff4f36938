/// An aggregate being computed in memory.
struct Accumulator {
  private let function: ExpressionDescription.Aggregate
  private let type: AttributeType?
  private let isDistinct: Bool
  private var values: [Value] = []

  /// - Parameter type: of the result, nil for numbers that may be whole or fractional.
  init(_ function: ExpressionDescription.Aggregate, to type: AttributeType?, isDistinct: Bool = false) {
    self.function = function
    self.type = type
    self.isDistinct = isDistinct
  }

  /// nil for a column that isn't an aggregate.
  init?(_ column: StoreQuery.Column) {
    guard case .aggregate(let aggregate) = column else { return nil }
    self.init(aggregate.function, to: aggregate.valueType, isDistinct: aggregate.isDistinct)
  }

  /// Adds one value.
  mutating func add(_ value: Value) { values.append(value) }

  /// The aggregate of all values. Ignores nil.
  /// - Throws: ``ManagedObjectError/store(_:)`` when a sum of integers doesn't fit 64 bits.
  func result() throws -> Value {
    let counted = isDistinct ? Aggregation.distinct(values) : values
    let result = Aggregation.value(function.function, of: counted)
    if function == .sum, case .double = result, !counted.contains(where: \.isDouble) {
      throw ManagedObjectError.store(StoreFailure(.outOfRange, message: "integer overflow"))
    }
    return result.settled(as: type)
  }
}

extension Value {
  fileprivate var isDouble: Bool {
    if case .double = self { return true }
    return false
  }
}
