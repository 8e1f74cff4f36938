/// Matches new names with old ones.
///
/// A renaming identifier is a canonical name that stays the same through several versions, so it is looked up among the old
/// version's identifiers as well as among its names. Source: "Using Lightweight Migration" of Core Data.
struct RenamingMatch {
  /// A name with its renaming identifier.
  struct Item {
    let name: String
    let identifier: String?
  }

  /// Old names by new ones.
  private(set) var oldNames: [String: String] = [:]

  init(from old: [Item], to new: [Item]) {
    var taken: Set<String> = []
    func take(_ item: Item, _ matches: (Item) -> Bool) -> String? {
      guard let found = old.first(where: { matches($0) && !taken.contains($0.name) }) else { return nil }
      taken.insert(found.name)
      return found.name
    }
    for item in new {
      guard let identifier = item.identifier else { continue }
      oldNames[item.name] =
        take(item) { $0.identifier == identifier && $0.name == item.name } ?? take(item) { $0.identifier == identifier }
        ?? take(item) { $0.name == identifier }
    }
    for item in new where oldNames[item.name] == nil { oldNames[item.name] = take(item) { $0.name == item.name } }
    for item in new where oldNames[item.name] == nil { oldNames[item.name] = take(item) { $0.identifier == item.name } }
  }
}
