/// What is known of a column after its file was read once.
struct ColumnProfile {
  /// Whether no value comes twice.
  enum Uniqueness: Hashable {
    case unique, repeated
    /// There were more values than could be remembered.
    case undetermined
  }

  let name: String
  var types = ColumnTypes()
  /// Records with a value.
  var present: Int64 = 0
  /// Values with spaces or tabs around them.
  var padded: Int64 = 0
  /// Values that are nothing but spaces: text as it stands, nothing for every other type.
  var blank: Int64 = 0
  /// JSON objects and arrays.
  var nested: Int64 = 0
  /// In bytes of UTF-8.
  var leastLength = Int.max
  var greatestLength = 0
  /// The first few different values, cut where they are long.
  var examples: [String] = []
  private(set) var uniqueness = Uniqueness.unique
  /// The hashes of its values while they are unique; of one whose values come again, its first few thousand.
  var keys: KeySet
  /// Whether ``keys`` are all the different values that it has.
  private(set) var knowsAllValues = true

  /// A column of repeated values is remembered up to so many different ones.
  static let repeatedLimit = 4_096

  init(_ name: String, budget: HashBudget) {
    self.name = name
    keys = KeySet(budget)
  }

  /// How many different values there are; nil when there are more than were remembered.
  var distinct: Int? { knowsAllValues ? keys.count : nil }

  /// Takes in a value's hash.
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

  /// Says that it is no key, since its values couldn't be compared as a store compares them.
  mutating func setUndetermined() {
    if uniqueness == .unique { uniqueness = .undetermined }
  }

  private mutating func forgetValues() {
    knowsAllValues = false
    keys.removeAll()
  }
}
