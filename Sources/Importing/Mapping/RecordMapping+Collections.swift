import ManagedObjects

extension RecordMapping {
  /// The to-many relationships that a column says the keys of.
  ///
  /// Where a column can hold an array, each whose column is there. Where it holds a text, those whose keys can be told
  /// apart or that the recipe names: by `separator`, or by `mappedSeparator` in the model's user info. A text without
  /// a separator is one key.
  static func collections(
    _ rules: MappingRules, _ columns: [String: Int], mayNest: Bool
  ) throws -> [Reference] {
    let (entity, options) = (rules.entity, rules.options)
    return try entity.relationships.filter(\.isToMany).compactMap { relationship in
      let rule = options.properties[relationship.name]
      let separator = rule?.separator ?? relationship.userInfo["mappedSeparator"]
      guard let column = columns[rule?.column ?? relationship.userInfo["mappedKeyName"] ?? relationship.name],
        mayNest || separator != nil || rule != nil
      else { return nil }
      func failure(_ reason: String) -> MappingError {
        .badRelationship(entity: entity.name, relationship: relationship.name, reason: reason)
      }
      if separator == "" { throw failure("its separator is empty: name the text between two keys") }
      let key: AttributeDescription
      switch Self.key(of: relationship, options) {
      case .success(let attribute): key = attribute
      case .failure(let problem):
        if rule == nil, separator == nil { return nil }
        throw failure(problem.reason)
      }
      do {
        let converter = try rules.converter(of: key, for: relationship.name)
        return Reference(
          relationship: relationship, key: key, converter: converter, column: column, template: nil,
          creates: rule?.creates == true ? KeyedObject(relationship, by: key) : nil,
          needsObject: needsObject(relationship, rule), separator: separator)
      } catch {
        throw failure("\(error)")
      }
    }
  }
}
