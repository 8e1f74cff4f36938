/// Some objects of an entity, as rows.
package struct ObjectPage: Codable, Sendable, Hashable {
  package var entity: String
  /// Key paths, one a column.
  package var columns: [String]
  /// One row an object, with a value for each column. Dates are ISO 8601, binary data is base64.
  package var rows: [[JSONValue]]
  /// How many objects match altogether, where that was cheap to find out.
  package var count: Int?

  /// One answer's rows.
  package init(entity: String, columns: [String], rows: [[JSONValue]], count: Int? = nil) {
    self.entity = entity
    self.columns = columns
    self.rows = rows
    self.count = count
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case entity, columns, rows, count }
}

/// How many objects of an entity match: the answer of `GET /v1/count/{entity}`.
package struct ObjectCount: Codable, Sendable, Hashable {
  package var entity: String
  package var count: Int

  /// A count.
  package init(entity: String, count: Int) {
    self.entity = entity
    self.count = count
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case entity, count }
}
