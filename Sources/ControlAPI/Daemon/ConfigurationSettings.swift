/// What the files and variables of a configuration say together: the answer of `GET /v1/config`. Defaults aren't listed.
package struct ConfigurationSettings: Codable, Sendable, Hashable {
  /// A key with its value, and the layer that says it.
  package struct Setting: Codable, Sendable, Hashable {
    /// The keys that lead to it, with dots between: `recipes.people.store`.
    package var key: String
    /// The value as YAML on one line; of a secret, that it is one.
    package var value: String
    /// The file, or the variable of the environment.
    package var file: String
    /// From 1; nil for a variable.
    package var line: Int?

    package init(key: String, value: String, file: String, line: Int? = nil) {
      self.key = key
      self.value = value
      self.file = file
      self.line = line
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case key, value, file, line }
  }

  /// The files and variables, of which later ones win.
  package var layers: [String]
  package var settings: [Setting]
  /// Whether they say something else than the daemon works by.
  package var differs: Bool

  package init(layers: [String], settings: [Setting], differs: Bool) {
    self.layers = layers
    self.settings = settings
    self.differs = differs
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case layers, settings, differs }
}
