import ManagedObjects

/// A relationship whose column may hold objects.
struct NestedRelationship {
  let end: NestedEnd
  let column: Int

  /// The relationships that have a column, in a source whose columns may nest.
  static func all(_ rules: MappingRules, _ columns: [String: Int]) -> [NestedRelationship] {
    rules.entity.relationships.compactMap { relationship in
      let rule = rules.options.properties[relationship.name]
      guard !relationship.isUnstored, rule?.constant == nil, rule?.keys == nil,
        rule?.column != nil || relationship.userInfo["mappedKeyTemplate"] == nil,
        let column = columns[rule?.column ?? relationship.userInfo["mappedKeyName"] ?? relationship.name]
      else { return nil }
      return NestedRelationship(
        end: NestedEnd(relationship, ReferenceMapping.key(of: relationship, rules.options)), column: column)
    }
  }
}

/// The attributes that one nested cell gives.
struct NestedAttributes {
  struct Part {
    let attribute: AttributeDescription
    /// Where it stands in the cell.
    let path: [String]
    let converter: NestedConverter
  }

  let column: Int
  private(set) var parts: [Part] = []

  /// Whether the cell has to be an object.
  var isOfObject: Bool { parts.contains { !$0.path.isEmpty } }

  /// The attributes that stand inside a column: those whose key path begins with its name, as the elements of composite
  /// attributes do, and transformable ones of Codable types.
  static func all(_ rules: MappingRules, _ columns: [String: Int]) -> [NestedAttributes] {
    var groups: [Int: NestedAttributes] = [:]
    for attribute in RecordMapping.attributes(of: rules.entity) {
      guard let name = RecordMapping.column(of: attribute, rules.options) else { continue }
      let converter = NestedConverter(attribute, rules)
      if let column = columns[name] {
        guard attribute.type == .transformable, case .codable = converter, !rules.isList(attribute) else { continue }
        groups[column, default: NestedAttributes(column: column)].parts.append(
          Part(attribute: attribute, path: [], converter: converter))
        continue
      }
      let keys = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      for length in stride(from: keys.count - 1, to: 0, by: -1) {
        guard let column = columns[keys[..<length].joined(separator: ".")] else { continue }
        groups[column, default: NestedAttributes(column: column)].parts.append(
          Part(attribute: attribute, path: Array(keys[length...]), converter: converter))
        break
      }
    }
    return groups.values.sorted { $0.column < $1.column }
  }
}
