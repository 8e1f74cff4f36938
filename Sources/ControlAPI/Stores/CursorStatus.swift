package import FoundationEssentials

/// How far a recipe has read its database: what `GET /v1/recipes/{recipe}/cursor` answers.
package struct CursorStatus: Codable, Sendable, Hashable {
  package var recipe: String
  /// The column that is the cursor.
  package var column: String
  /// Its value; nil if the recipe has read nothing yet, or was reset.
  package var value: String?
  package var movedAt: Date?
  /// The job that brought it there; nil if an operator did.
  package var job: Int64?

  package init(recipe: String, column: String, value: String?, movedAt: Date?, job: Int64?) {
    self.recipe = recipe
    self.column = column
    self.value = value
    self.movedAt = movedAt
    self.job = job
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case recipe, column, value
    case movedAt = "moved_at"
    case job
  }
}

/// Where a cursor is to be: the body of `PUT /v1/recipes/{recipe}/cursor`.
package struct CursorChange: Codable, Sendable, Hashable {
  /// Its value; nil to read every row again.
  package var value: String?

  package init(value: String?) { self.value = value }

  package enum CodingKeys: String, CodingKey, CaseIterable { case value }

  /// Reads one.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    value = try body.decodeIfPresent(String.self, forKey: .value)
  }
}
