import Importing

extension RecipeConfiguration {
  enum Key: String, CaseIterable {
    case store, entity, mode, lane, priority
    case maxAttempts = "max_attempts"
  }

  /// The names that a recipe may refer to; nil where the file's own are unreadable, and nothing can be said of any.
  struct Names {
    var stores: [String]?
    var lanes: [String]?
  }

  /// Nil with a problem reported.
  init?(_ entry: YAMLValue.Entry, names: Names) {
    let isNamedWell = entry.isNamedWell
    guard let section = YAMLSection<Key>(entry.value, alongside: ImportOptionKey.allCases.map(\.rawValue)) else {
      return nil
    }
    let store = section.required(.store, "the name of one of the `stores`").flatMap { value in
      names.stores.map(value.name(among:)) ?? value.text()
    }
    let entity = section.required(.entity, "the entity of the store's model that records become")?.text()
    var recipe = RecipeConfiguration(name: entry.name, store: store ?? "", entity: entity ?? "")
    if let value = section[.lane] {
      recipe.lane = (names.lanes.map(value.name(among:)) ?? value.text()) ?? recipe.lane
    }
    if let priority = section[.priority]?.integer(JobSubmission.priorityRange) { recipe.priority = priority }
    if let attempts = section[.maxAttempts]?.integer(JobSubmission.attemptsRange) { recipe.maxAttempts = attempts }
    recipe.options.mode = section[.mode]?.word(of: ImportMode.self)
    recipe.options.read(YAMLSection<ImportOptionKey>(section, partOf: entry.value))
    guard isNamedWell, store != nil, entity != nil else { return nil }
    self = recipe
  }
}
