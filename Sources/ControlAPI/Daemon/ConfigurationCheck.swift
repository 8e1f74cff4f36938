/// What is wrong with the configuration file as it is now: the answer of `GET /v1/config/check`.
package struct ConfigurationCheck: Codable, Sendable, Hashable {
  /// One mistake, and where. Lines and columns count from 1.
  package struct Mistake: Codable, Sendable, Hashable {
    package var line: Int?
    package var column: Int?
    /// The key, with the keys that lead to it.
    package var key: String?
    package var message: String

    package init(line: Int? = nil, column: Int? = nil, key: String? = nil, message: String) {
      self.line = line
      self.column = column
      self.key = key
      self.message = message
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case line, column, key, message }
  }

  /// The file.
  package var path: String
  package var isGood: Bool
  /// Whether it says something else than the daemon works by: a restart would change that.
  package var differs: Bool
  package var mistakes: [Mistake]

  package init(path: String, isGood: Bool, differs: Bool, mistakes: [Mistake] = []) {
    self.path = path
    self.isGood = isGood
    self.differs = differs
    self.mistakes = mistakes
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case path
    case isGood = "good"
    case differs, mistakes
  }
}
