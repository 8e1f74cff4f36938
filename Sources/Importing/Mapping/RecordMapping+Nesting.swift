import ManagedObjects

extension RecordMapping {
  /// A relationship whose column may hold objects.
  struct Nesting {
    let end: NestedEnd
    let column: Int
  }

  /// The attributes that one nested cell gives.
  struct Parts {
    struct Part {
      let attribute: AttributeDescription
      /// Where it stands in the cell.
      let path: [String]
      let converter: NestedConverter
    }

    let column: Int
    var parts: [Part] = []
    /// Whether the cell has to be an object.
    var isOfObject: Bool { parts.contains { !$0.path.isEmpty } }
  }

  /// The relationships that have a column, when columns may nest.
  static func nesting(_ rules: MappingRules, _ columns: [String: Int]) -> [Nesting] {
    rules.entity.relationships.compactMap { relationship in
      let rule = rules.options.properties[relationship.name]
      guard !relationship.isUnstored, rule?.constant == nil,
        rule?.column != nil || relationship.userInfo["mappedKeyTemplate"] == nil,
        let column = columns[rule?.column ?? relationship.userInfo["mappedKeyName"] ?? relationship.name]
      else { return nil }
      return Nesting(end: NestedEnd(relationship, key(of: relationship, rules.options)), column: column)
    }
  }

  /// The attributes that no column is called as: those of which a column is the beginning of their key path, as elements of
  /// composite attributes are, and transformable ones of Codable types.
  static func parts(_ rules: MappingRules, _ columns: [String: Int]) -> [Parts] {
    var groups: [Int: Parts] = [:]
    for attribute in attributes(of: rules.entity) {
      guard let name = column(of: attribute, rules.options) else { continue }
      let converter = NestedConverter(attribute, rules)
      if let column = columns[name] {
        guard attribute.type == .transformable, case .codable = converter, !rules.isList(attribute) else { continue }
        groups[column, default: Parts(column: column)].parts.append(
          .init(attribute: attribute, path: [], converter: converter))
        continue
      }
      let keys = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      for length in stride(from: keys.count - 1, to: 0, by: -1) {
        guard let column = columns[keys[..<length].joined(separator: ".")] else { continue }
        groups[column, default: Parts(column: column)].parts.append(
          .init(attribute: attribute, path: Array(keys[length...]), converter: converter))
        break
      }
    }
    return groups.values.sorted { $0.column < $1.column }
  }
}
