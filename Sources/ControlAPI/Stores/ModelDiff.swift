/// A file to compare with its model: the body of `POST /v1/recipes/diff`.
package struct ModelDiffRequest: Codable, Sendable, Hashable {
  /// The file's absolute path, as the daemon sees it.
  package var source: String
  package var recipe: String?
  package var store: String?
  package var entity: String?
  package var options: [String: OptionValue]

  package init(
    source: String, recipe: String? = nil, store: String? = nil, entity: String? = nil,
    options: [String: OptionValue] = [:]
  ) {
    self.source = source
    self.recipe = recipe
    self.store = store
    self.entity = entity
    self.options = options
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case source, recipe, store, entity, options }

  /// Reads one; all but `source` may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      source: try body.decode(String.self, forKey: .source),
      recipe: try body.decodeIfPresent(String.self, forKey: .recipe),
      store: try body.decodeIfPresent(String.self, forKey: .store),
      entity: try body.decodeIfPresent(String.self, forKey: .entity),
      options: try body.decodeIfPresent([String: OptionValue].self, forKey: .options) ?? [:])
  }
}

/// Where a file doesn't fit its model, and what its recipe makes of that: the answer of `POST /v1/recipes/diff`.
package struct ModelDiff: Codable, Sendable, Hashable {
  /// One difference.
  package struct Change: Codable, Sendable, Hashable {
    /// What differs: `columns`, `types` or `entities`.
    package var subject: String
    /// The file in an archive, the sheet, …; nil for a file that is the whole source.
    package var file: String?
    /// The entity; nil for a file that belongs to none.
    package var entity: String?
    package var column: String?
    /// The attribute that the column is, or would become; nil if none can.
    package var attribute: String?
    /// The attribute's type; nil for a new column.
    package var type: String?
    /// The type that would hold all values; nil if there is none.
    package var newType: String?
    /// How many values are concerned.
    package var values: Int64
    /// One of them.
    package var example: String?
    /// The line of the first.
    package var line: Int64?
    /// What the recipe's schema says: `evolve`, `freeze`, `discard_row` or `discard_value`.
    package var contract: String

    package init(
      subject: String, file: String? = nil, entity: String? = nil, column: String? = nil, attribute: String? = nil,
      type: String? = nil, newType: String? = nil, values: Int64 = 0, example: String? = nil, line: Int64? = nil,
      contract: String
    ) {
      self.subject = subject
      self.file = file
      self.entity = entity
      self.column = column
      self.attribute = attribute
      self.type = type
      self.newType = newType
      self.values = values
      self.example = example
      self.line = line
      self.contract = contract
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case subject, file, entity, column, attribute, type
      case newType = "new_type"
      case values, example, line, contract
    }
  }

  package var store: String
  package var entity: String
  /// The records that were read.
  package var records: Int64
  /// Whether that was the whole file.
  package var isWhole: Bool
  package var changes: [Change]
  /// How many differences there are beyond those.
  package var others: Int
  /// Why the file can't be compared; nil if it was.
  package var failure: String?

  package init(
    store: String, entity: String, records: Int64, isWhole: Bool, changes: [Change], others: Int = 0,
    failure: String? = nil
  ) {
    self.store = store
    self.entity = entity
    self.records = records
    self.isWhole = isWhole
    self.changes = changes
    self.others = others
    self.failure = failure
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case store, entity, records
    case isWhole = "whole"
    case changes, others, failure
  }
}
