package import ManagedObjects

/// An inferred model, and the evidence for a person to review.
package struct InferredModel: Encodable, Sendable {
  /// A column of a file, and its place in the model.
  package struct Column: Encodable, Sendable, Hashable {
    package let name: String
    /// The attribute that takes it; nil when only a relationship does, or nothing.
    package internal(set) var attribute: String?
    /// The type of its attribute, or of its values where it has none.
    package internal(set) var type: String
    package let dateFormat: String?
    package let nulls: Int64
    /// The number of distinct values, where it was counted.
    package let distinct: Int?
    package let minimum, maximum: Int64?
    package let examples: [String]
    package internal(set) var reference: Reference?
    /// A note on anything else, such as what couldn't be determined.
    package internal(set) var notes: [String]
    /// Whether no property takes it.
    var isLeftOut = false
    /// Whether any record has a value in it.
    var hasValues = true
    /// Other types as which an import reads all its values, too.
    private(set) var otherTypes: [AttributeType] = []
    /// The range of whole numbers that are written with a point or an exponent.
    private(set) var wholeRange: ClosedRange<Int64>?

    private enum CodingKeys: String, CodingKey {
      case name, attribute, type, dateFormat, nulls, distinct, minimum, maximum, examples, reference, notes
    }
  }

  /// The target of a reference.
  package struct Reference: Encodable, Sendable, Hashable {
    package let relationship: String
    package let inverse: String
    package let entity: String
    /// The key column there; nil if objects have none.
    package let column: String?
    /// The number of values, all of which exist there, or of the objects in the column.
    package let matched: Int64
  }

  /// A file, and its entity.
  package struct Entity: Encodable, Sendable, Hashable {
    package let name: String
    package let file: String
    package let records: Int64
    /// Records that couldn't be read and weren't counted.
    package let unreadable: Int64
    /// The columns of its key; empty if none was found.
    package let key: [String]
    package internal(set) var columns: [Column]
    package internal(set) var notes: [String]
  }

  package internal(set) var entities: [Entity]
  /// The files in import order.
  package internal(set) var order: [String] = []
  package internal(set) var notes: [String]
  /// The model's entities.
  package internal(set) var definitions: [EntityDefinition] = []
  /// The number of entities that are files'; those of nested objects follow them.
  let fileCount: Int

  private enum CodingKeys: String, CodingKey {
    case entities, order, notes
  }

  /// The model of files that were read.
  /// - Throws: `ModelError`, which would be a bug in this code.
  init(_ files: [DraftFile], notes: [String]) throws {
    self.notes = notes
    fileCount = files.count
    entities = files.map(Entity.init)
    var building = DefinitionBuilding(files)
    building.build(into: &entities)
    definitions = building.definitions
    let order = ImportOrder(
      try ManagedObjectModel(entities: definitions).entities, files: files.map(\.profile.input.name))
    self.order = order.steps.map(\.file)
    for cycle in order.cycles {
      self.notes.append(
        "\(cycle.joined(separator: ", ")) refer to each other in a ring: import \(cycle[0]) a second time at the end, "
          + "so that its references are set")
    }
  }
}

extension InferredModel.Entity {
  /// SQLite's default `SQLITE_MAX_COLUMN`.
  private static let maximumColumns = 2000

  fileprivate init(_ file: DraftFile) {
    name = file.entity
    self.file = file.profile.input.name
    records = file.profile.records
    unreadable = file.profile.unreadable
    key = file.key.map { file.columns[$0].name }
    columns = file.columns.indices.map { InferredModel.Column(file, $0) }
    // Which member of an archive it was is said already.
    notes = file.profile.notes.filter { !$0.hasPrefix("read “") }
    if let problem = file.profile.firstProblem {
      notes.append("\(unreadable) record(s) can't be read and were left out of account; the first: \(problem)")
    }
    if records == 0 {
      notes.append("it has no records: all types are taken to be text")
    } else if file.key.isEmpty {
      notes.append(
        "no key was found: importing the file twice makes every object twice. If it has one, add a uniqueness constraint"
      )
    }
    // The row number is one, too.
    if columns.count >= Self.maximumColumns {
      notes.append(
        "it has \(columns.count) columns, and a table of SQLite's has at most \(Self.maximumColumns): a store can't be made "
          + "with this model before attributes are left out")
    }
    if let note = file.keyNote { notes.append(note) }
    if let key = file.key.first, file.key.count == 1,
      file.columns[key].words.keyRank(
        entity: file.entityWords, base: file.baseWords) == nil
    {
      notes.append("\(file.columns[key].name) is the key because all its values are different, not by its name")
    }
  }
}

extension InferredModel.Entity {
  /// An entity of nested objects.
  init(nested name: String, path: String, records: Int64, key: String?, columns: [InferredModel.Column]) {
    self.init(
      name: name, file: path, records: records, unreadable: 0, key: key.map { [$0] } ?? [], columns: columns,
      notes: key == nil ? ["its objects have no key: each belongs to the object in which it stands"] : [])
  }
}

extension InferredModel.Column {
  /// A column of nested objects.
  init(nested profile: ColumnProfile, of objects: Int64) {
    name = profile.name
    let inferred = profile.type
    type = profile.nesting.map(Self.kind) ?? inferred.type.rawValue
    dateFormat = inferred.dateFormat
    otherTypes = inferred.others
    wholeRange = inferred.wholeRange
    nulls = objects - profile.present - profile.nested
    distinct = profile.distinct
    hasValues = profile.present > 0
    let isInteger = inferred.type.integerRange != nil && profile.present > 0
    minimum = isInteger ? profile.types.least : nil
    maximum = isInteger ? profile.types.greatest : nil
    examples = profile.examples
    notes = profile.nested > 0 ? [] : inferred.note.map { [$0] } ?? []
    if profile.name.isEmpty {
      isLeftOut = true
      notes = [Self.leftOut(profile)]
    } else if profile.name.contains(".") {
      isLeftOut = true
      notes = ["its name has a point in it, which is a path in nested objects: it is left out of the model"]
    } else if profile.nested > 0, profile.nesting == nil {
      isLeftOut = true
      notes = [Self.leftOut(profile)]
    }
  }

  private static func kind(_ nesting: NestedProfile) -> String {
    nesting.isOfTexts ? AttributeType.transformable.rawValue : "objects"
  }

  private static func leftOut(_ profile: ColumnProfile) -> String {
    if profile.name.isEmpty { return "it has no name: imports ignore it" }
    if profile.inner?.isMap == true {
      return
        "its objects have more than \(NestedProfile.mostColumns) different keys, so it looks like a map of keys and not like "
        + "an object with properties: it is left out of the model. If it is in a document of its own, its members can be "
        + "imported as records, with --option root=PATH and --option key_column=key"
    }
    return
      "\(profile.nested) of its values are objects or arrays, and not all are objects, arrays of objects or arrays of texts: "
      + "it is left out of the model"
  }

  fileprivate init(_ file: DraftFile, _ index: Int) {
    let column = file.columns[index]
    let profile = file.profile.columns[index]
    name = column.name
    type = column.nesting.map(Self.kind) ?? column.type.type.rawValue
    dateFormat = column.type.dateFormat
    otherTypes = column.type.others
    wholeRange = column.type.wholeRange
    nulls = column.nulls
    distinct = column.distinct
    hasValues = profile.present > 0
    let isInteger = column.type.type.integerRange != nil
    minimum = isInteger ? profile.types.least : nil
    maximum = isInteger ? profile.types.greatest : nil
    examples = profile.examples
    notes = column.type.note.map { [$0] } ?? []
    if column.isLeftOut {
      isLeftOut = column.nesting == nil
      notes = isLeftOut ? [Self.leftOut(profile)] : []
    }
    if column.uniqueness == .undetermined {
      notes.append("whether its values are unique wasn't determined: there are too many, or spaces around them")
    }
    for probe in file.references where probe.column == index && probe.score >= 3 && !probe.holds && probe.matched > 0 {
      guard probe.missed > 0 else { continue }
      notes.append(
        "\(probe.matched) of \(probe.matched + probe.missed) values are keys it could refer to, but not "
          + "“\(probe.missing ?? "")”, so it isn't a reference")
    }
  }
}

extension InferredModel {
  /// The model for a person to read: each entity with a table of its columns.
  package var text: String {
    var lines: [String] = []
    for entity in entities { lines += entity.lines + [""] }
    if entities.count > 1 { lines += ["Order of import: \(order.joined(separator: ", "))"] }
    lines += notes.map { "note: \($0)" }
    if lines.last == "" { lines.removeLast() }
    return lines.map(SourceText.shown).joined(separator: "\n") + "\n"
  }
}

/// Text from files, fit for a terminal.
enum SourceText {
  /// Without control sequences.
  static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isSteering) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isSteering($0) ? "\u{FFFD}" : $0 }))
  }

  private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension InferredModel.Entity {
  fileprivate var lines: [String] {
    var lines = ["\(name)  (\(file), \(records) record\(records == 1 ? "" : "s"))"]
    lines.append("  key: \(key.isEmpty ? "none" : key.joined(separator: " + "))")
    var rows = [["column", "becomes", "type", "nulls", "distinct", "range", "reference", "examples"]]
    rows += columns.map(\.row)
    lines += Self.aligned(rows)
    for column in columns { lines += column.notes.map { "  \(column.shownName): \($0)" } }
    lines += notes.map { "  note: \($0)" }
    return lines
  }

  private static func aligned(_ rows: [[String]]) -> [String] {
    var widths: [Int] = Array(repeating: 0, count: rows.first?.count ?? 0)
    for row in rows { for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) } }
    return rows.map { row in
      var line = " "
      // A column that is empty in all rows but the heading is left out.
      for (index, cell) in row.enumerated() where rows.dropFirst().contains(where: { !$0[index].isEmpty }) {
        line += " " + cell + String(repeating: " ", count: widths[index] - cell.count + 1)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension InferredModel.Column {
  fileprivate var shownName: String { name.isEmpty ? "“”" : name }

  fileprivate var row: [String] {
    let becomes = [attribute, reference?.relationship].compactMap { $0 }.joined(separator: ", ")
    let range = minimum.flatMap { least in maximum.map { least == $0 ? "\(least)" : "\(least) to \($0)" } }
    return [
      shownName, becomes.isEmpty ? "-" : becomes, type + (dateFormat.map { " \($0)" } ?? ""), "\(nulls)",
      distinct.map(String.init) ?? "many", range ?? "",
      reference.map(\.shown) ?? "",
      examples.map { $0.replacingNewlines }.joined(separator: " | "),
    ]
  }
}

extension InferredModel.Reference {
  fileprivate var shown: String {
    guard let column else { return "\(entity), \(matched) object\(matched == 1 ? "" : "s")" }
    return "\(entity).\(column), \(matched) matched"
  }
}

extension String {
  fileprivate var replacingNewlines: String { String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) }
}
