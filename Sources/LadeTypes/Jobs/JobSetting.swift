/// One of a job's options, as it is in force.
package struct JobSetting: Codable, Sendable, Hashable {
  /// The key by which a recipe or a submission says it, such as `properties.name.column`.
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case name, value }
}
