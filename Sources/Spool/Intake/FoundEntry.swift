/// An entry that a rescan found, in the order of taking: by time of its last change, then by name.
struct FoundEntry: Comparable, Sendable {
  let modified: Int64
  let recipe: String?
  let name: FileName

  static func < (left: FoundEntry, right: FoundEntry) -> Bool {
    if left.modified != right.modified { return left.modified < right.modified }
    if left.name != right.name { return left.name < right.name }
    return (left.recipe ?? "") < (right.recipe ?? "")
  }

  static func == (left: FoundEntry, right: FoundEntry) -> Bool {
    left.modified == right.modified && left.name == right.name && left.recipe == right.recipe
  }
}
