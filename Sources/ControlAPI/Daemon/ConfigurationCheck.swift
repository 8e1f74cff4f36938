/// What is wrong with the configuration as it is now, in all its layers: the answer of `GET /v1/config/check`.
package struct ConfigurationCheck: Codable, Sendable, Hashable {
  /// One mistake, and where. Lines and columns count from 1.
  package struct Mistake: Codable, Sendable, Hashable {
    /// The file, or the variable of the environment, that it is in.
    package var file: String?
    package var line: Int?
    package var column: Int?
    /// The key, with the keys that lead to it.
    package var key: String?
    package var message: String

    package init(
      file: String? = nil, line: Int? = nil, column: Int? = nil, key: String? = nil, message: String
    ) {
      self.file = file
      self.line = line
      self.column = column
      self.key = key
      self.message = message
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case file, line, column, key, message }
  }

  /// Its first file.
  package var path: String
  package var isGood: Bool
  /// Whether it says something else than the daemon works by.
  package var differs: Bool
  /// The changed keys that a reload would apply: `recipes.people`, `keep`.
  package var changed: [String]
  /// The keys of lanes, recipes and schedules that a reload would remove.
  package var removed: [String]
  /// The changed keys that need a restart.
  package var needsRestart: [String]
  /// The stores whose models have changed.
  package var needsMigration: [String]
  package var mistakes: [Mistake]
  /// What in the models keeps records from being imported, or has no effect.
  package var warnings: [Mistake] = []

  /// - Parameter reload: what a reload would do.
  package init(path: String, isGood: Bool, differs: Bool, reload: Reload = Reload(), mistakes: [Mistake] = []) {
    self.path = path
    self.isGood = isGood
    self.differs = differs
    changed = reload.changed
    removed = reload.removed
    needsRestart = reload.needsRestart
    needsMigration = reload.needsMigration
    self.mistakes = mistakes
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case path
    case isGood = "good"
    case differs, changed, removed
    case needsRestart = "needs_restart"
    case needsMigration = "needs_migration"
    case mistakes, warnings
  }
}

/// What came of reading the configuration again: the answer of `POST /v1/reload`.
package struct Reload: Codable, Sendable, Hashable {
  /// The changed keys that apply now: `recipes.people`, `keep`.
  package var changed: [String]
  /// The keys of lanes, recipes and schedules that are gone. One that needs a restart, too, comes back with it.
  package var removed: [String]
  /// The changed keys that need a restart, with those that stay until then because these use them.
  package var needsRestart: [String]
  /// The stores whose models have changed: each needs to be migrated, by a job or by a restart.
  package var needsMigration: [String]
  /// What in the models keeps records from being imported, or has no effect, with its place.
  package var warnings: [String] = []

  package init(
    changed: [String] = [], removed: [String] = [], needsRestart: [String] = [], needsMigration: [String] = []
  ) {
    self.changed = changed
    self.removed = removed
    self.needsRestart = needsRestart
    self.needsMigration = needsMigration
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case changed, removed
    case needsRestart = "needs_restart"
    case needsMigration = "needs_migration"
    case warnings
  }
}
