/// The right side of `IN`: its values as a set to search, and in their order.
package struct ResolvedList: Sendable {
  /// The values without nil, each of the property's type.
  package let values: [Value]
  /// Whether nil is among them.
  package let containsNull: Bool
  private let keys: Set<Value>

  init(_ all: [Value]) {
    values = all.filter { !$0.comparisonKey.isNull }
    containsNull = values.count < all.count
    keys = Set(values.map(\.comparisonKey))
  }

  /// Whether `value` is one of them.
  package func contains(_ value: Value) -> Bool {
    let key = value.comparisonKey
    if key.isNull { return containsNull }
    return keys.contains(key)
  }
}
