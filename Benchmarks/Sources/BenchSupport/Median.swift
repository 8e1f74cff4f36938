extension Collection where Element == Double {
  /// The middle value; of an even number of values the mean of the two in the middle; nil of none.
  package var median: Double? {
    let ordered = sorted()
    guard let upper = ordered.indices.contains(count / 2) ? ordered[count / 2] : nil else { return nil }
    return count.isMultiple(of: 2) ? (ordered[count / 2 - 1] + upper) / 2 : upper
  }
}
