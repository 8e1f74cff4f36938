package import ManagedObjects

/// A relationship, and where the key or the keys of its objects come from.
package final class ReferenceMapping: Sendable {
  let relationship: RelationshipDescription
  /// By what the objects are found.
  let key: ReferenceKey
  let converter: ValueConverter
  /// The columns of a key of several attributes, in their order; empty for one.
  let parts: [Part]
  /// The column that holds the key, if it is one column as it stands.
  let column: Int?
  let template: KeyTemplate?
  /// What is created for a key that no object has, if the recipe says so.
  let placeholder: PlaceholderObject?
  /// Whether a record whose key no object has is rejected: the relationship needs an object, or the recipe says so.
  let needsObject: Bool
  /// A part of a key of several attributes.
  struct Part {
    let column: Int
    let converter: ValueConverter
  }

  /// What separates several keys in a text; nil if a text is one key.
  let separator: String?
  /// The key that every record has, whatever it says.
  let constant: Value?
  /// The key of a record that has none.
  let defaultKey: Value?

  private init(
    _ relationship: RelationshipDescription, _ key: AttributeDescription, _ rules: MappingRules, column: Int?,
    template: KeyTemplate? = nil, separator: String? = nil, constant: Value? = nil, defaultKey: Value? = nil
  ) throws(MappingError) {
    let rule = rules.options.properties[relationship.name]
    do {
      converter = try rules.converter(of: key, for: relationship.name)
    } catch {
      throw Self.failure(relationship, rules, "\(error)")
    }
    self.relationship = relationship
    self.key = ReferenceKey(key)
    parts = []
    self.column = column
    self.template = template
    placeholder = rule?.creates == true ? PlaceholderObject(relationship, by: self.key) : nil
    needsObject = Self.needsObject(relationship, rule)
    self.separator = separator
    self.constant = constant
    self.defaultKey = defaultKey
  }

  private init(
    _ relationship: RelationshipDescription, compound key: ReferenceKey, _ rules: MappingRules, columns: [Int]
  ) throws(MappingError) {
    let converters: [ValueConverter]
    do {
      converters = try rules.partConverters(of: key, for: relationship.name)
    } catch {
      throw Self.failure(relationship, rules, "\(error)")
    }
    let rule = rules.options.properties[relationship.name]
    self.relationship = relationship
    self.key = key
    converter = converters[0]
    parts = zip(columns, converters).map { Part(column: $0, converter: $1) }
    column = nil
    template = nil
    placeholder = rule?.creates == true ? PlaceholderObject(relationship, by: key) : nil
    needsObject = Self.needsObject(relationship, rule)
    separator = nil
    constant = nil
    defaultKey = nil
  }

  /// A to-one relationship whose key comes from a column, several columns or the recipe; nil if nothing gives it.
  ///
  /// - Parameters:
  ///   - columns: the places of the source's columns by name.
  ///   - mayNest: whether the source can give objects in place of keys.
  static func toOne(
    _ relationship: RelationshipDescription, _ rules: MappingRules, _ columns: [String: Int], mayNest: Bool
  ) throws(MappingError) -> ReferenceMapping? {
    let info = relationship.userInfo
    let rule = rules.options.properties[relationship.name]
    if rule?.keys != nil {
      switch referenceKey(of: relationship, rules.options) {
      case .success(let key):
        let places = (rule?.columns ?? key.attributes.map(\.name)).compactMap { columns[$0] }
        guard places.count == key.attributes.count else { return nil }
        return try ReferenceMapping(relationship, compound: key, rules, columns: places)
      case .failure(let problem): throw failure(relationship, rules, problem.reason)
      }
    }
    let constant = rules.constantKeys[relationship.slot]
    let defaultKey = rules.defaultKeys[relationship.slot]
    var template: KeyTemplate?
    do {
      template = rule?.column == nil && constant == nil ? try info["mappedKeyTemplate"].map(KeyTemplate.init) : nil
    } catch {
      throw failure(relationship, rules, "\(error)")
    }
    var column = constant == nil ? columns[rule?.column ?? info["mappedKeyName"] ?? relationship.name] : nil
    if let parts = template?.columns {
      column = nil
      if !parts.allSatisfy({ columns[$0] != nil }) { template = nil }
    }
    if column == nil, template == nil, constant == nil, defaultKey == nil { return nil }
    switch Self.key(of: relationship, rules.options) {
    case .success(let key):
      return try ReferenceMapping(
        relationship, key, rules, column: column, template: template, constant: constant, defaultKey: defaultKey)
    case .failure(let problem):
      // Nested objects need no key. A key alone is rejected with its record.
      if mayNest, template == nil, rule?.key == nil, info["relatedByAttribute"] == nil { return nil }
      throw failure(relationship, rules, problem.reason)
    }
  }

  /// A to-many relationship whose keys come from a column; nil if none gives them.
  ///
  /// If columns can hold arrays, each relationship with a column takes its keys from there. If they hold texts, only
  /// relationships whose keys can be separated, by `separator` or by `mappedSeparator` in the model's user info, or that the
  /// recipe names. A text without a separator is one key.
  static func toMany(
    _ relationship: RelationshipDescription, _ rules: MappingRules, _ columns: [String: Int], mayNest: Bool
  ) throws(MappingError) -> ReferenceMapping? {
    let rule = rules.options.properties[relationship.name]
    let separator = rule?.separator ?? relationship.userInfo["mappedSeparator"]
    guard let column = columns[rule?.column ?? relationship.userInfo["mappedKeyName"] ?? relationship.name],
      mayNest || separator != nil || rule != nil
    else { return nil }
    if separator == "" { throw failure(relationship, rules, "its separator is empty: name the text between two keys") }
    switch Self.key(of: relationship, rules.options) {
    case .success(let key): return try ReferenceMapping(relationship, key, rules, column: column, separator: separator)
    case .failure(let problem):
      if rule == nil, separator == nil { return nil }
      throw failure(relationship, rules, problem.reason)
    }
  }

  private static func failure(
    _ relationship: RelationshipDescription, _ rules: MappingRules, _ reason: String
  ) -> MappingError {
    .badRelationship(entity: rules.entity.name, relationship: relationship.name, reason: reason)
  }

  /// Whether a record is rejected whose key no object has.
  private static func needsObject(_ relationship: RelationshipDescription, _ rule: PropertyRule?) -> Bool {
    !relationship.isOptional || rule?.unresolved == .reject
  }

  // MARK: Keys

  /// Why there is no attribute by which a relationship's objects could be found.
  struct KeyProblem: Error {
    let reason: String
  }

  /// The attribute of the destination by which a relationship's objects are found, unless a recipe names another; nil if
  /// there is none whose values could be read from a text.
  package static func key(of relationship: RelationshipDescription) -> AttributeDescription? {
    guard case .success(let key) = key(of: relationship, MappingOptions()), !key.isTransient else { return nil }
    switch key.type {
    case .transformable, .objectID, .composite, .undefined: return nil
    default: return key
    }
  }

  /// The attribute or attributes of the destination by which a relationship's objects are found.
  static func referenceKey(
    of relationship: RelationshipDescription, _ options: MappingOptions
  ) -> Result<ReferenceKey, KeyProblem> {
    guard let names = options.properties[relationship.name]?.keys else {
      return key(of: relationship, options).map { ReferenceKey($0) }
    }
    guard names.count > 1, Set(names).count == names.count else {
      return .failure(KeyProblem(reason: "the recipe's key must name several attributes, each once"))
    }
    let destination = relationship.destinationEntity
    let attributes = names.compactMap { destination.propertiesByName[$0] as? AttributeDescription }
    if let unknown = names.first(where: { !(destination.propertiesByName[$0] is AttributeDescription) }) {
      return .failure(
        KeyProblem(reason: "the recipe's key names \(unknown), which isn't an attribute of \(destination.name)"))
    }
    do throws(ConverterError) {
      return .success(try ReferenceKey(compound: attributes))
    } catch {
      return .failure(KeyProblem(reason: "\(error)"))
    }
  }

  /// The attribute of the destination by which a relationship's objects are found, if it is one.
  static func key(
    of relationship: RelationshipDescription, _ options: MappingOptions
  ) -> Result<AttributeDescription, KeyProblem> {
    let destination = relationship.destinationEntity
    let single = destination.uniquenessConstraints.first { $0.count == 1 }?.first
    if let names = options.properties[relationship.name]?.keys {
      return .failure(
        KeyProblem(reason: "its objects are found by \(names.joined(separator: ", ")) together, not by one attribute"))
    }
    let given = options.properties[relationship.name]?.key
    guard let name = given ?? relationship.userInfo["relatedByAttribute"] ?? single?.name else {
      return .failure(
        KeyProblem(
          reason: "the source has its key, but neither the recipe nor the model says by which attribute of "
            + "\(destination.name): name it as the relationship's key in the recipe, or set relatedByAttribute"))
    }
    guard let key = destination.propertiesByName[name] as? AttributeDescription else {
      return .failure(
        KeyProblem(
          reason: "\(given == nil ? "relatedByAttribute" : "the recipe's key") names \(name), "
            + "which isn't an attribute of \(destination.name)"))
    }
    return .success(key)
  }

  // MARK: Reading

  /// Whether a record says nothing about the reference, as JSON records may. That isn't the same as an empty key.
  func isAbsent(_ record: Int, in batch: RecordBatch, _ columnIndex: [String: Int]) -> Bool {
    if let column { return batch.cell(record, column).kind == .missing }
    return template?.columns.contains { name in
      columnIndex[name].map { batch.cell(record, $0).kind == .missing } ?? true
    } ?? true
  }

  /// The key that the template makes of a record; nil if a part is missing.
  func renderedKey(_ record: Int, in batch: RecordBatch, _ columnIndex: [String: Int]) -> String? {
    template?.render { name in
      guard let column = columnIndex[name] else { return nil }
      let cell = batch.cell(record, column)
      switch cell.kind {
      case .text, .number, .quantity, .date: return batch.string(cell)
      case .yes: return "true"
      case .no: return "false"
      case .missing, .null, .empty, .nested, .fault: return nil
      }
    }
  }
}
