extension Value {
  /// Whether both are the same in a store, which keeps dates to the microsecond and no NaN.
  package func isStoredAlike(_ other: Value) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.date, .date), (.double, .double), (.double, .null), (.null, .double), (.decimal, .decimal),
      (.decimal, .null),
      (.null, .decimal):
      return comparisonKey == other.comparisonKey
    default: return false
    }
  }
}
