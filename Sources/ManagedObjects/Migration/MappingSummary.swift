/// The content of a mapping model as plain values, for `ladectl model show`: text or JSON.
package struct MappingSummary: Codable, Sendable, Hashable {
  /// What one property is filled from.
  package struct Property: Codable, Sendable, Hashable {
    package var name: String
    /// The property of the source; nil when it isn't filled from one.
    package var source: String?
    /// The same value for every object, as text.
    package var value: String?
  }

  /// What one entity comes from.
  package struct Entity: Codable, Sendable, Hashable {
    package var name: String
    package var type: String
    package var source: String?
    package var destination: String?
    package var attributes: [Property]
    package var relationships: [Property]
  }

  package var mappings: [Entity]
  /// What a mapping can't express here, or needs the program for.
  package var warnings: [String]

  /// The content of a mapping model.
  package init(_ mapping: MappingModel, mistakes: [ModelMistake]) {
    mappings = mapping.entityMappings.map { entity in
      Entity(
        name: entity.name, type: entity.mappingType.rawValue, source: entity.sourceEntityName,
        destination: entity.destinationEntityName, attributes: entity.attributeMappings.map(Property.init),
        relationships: entity.relationshipMappings.map(Property.init))
    }
    warnings = mistakes.map(\.reason)
  }

  /// The summary as lines.
  package var text: String {
    var lines: [String] = []
    for mapping in mappings {
      let ends = [mapping.source ?? "nothing", mapping.destination ?? "nothing"].joined(separator: " to ")
      lines.append("\(mapping.name): \(ends) (\(mapping.type))")
      lines += mapping.attributes.map(\.text) + mapping.relationships.map { $0.text(of: "the objects of ") }
    }
    lines += warnings.map { "warning: \($0)" }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension MappingSummary.Property {
  init(_ mapping: PropertyMapping) {
    name = mapping.name
    source = mapping.sourceName
    if case .value(let constant) = mapping.source { value = constant.plainText }
  }

  fileprivate var text: String { text(of: "") }

  fileprivate func text(of what: String) -> String {
    "  \(name): " + (source.map { what + $0 } ?? value.map { "always \($0)" } ?? "not set")
  }
}
