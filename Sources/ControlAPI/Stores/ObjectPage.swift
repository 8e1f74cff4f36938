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

/// Any JSON value. Whole numbers that fit stay integers, so that an id survives.
package enum JSONValue: Codable, Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Reads whichever it is. What rows hold most is tried first, for a wrong guess costs a microsecond.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes it; numbers that JSON has no form for become the strings `NaN`, `Infinity` and `-Infinity`.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .int(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
