/// A key for grouping, equal when a store puts the values in one group: nil equals nil, numbers compare by value, strings by
/// their bytes.
struct GroupKey: Hashable {
  private let values: [Value]

  init(_ values: some Sequence<Value>) {
    self.values = values.map(\.comparisonKey)
  }
}
