/// The entries that events named, in the order of the events, each once. Bounded, so that a flood of events costs no memory:
/// a scan finds the rest.
struct PendingEntries {
  struct Key: Hashable {
    let recipe: String?
    let name: FileName
  }

  static let limit = 4096
  private(set) var keys: [Key] = []
  private(set) var triggers: [Key: SpoolTrigger] = [:]

  /// Returns false if there was no room.
  mutating func add(_ name: FileName, recipe: String?, _ trigger: SpoolTrigger) -> Bool {
    let key = Key(recipe: recipe, name: name)
    if let earlier = triggers[key] {
      if case .finished = earlier { return true }
      triggers[key] = trigger
      return true
    }
    guard keys.count < PendingEntries.limit else { return false }
    keys.append(key)
    triggers[key] = trigger
    return true
  }

  func contains(_ entry: FoundEntry) -> Bool { triggers[Key(recipe: entry.recipe, name: entry.name)] != nil }
}
