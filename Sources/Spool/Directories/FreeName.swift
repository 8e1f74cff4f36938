/// Names that aren't taken: `name`, `name.2`, `name.3` and so on.
enum FreeName {
  static func numbered(_ name: String, _ number: Int) -> String {
    number == 1 ? name : "\(name).\(number)"
  }

  /// A number whose name is free, from 1. It costs the logarithm of how many are taken, for somebody may hand in the same
  /// name a hundred thousand times; the smallest there is, unless some were removed.
  static func number(isTaken: (Int) throws -> Bool) rethrows -> Int {
    var (taken, free) = (0, 1)
    while try isTaken(free) { (taken, free) = (free, free * 2) }
    while free - taken > 1 {
      let middle = taken + (free - taken) / 2
      if try isTaken(middle) { taken = middle } else { free = middle }
    }
    return free
  }
}
