/// A recipe of the configuration, by which files are imported.
package struct Recipe: Codable, Sendable, Hashable {
  package var name: String
  package var store: String
  package var entity: String
  package var lane: String
  /// Whether a client has saved it, so that one may remove it.
  package var isSaved: Bool
  /// Why it isn't used, of a saved recipe that something is wrong with. Its store, entity and lane are empty then.
  package var fault: String?

  package init(
    name: String, store: String = "", entity: String = "", lane: String = "", isSaved: Bool = false,
    fault: String? = nil
  ) {
    self.name = name
    self.store = store
    self.entity = entity
    self.lane = lane
    self.isSaved = isSaved
    self.fault = fault
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case name, store, entity, lane
    case isSaved = "saved"
    case fault
  }

  /// Names that no recipe can have, because they are those of other routes below `/v1/recipes/`.
  package static let takenNames: Set<String> = ["test", "diff", "columns"]
}

/// The recipes: what `GET /v1/recipes` answers.
package struct RecipeList: Codable, Sendable, Hashable {
  package var recipes: [Recipe]

  package init(recipes: [Recipe]) { self.recipes = recipes }

  package enum CodingKeys: String, CodingKey, CaseIterable { case recipes }
}

/// What to try, without making a job and without changing anything: the body of `POST /v1/recipes/test`.
package struct RecipeTest: Codable, Sendable, Hashable {
  /// The most records that are tried.
  package static let maximumRecords = 10_000
  /// The most rows that are shown.
  package static let maximumRows = 50

  /// The input's absolute path, as the daemon sees it; nil for what the recipe reads of a database.
  package var source: String?
  package var recipe: String?
  package var store: String?
  package var entity: String?
  package var mode: ImportMode?
  package var options: [String: OptionValue]
  /// How many records at most, from 1 to ``maximumRecords``; 1000 if it isn't said.
  package var records: Int?
  /// How many of the first records are shown as they would be stored, from 0 to ``maximumRows``; none if it isn't said.
  package var rows: Int?

  /// A try of one file.
  package init(
    source: String? = nil, recipe: String? = nil, store: String? = nil, entity: String? = nil, mode: ImportMode? = nil,
    options: [String: OptionValue] = [:], records: Int? = nil, rows: Int? = nil
  ) {
    self.source = source
    self.recipe = recipe
    self.store = store
    self.entity = entity
    self.mode = mode
    self.options = options
    self.records = records
    self.rows = rows
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case source, recipe, store, entity, mode, options, records, rows
  }

  /// Reads one; every key may be left out.
  package init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let body = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      source: try body.decodeIfPresent(String.self, forKey: .source),
      recipe: try body.decodeIfPresent(String.self, forKey: .recipe),
      store: try body.decodeIfPresent(String.self, forKey: .store),
      entity: try body.decodeIfPresent(String.self, forKey: .entity),
      mode: try body.decodeIfPresent(ImportMode.self, forKey: .mode),
      options: try body.decodeIfPresent([String: OptionValue].self, forKey: .options) ?? [:],
      records: try body.decodeIfPresent(Int.self, forKey: .records),
      rows: try body.decodeIfPresent(Int.self, forKey: .rows))
  }
}

/// What an import would do with a file, or with the beginning of it: the answer of `POST /v1/recipes/test`.
package struct RecipeTestResult: Codable, Sendable, Hashable {
  package var store: String
  package var entity: String
  package var mode: ImportMode?
  /// What became of the records; nothing of it is in the store.
  package var progress: JobProgress
  /// Whether that was the whole file.
  package var isWhole: Bool
  /// Remarks beside the numbers: assumptions about the file, columns that aren't imported.
  package var notes: [String]
  /// Why the import would fail; nil if it wouldn't.
  package var failure: String?
  /// Why records would be rejected, with the first of each reason.
  package var rejects: RejectReport
  /// Some of the objects that would be inserted, and after them some that would be changed.
  package var examples: [RecipeTestExample]
  /// The first records as they would be stored, but for those that are rejected for what they say themselves, with the key
  /// in place of a related object; nil if the test didn't ask for them.
  package var rows: ObjectPage?

  package init(
    store: String, entity: String, mode: ImportMode?, progress: JobProgress, isWhole: Bool, notes: [String] = [],
    failure: String? = nil, rejects: RejectReport, examples: [RecipeTestExample] = [], rows: ObjectPage? = nil
  ) {
    self.store = store
    self.entity = entity
    self.mode = mode
    self.progress = progress
    self.isWhole = isWhole
    self.notes = notes
    self.failure = failure
    self.rejects = rejects
    self.examples = examples
    self.rows = rows
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case store, entity, mode, progress
    case isWhole = "whole"
    case notes, failure, rejects, examples, rows
  }
}
