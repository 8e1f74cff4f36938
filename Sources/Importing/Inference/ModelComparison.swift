package import ManagedObjects

/// What a model lacks for files: the changes by which it would take all of them.
package struct ModelComparison: Encodable, Sendable {
  /// One proposed change.
  package struct Change: Encodable, Sendable, Hashable {
    /// What kind of change it is.
    package enum Kind: String, Encodable, Sendable {
      case newEntity = "new_entity"
      case newProperty = "new_property"
      case newType = "new_type"
      case optional
      /// The model can stay, but the file lacks something.
      case missingColumn = "missing_column"
    }

    package let kind: Kind
    package let file: String
    package let entity: String
    package let property: String?
    /// What to change, and why.
    package let text: String
    /// The attribute's element in the model's file, where there is to be one.
    package let element: String?
  }

  package private(set) var changes: [Change] = []

  /// Compares the model with one that was inferred from the files.
  package init(of model: ManagedObjectModel, with inferred: InferredModel) {
    let matching = FileMatching(model.entities)
    for (place, found) in inferred.entities.enumerated() {
      // Nested objects come with the records in which they stand.
      if place >= inferred.fileCount { continue }
      guard let entity = matching.entity(of: found.file) ?? model.entitiesByName[found.name] else {
        add(
          .newEntity, found, found.name, nil,
          "the model has no entity for it: add \(found.name), as this command infers it without --against")
        continue
      }
      let definition = inferred.definitions.first { $0.name == found.name }
      compare(entity, found, definition)
    }
  }

  private mutating func compare(
    _ entity: EntityDescription, _ found: InferredModel.Entity, _ definition: EntityDefinition?
  ) {
    let attributes = RecordMapping.attributes(of: entity)
    let byColumn = Dictionary(
      attributes.map { (RecordMapping.column(of: $0, MappingOptions()) ?? $0.name, $0) }
    ) { first, _ in first }
    let relationships = Set(entity.relationships.map { $0.userInfo["mappedKeyName"] ?? $0.name })
    let templates = entity.relationships.compactMap { $0.userInfo["mappedKeyTemplate"] }
    for column in found.columns where !column.isLeftOut {
      if let attribute = byColumn[column.name] {
        compare(attribute, column, found, entity)
      } else if !relationships.contains(column.name), !templates.contains(where: { $0.contains("{" + column.name) }) {
        addProperty(column, found, entity, definition)
      }
    }
    let columns = Set(found.columns.map(\.name))
    for attribute in attributes
    where !attribute.isOptional && attribute.defaultValue.isNull && attribute.type != .composite {
      let column = RecordMapping.column(of: attribute, MappingOptions()) ?? attribute.name
      guard !columns.contains(column), !column.contains(".") else { continue }
      add(
        .missingColumn, found, entity.name, attribute.name,
        "it is required, and the file has no column \(column): make it optional, or give the file that column")
    }
  }

  private mutating func addProperty(
    _ column: InferredModel.Column, _ found: InferredModel.Entity, _ entity: EntityDescription,
    _ definition: EntityDefinition?
  ) {
    guard let attribute = definition?.attributes.first(where: { $0.name == column.attribute }) else {
      let name = column.reference.map { " to \($0.entity)" } ?? ""
      return add(
        .newProperty, found, entity.name, column.reference?.relationship,
        "the column \(column.name) isn't imported: add a relationship\(name), as this command infers it without --against"
      )
    }
    // Objects that exist have no value for it.
    var optional = attribute
    optional.isOptional = true
    add(
      .newProperty, found, entity.name, attribute.name, "the column \(column.name) isn't imported: add an attribute",
      ModelFileWriter.element(of: optional))
  }

  private mutating func compare(
    _ attribute: AttributeDescription, _ column: InferredModel.Column, _ found: InferredModel.Entity,
    _ entity: EntityDescription
  ) {
    if !attribute.isOptional, attribute.defaultValue.isNull, column.nulls > 0 {
      add(
        .optional, found, entity.name, attribute.name,
        "it is required, and \(column.nulls) of \(found.records) records have no value: make it optional")
    }
    guard column.hasValues, let wanted = AttributeType(rawValue: column.type),
      let type = Self.needed(attribute, for: wanted, column)
    else { return }
    var definition = attribute.definition
    definition.type = type
    let example = column.examples.first.map { ", such as “\($0)”" } ?? ""
    let notes = column.notes.isEmpty ? "" : " (\(column.notes.joined(separator: "; ")))"
    add(
      .newType, found, entity.name, attribute.name,
      "it is \(attribute.type.rawValue), and not all values are\(example)\(notes): make it \(type.rawValue)",
      ModelFileWriter.element(of: definition))
  }

  /// The type that an attribute needs for values of a column; nil if its own will do.
  private static func needed(
    _ attribute: AttributeDescription, for wanted: AttributeType, _ column: InferredModel.Column
  ) -> AttributeType? {
    if attribute.type == wanted || column.otherTypes.contains(attribute.type) { return nil }
    if let range = attribute.type.integerRange,
      let type = column.otherTypes.first(where: { $0 == .integer64 || $0 == .double })
    {
      let fits = column.wholeRange.map { range.contains($0.lowerBound) && range.contains($0.upperBound) } ?? false
      return fits ? nil : type
    }
    switch (attribute.type, wanted) {
    case (.string, _), (.transformable, _), (.binaryData, _), (.composite, _), (.undefined, _), (.objectID, _):
      return nil
    case (.decimal, .integer64), (.decimal, .double), (.double, .integer64), (.double, .decimal), (.float, .integer64),
      (.float, .double), (.float, .decimal):
      return nil
    case (.integer16, .integer64), (.integer32, .integer64):
      guard let range = attribute.type.integerRange, let least = column.minimum, let greatest = column.maximum else {
        return nil
      }
      return range.contains(least) && range.contains(greatest) ? nil : .integer64
    case (.boolean, .integer64):
      return column.minimum.map { $0 >= 0 } == true && column.maximum.map { $0 <= 1 } == true ? nil : .integer64
    // Numbers may be dates in a form that the attribute names.
    case (.date, .integer64), (.date, .double), (.date, .decimal):
      return attribute.userInfo["dateFormat"] == nil ? .string : nil
    case (.date, .string): return attribute.userInfo["dateFormat"] == nil ? .string : nil
    case (.integer16, .decimal), (.integer32, .decimal), (.integer64, .decimal): return .decimal
    case (.integer16, .double), (.integer32, .double), (.integer64, .double): return .decimal
    default: return .string
    }
  }

  private mutating func add(
    _ kind: Change.Kind, _ found: InferredModel.Entity, _ entity: String, _ property: String?, _ text: String,
    _ element: String? = nil
  ) {
    changes.append(
      Change(kind: kind, file: found.file, entity: entity, property: property, text: text, element: element))
  }
}

extension ModelComparison {
  /// The changes for a person to read.
  package var text: String {
    if changes.isEmpty { return "The model takes all of the files as it is.\n" }
    let lines = changes.flatMap { change in
      ["\(change.entity)\(change.property.map { "." + $0 } ?? "")  (\(change.file)): \(change.text)"]
        + (change.element.map { ["  " + $0] } ?? [])
    }
    return lines.map(SourceText.shown).joined(separator: "\n") + "\n"
  }
}
