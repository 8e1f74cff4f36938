/// A column's statistics after the first reading of its file.
struct ColumnProfile {
  /// Whether its values are unique.
  enum Uniqueness: Hashable {
    case unique, repeated
    /// There were more values than the budget allows.
    case undetermined
  }

  let name: String
  var types = ColumnTypes()
  /// Records with a value.
  var present: Int64 = 0
  /// Values with spaces or tabs around them.
  var padded: Int64 = 0
  /// Values of spaces only: text as they are, nothing for every other type.
  var blank: Int64 = 0
  /// JSON objects and arrays.
  var nested: Int64 = 0
  /// In bytes of UTF-8.
  var leastLength = Int.max
  var greatestLength = 0
  /// The first few different values, cut where they are long.
  var examples: [String] = []
  private(set) var uniqueness = Uniqueness.unique
  /// The hashes of its values while they are unique; once a value is repeated, the first few thousand.
  var keys: KeySet
  /// Whether ``keys`` has all its distinct values.
  private(set) var knowsAllValues = true

  /// The distinct values remembered of a column with repeated values.
  static let repeatedLimit = 4_096

  init(_ name: String, budget: HashBudget) {
    self.name = name
    keys = KeySet(budget)
  }

  /// The number of distinct values; nil if there are more than were remembered.
  var distinct: Int? { knowsAllValues ? keys.count : nil }

  /// Adds a value's hash.
  mutating func note(hash: UInt64, limit: Int) {
    guard knowsAllValues else { return }
    let limit = uniqueness == .repeated ? min(limit, Self.repeatedLimit) : limit
    switch keys.count < limit ? keys.insert(hash) : keys.contains(hash) ? .known : .full {
    case .new: break
    case .known:
      if uniqueness == .unique {
        uniqueness = .repeated
        if keys.count > Self.repeatedLimit { forgetValues() }
      }
    case .full:
      if uniqueness == .unique { uniqueness = .undetermined }
      forgetValues()
    }
  }

  private mutating func forgetValues() {
    knowsAllValues = false
    keys.removeAll()
  }
}
