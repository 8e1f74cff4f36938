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
  }

  /// The target of a reference.
  package struct Reference: Encodable, Sendable, Hashable {
    package let relationship: String
    package let inverse: String
    package let entity: String
    /// The column there.
    package let column: String
    /// The number of values, all of which exist there.
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

  private enum CodingKeys: String, CodingKey {
    case entities, order, notes
  }

  /// The model of files that were read.
  /// - Throws: `ModelError`, which would be a bug in this code.
  init(_ files: [DraftFile], notes: [String]) throws {
    self.notes = notes
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
    if let note = file.keyNote { notes.append(note) }
    if let key = file.key.first, file.key.count == 1,
      file.columns[key].words.keyRank(
        entity: file.entityWords, base: file.baseWords) == nil
    {
      notes.append("\(file.columns[key].name) is the key because all its values are different, not by its name")
    }
  }
}

extension InferredModel.Column {
  fileprivate init(_ file: DraftFile, _ index: Int) {
    let column = file.columns[index]
    let profile = file.profile.columns[index]
    name = column.name
    type = column.type.type.rawValue
    dateFormat = column.type.dateFormat
    nulls = column.nulls
    distinct = column.distinct
    let isInteger = column.type.type.integerRange != nil
    minimum = isInteger ? profile.types.least : nil
    maximum = isInteger ? profile.types.greatest : nil
    examples = profile.examples
    notes = column.type.note.map { [$0] } ?? []
    if column.isLeftOut {
      notes = ["\(profile.nested) of its values are objects or arrays: it is left out of the model"]
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
private enum SourceText {
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
    for column in columns { lines += column.notes.map { "  \(column.name): \($0)" } }
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
  fileprivate var row: [String] {
    let becomes = [attribute, reference?.relationship].compactMap { $0 }.joined(separator: ", ")
    let range = minimum.flatMap { least in maximum.map { least == $0 ? "\(least)" : "\(least) to \($0)" } }
    return [
      name, becomes.isEmpty ? "-" : becomes, type + (dateFormat.map { " \($0)" } ?? ""), "\(nulls)",
      distinct.map(String.init) ?? "many", range ?? "",
      reference.map { "\($0.entity).\($0.column), \($0.matched) matched" } ?? "",
      examples.map { $0.replacingNewlines }.joined(separator: " | "),
    ]
  }
}

extension String {
  fileprivate var replacingNewlines: String { String(map { $0.isNewline || $0 == "\t" ? " " : $0 }) }
}
