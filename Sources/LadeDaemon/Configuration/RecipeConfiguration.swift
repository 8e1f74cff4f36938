import ControlAPI
package import Importing
import Jobs

/// What is done with files of the hot folder that has the recipe's name.
package struct RecipeConfiguration: Sendable, Equatable {
  package var name: String
  /// The name of a store of the configuration.
  package var store: String
  package var entity: String
  /// The name of a lane of the configuration.
  package var lane = LaneConfiguration.defaultName
  /// Higher goes first.
  package var priority = 0
  /// How often a job is tried, the first time included.
  package var maxAttempts = 5
  /// How the file is read and its records are imported.
  package var options = ImportOptions()
  /// When its files are to come, and with how much; nil where nothing is expected.
  package var expectation: RecipeExpectation?
  /// Whether a client has saved it. It takes no mask off that other recipes have.
  package var isSaved = false

  package init(name: String, store: String, entity: String) {
    self.name = name
    self.store = store
    self.entity = entity
  }
}

extension RecipeConfiguration {
  enum Key: String, CaseIterable {
    case store, entity, mode, lane, priority, expect
    case maxAttempts = "max_attempts"
  }

  /// The names that a recipe may refer to; nil where the file's own are unreadable, and nothing can be said of any.
  struct Names {
    var stores: [String]?
    var lanes: [String]?
    /// Whether hot folders are seen by several hosts.
    var takesSharedEntries = false
  }

  /// Nil with a problem reported.
  /// - Parameter timeZone: of calendar expressions that name none.
  init?(_ entry: YAMLValue.Entry, names: Names, timeZone: CalendarZone) {
    var isNamedWell = entry.isNamedWell
    if Recipe.takenNames.contains(entry.name) {
      let problem = "the HTTP interface has `/v1/recipes/\(entry.name)` for something else: choose another name"
      entry.report(.wrongValue(key: entry.value.key, value: entry.name, problem: problem))
      isNamedWell = false
    }
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
    recipe.isSaved = entry.places.contains { $0.reader.isSaved }
    recipe.expectation = section[.expect].flatMap { RecipeExpectation($0, in: timeZone) }
    recipe.options.mode = section[.mode]?.word(of: ImportMode.self)
    let options = YAMLSection<ImportOptionKey>(section, partOf: entry.value)
    recipe.options.read(options)
    if let set = recipe.options.set, set.members.isEmpty {
      options[.set]?.conflict("a hot folder doesn't know a set without `of`, the patterns of its files")
    }
    if recipe.options.set != nil, names.takesSharedEntries {
      options[.set]?.conflict("`queue.incoming` is a folder of several hosts, from which only single files are taken")
    }
    if recipe.options.from != nil {
      for key in ImportOptionKey.allCases where key.isOfReading || key == .set || key == .skipKnownFiles {
        options[key]?.conflict("`from` says what is read")
      }
    }
    guard isNamedWell, store != nil, entity != nil else { return nil }
    self = recipe
  }
}
