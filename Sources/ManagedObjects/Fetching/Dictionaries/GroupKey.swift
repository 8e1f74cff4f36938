/// Values that are equal when a store groups them together: nil with nil, numbers by value, strings by their bytes.
struct GroupKey: Hashable {
  private let values: [Value]

  init(_ values: some Sequence<Value>) {
    self.values = values.map(\.comparisonKey)
  }
}
