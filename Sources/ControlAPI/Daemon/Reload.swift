/// What came of reading the configuration again: the answer of `POST /v1/reload`.
package struct Reload: Codable, Sendable, Hashable {
  /// The keys that say something else than before, and are in force now: `recipes.people`, `keep`.
  package var changed: [String]
  /// Those that say something else than the daemon works by, and will be in force when it is started again.
  package var needsRestart: [String]

  package init(changed: [String] = [], needsRestart: [String] = []) {
    self.changed = changed
    self.needsRestart = needsRestart
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case changed
    case needsRestart = "needs_restart"
  }
}
