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
      lines += warnings.map { "  \($0.file):\($0.line): \($0.message)" }
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
