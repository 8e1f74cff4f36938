/// The columns of a file, and the properties of the entity that they may become: the answer of `POST /v1/recipes/columns`,
/// whose body is a ``ModelDiffRequest``.
package struct FileColumns: Codable, Sendable, Hashable {
  /// A column of the file.
  package struct Column: Codable, Sendable, Hashable {
    package var name: String
    /// Its first values; none where they may be another's secret.
    package var values: [String]

    package init(name: String, values: [String] = []) {
      self.name = name
      self.values = values
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case name, values }
  }

  /// An attribute or relationship that a recipe can give a column.
  package struct Property: Codable, Sendable, Hashable {
    package var name: String
    /// An attribute's type in the model's words; nil for a relationship.
    package var type: String?
    /// The entity that a relationship leads to; nil for an attribute.
    package var entity: String?
    package var isToMany: Bool
    package var isOptional: Bool
    /// The model's default.
    package var defaultValue: String?
    /// The column that it takes by its name, by the model or by the options.
    package var column: String?
    /// A column of nearly the same name that nothing takes; nil if it has one.
    package var suggestion: String?

    package init(
      name: String, type: String? = nil, entity: String? = nil, isToMany: Bool = false, isOptional: Bool = true,
      defaultValue: String? = nil, column: String? = nil, suggestion: String? = nil
    ) {
      self.name = name
      self.type = type
      self.entity = entity
      self.isToMany = isToMany
      self.isOptional = isOptional
      self.defaultValue = defaultValue
      self.column = column
      self.suggestion = suggestion
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case name, type, entity
      case isToMany = "to_many"
      case isOptional = "optional"
      case defaultValue = "default"
      case column, suggestion
    }
  }

  package var store: String
  package var entity: String
  /// The file's format; nil if it can't be read.
  package var format: String?
  package var columns: [Column]
  /// Attributes first, each in the model's order.
  package var properties: [Property]
  /// The attributes that the model says to identify an object, one list for each uniqueness constraint.
  package var constraints: [[String]]
  /// What was assumed about the file.
  package var notes: [String]
  /// Why the file can't be read; nil if it can.
  package var failure: String?

  package init(
    store: String, entity: String, format: String? = nil, columns: [Column] = [], properties: [Property] = [],
    constraints: [[String]] = [], notes: [String] = [], failure: String? = nil
  ) {
    self.store = store
    self.entity = entity
    self.format = format
    self.columns = columns
    self.properties = properties
    self.constraints = constraints
    self.notes = notes
    self.failure = failure
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case store, entity, format, columns, properties, constraints, notes, failure
  }
}
