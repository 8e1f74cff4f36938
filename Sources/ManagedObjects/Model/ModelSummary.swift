/// The content of a model as plain values, for `ladectl model show`: text or JSON.
package struct ModelSummary: Codable, Sendable, Hashable {
  /// One attribute.
  package struct Attribute: Codable, Sendable, Hashable {
    package var name: String
    /// The type's name in model files, with the composite type's name for a composite.
    package var type: String
    package var isOptional: Bool
    package var isTransient: Bool
    /// The default value as text, nil if there is none.
    package var defaultValue: String?
    package var minimum: String?
    package var maximum: String?
    package var regularExpression: String?
    package var derivationExpression: String?
    /// The elements of a composite with full names such as `address.city`; empty for other attributes.
    package var elements: [Attribute]
    package var valueTransformer: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String]
  }

  /// One relationship.
  package struct Relationship: Codable, Sendable, Hashable {
    package var name: String
    package var destination: String
    package var inverse: String?
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional: Bool
    /// 0 for no bound.
    package var minimumCount: Int
    /// 0 for no bound.
    package var maximumCount: Int
    package var deleteRule: DeleteRule
    package var renamingIdentifier: String?
    package var userInfo: [String: String]
  }

  /// One index.
  package struct Index: Codable, Sendable, Hashable {
    package var name: String
    /// Its columns, each with its direction where it descends.
    package var elements: [String]
    package var partialPredicate: String?
  }

  /// One fetched property or fetch request template.
  package struct Fetch: Codable, Sendable, Hashable {
    package var name: String
    package var entity: String
    package var predicate: String?
  }

  /// One entity with its own properties; inherited ones are listed with the parent.
  package struct Entity: Codable, Sendable, Hashable {
    package var name: String
    package var parent: String?
    package var isAbstract: Bool
    package var className: String?
    package var attributes: [Attribute]
    package var relationships: [Relationship]
    package var fetchedProperties: [Fetch]
    package var uniquenessConstraints: [[String]]
    package var indexes: [Index]
    package var renamingIdentifier: String?
    package var userInfo: [String: String]
  }

  /// One warning with its location.
  package struct Warning: Codable, Sendable, Hashable {
    package var file: String
    /// Nil for what doesn't follow from one line.
    package var line: Int?
    package var message: String

    package init(file: String, line: Int? = nil, message: String) {
      self.file = file
      self.line = line
      self.message = message
    }
  }

  package var versionIdentifier: String?
  package var entities: [Entity]
  package var fetchRequestTemplates: [Fetch]
  /// Names of entities by configuration.
  package var configurations: [String: [String]]
  package var warnings: [Warning]
}

extension ManagedObjectModel {
  /// The content of the model as plain values, in the order of definition.
  package func summary() -> ModelSummary {
    ModelSummary(
      versionIdentifier: versionIdentifier, entities: entities.map { ModelSummary.Entity($0.definition) },
      fetchRequestTemplates: fetchRequestTemplates.values.sorted { $0.name < $1.name }.map {
        ModelSummary.Fetch(name: $0.name, entity: $0.entityName, predicate: $0.predicateFormat)
      },
      configurations: configurations,
      warnings: warnings.map { ModelSummary.Warning(file: $0.file, line: $0.line, message: $0.message) })
  }
}

extension ModelSummary.Entity {
  init(_ definition: EntityDefinition) {
    self.init(
      name: definition.name, parent: definition.parent, isAbstract: definition.isAbstract,
      className: definition.className, attributes: definition.attributes.map(ModelSummary.Attribute.init),
      relationships: definition.relationships.map(ModelSummary.Relationship.init),
      fetchedProperties: definition.fetchedProperties.map {
        ModelSummary.Fetch(name: $0.name, entity: $0.entityName, predicate: $0.predicateFormat)
      },
      uniquenessConstraints: definition.uniquenessConstraints,
      indexes: definition.indexes.map(ModelSummary.Index.init), renamingIdentifier: definition.renamingIdentifier,
      userInfo: definition.userInfo)
  }
}

extension ModelSummary.Attribute {
  init(_ definition: AttributeDefinition) {
    func words(_ value: Value) -> String? { value.isNull ? nil : value.plainText }
    self.init(
      name: definition.name,
      type: definition.type.rawValue + (definition.compositeName.map { " \($0)" } ?? ""),
      isOptional: definition.isOptional, isTransient: definition.isTransient,
      defaultValue: words(definition.defaultValue), minimum: words(definition.minimumValue),
      maximum: words(definition.maximumValue), regularExpression: definition.regularExpression,
      derivationExpression: definition.derivationExpression,
      elements: definition.compositeElements.map { element in
        var element = element
        element.name = definition.name + "." + element.name
        return ModelSummary.Attribute(element)
      }, valueTransformer: definition.valueTransformerName,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo)
  }
}

extension ModelSummary.Relationship {
  init(_ definition: RelationshipDefinition) {
    self.init(
      name: definition.name, destination: definition.destination, inverse: definition.inverse,
      isToMany: definition.isToMany, isOrdered: definition.isOrdered, isOptional: definition.isOptional,
      minimumCount: definition.minimumCount, maximumCount: definition.maximumCount, deleteRule: definition.deleteRule,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo)
  }
}

extension ModelSummary.Index {
  init(_ definition: FetchIndexDefinition) {
    self.init(
      name: definition.name,
      elements: definition.elements.map { element in
        let what = element.property ?? element.expression.map { "(\($0))" } ?? ""
        return what + (element.isAscending ? "" : " descending")
          + (element.collation == "Binary" ? "" : " \(element.collation)")
      },
      partialPredicate: definition.partialPredicateFormat)
  }
}

extension ModelSummary {
  /// The summary as text: each entity with its properties in aligned columns, then the warnings.
  package var text: String {
    var lines: [String] = []
    let counts = [count(entities.count, "entity", "entities")] + (warnings.isEmpty ? [] : [warningCount])
    lines.append(
      counts.joined(separator: ", ") + (versionIdentifier.map { ", version identifier \($0)" } ?? ""))
    for entity in entities { lines += [""] + entity.lines }
    if !fetchRequestTemplates.isEmpty {
      lines += ["", "Fetch requests"]
      lines += TextColumns.aligned(fetchRequestTemplates.map { [$0.name, $0.entity, $0.predicate ?? ""] }, indent: 2)
    }
    if !configurations.isEmpty {
      lines += ["", "Configurations"]
      let rows = configurations.sorted { $0.key < $1.key }.map { [$0.key, $0.value.joined(separator: ", ")] }
      lines += TextColumns.aligned(rows, indent: 2)
    }
    if !warnings.isEmpty {
      lines += ["", "Warnings"]
      lines += warnings.map { warning in
        "  " + warning.file + (warning.line.map { ":\($0)" } ?? "") + ": \(warning.message)"
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var warningCount: String { count(warnings.count, "warning", "warnings") }

  private func count(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }
}

extension ModelSummary.Entity {
  fileprivate var lines: [String] {
    var notes: [String] = []
    if isAbstract { notes.append("abstract") }
    if let parent { notes.append("inherits from \(parent)") }
    if let className, className != name { notes.append("class \(className)") }
    if let renamingIdentifier { notes.append("was \(renamingIdentifier)") }
    var lines = [name + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")]
    var rows = attributes.flatMap(\.rows) + relationships.map(\.row)
    rows += fetchedProperties.map { [$0.name, "fetched \($0.entity)", "", $0.predicate ?? ""] }
    lines += TextColumns.aligned(rows, indent: 2)
    lines += uniquenessConstraints.map { "  unique: \($0.joined(separator: ", "))" }
    lines += indexes.map { index in
      "  index \(index.name): \(index.elements.joined(separator: ", "))"
        + (index.partialPredicate.map { " where \($0)" } ?? "")
    }
    if !userInfo.isEmpty { lines.append("  userInfo: \(ModelSummary.entries(userInfo))") }
    return lines
  }
}

extension ModelSummary.Attribute {
  /// Its row, followed by those of its elements.
  fileprivate var rows: [[String]] { [row] + elements.flatMap(\.rows) }

  /// Name, type, whether it is optional, and the rest.
  private var row: [String] {
    var notes: [String] = []
    if let defaultValue { notes.append("default \(defaultValue)") }
    let unit = type == AttributeType.string.rawValue ? " characters" : ""
    switch (minimum, maximum) {
    case (let least?, let most?): notes.append("\(least) to \(most)\(unit)")
    case (let least?, nil): notes.append("at least \(least)\(unit)")
    case (nil, let most?): notes.append("at most \(most)\(unit)")
    case (nil, nil): break
    }
    if let regularExpression { notes.append("matches \(regularExpression)") }
    if let derivationExpression { notes.append("derived from \(derivationExpression)") }
    if isTransient { notes.append("transient") }
    if let valueTransformer { notes.append("transformer \(valueTransformer)") }
    if let renamingIdentifier { notes.append("was \(renamingIdentifier)") }
    if !userInfo.isEmpty { notes.append(ModelSummary.entries(userInfo)) }
    return [name, type, isOptional ? "optional" : "required", notes.joined(separator: "; ")]
  }
}

extension ModelSummary.Relationship {
  /// Name, destination, whether it is optional, and the rest.
  fileprivate var row: [String] {
    var notes: [String] = []
    if let inverse { notes.append("inverse \(inverse)") }
    notes.append("on delete \(deleteRule.rawValue.lowercased())")
    if isOrdered { notes.append("ordered") }
    if isToMany {
      switch (minimumCount, maximumCount) {
      case (0, 0): break
      case (let least, 0): notes.append("at least \(least)")
      case (0, let most): notes.append("at most \(most)")
      case (let least, let most): notes.append("\(least) to \(most)")
      }
    }
    if let renamingIdentifier { notes.append("was \(renamingIdentifier)") }
    if !userInfo.isEmpty { notes.append(ModelSummary.entries(userInfo)) }
    return [
      name, "\(isToMany ? "to many" : "to one") \(destination)", isOptional ? "optional" : "required",
      notes.joined(separator: "; "),
    ]
  }
}

extension ModelSummary {
  /// `userInfo` in one line, by key.
  fileprivate static func entries(_ userInfo: [String: String]) -> String {
    userInfo.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
  }
}

/// Rows of text in aligned columns.
enum TextColumns {
  /// The rows as lines: each column as wide as its widest cell, two spaces between columns, no trailing spaces.
  ///
  /// Control characters in a cell become spaces, so that a name in a file can't control the terminal.
  static func aligned(_ rows: [[String]], indent: Int) -> [String] {
    let rows = rows.map { $0.map(withoutControls) }
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      var line = String(repeating: " ", count: indent)
      for (column, cell) in row.enumerated() {
        line += cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  private static func withoutControls(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }
}
