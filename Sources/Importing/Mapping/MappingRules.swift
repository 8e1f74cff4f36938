package import ManagedObjects

/// A recipe's rules, checked against the entity and compiled. They don't depend on a source's columns, so they are made once
/// for each import, and once when a recipe is checked.
package final class MappingRules: Sendable {
  package let entity: EntityDescription
  package let options: MappingOptions
  /// The values of a new object: the model's defaults, overridden by the recipe's defaults and constants.
  let initialValues: ContiguousArray<Value>
  /// The values of every object, whatever its record says.
  let constants: [(slot: Int, value: Value)]
  /// The slots of the attributes with a default of the recipe.
  let defaults: Set<Int>
  /// The keys of every object's to-one relationships, and those for records that have none, by slot.
  let constantKeys, defaultKeys: [Int: Value]
  /// The records that the recipe wants; nil: all.
  let filter: RecordFilter?
  /// The attributes that identify an object as the recipe says it; nil if the model says it, or says the same.
  let key: [AttributeDescription]?
  /// The masks of attributes and of relationships' keys, by slot.
  let masks: [Int: ValueMask]
  /// Whether anything of the entity is masked, or of what its records may have in them.
  let isMasking: Bool
  /// The converters of the attributes that the recipe has rules for, by slot.
  private let converters: [Int: ValueConverter]

  /// - Throws: ``MappingError/badRules(entity:problems:)`` with all problems, or
  ///   ``MappingError/badFilter(entity:filter:reason:)``.
  package init(_ entity: EntityDescription, _ options: MappingOptions) throws(MappingError) {
    self.entity = entity
    self.options = options
    var values = entity.initialValues
    var constants: [(slot: Int, value: Value)] = []
    var defaults: Set<Int> = []
    var converters: [Int: ValueConverter] = [:]
    var keys: (constant: [Int: Value], other: [Int: Value]) = ([:], [:])
    var problems: [String] = []
    for (name, rule) in options.properties.sorted(by: { $0.key < $1.key }) {
      problems += Self.contradictions(in: rule, name, options)
      do throws(RuleProblem) {
        guard let attribute = try Self.attribute(name, rule, of: entity) else {
          guard let (slot, key) = try Self.key(name, rule, of: entity, options) else { continue }
          if rule.constant != nil { keys.constant[slot] = key } else { keys.other[slot] = key }
          continue
        }
        // It takes nested cells as they are. A rule may only name the column.
        if attribute.isCodable, Self.concernsColumnOnly(rule) { continue }
        let converter = try Self.converter(for: attribute, options)
        converters[attribute.slot] = converter
        if let text = rule.constant ?? rule.defaultValue {
          let option = rule.constant == nil ? "default" : "constant"
          let value = try RuleProblem.of { () throws(ConverterError) in try converter.given(text, as: option) }
          values[attribute.slot] = value
          if rule.constant != nil { constants.append((attribute.slot, value)) } else { defaults.insert(attribute.slot) }
        }
      } catch {
        problems.append(error.reason)
      }
    }
    let key = Self.identity(of: entity, options.key, &problems)
    masks = MaskPlan(entity, options, &problems).masks
    isMasking = !masks.isEmpty || EntityMasks.areAny(in: entity)
    guard problems.isEmpty else { throw .badRules(entity: entity.name, problems: problems) }
    let isModelled =
      entity.uniquenessConstraints.count == 1 && entity.uniquenessConstraints.contains { Set($0) == Set(key) }
    self.key = key.isEmpty || isModelled ? nil : key
    if let text = options.filter { filter = try RecordFilter(text, of: entity, options) } else { filter = nil }
    initialValues = values
    self.constants = constants
    self.defaults = defaults
    self.converters = converters
    (constantKeys, defaultKeys) = keys
  }

  /// What identifies an object: each of these sets of attributes.
  var identities: [[AttributeDescription]] { key.map { [$0] } ?? entity.uniquenessConstraints }

  /// Whether null means the value of a new object: the recipe's default or, where null isn't allowed, the model's.
  func hasDefault(_ attribute: AttributeDescription) -> Bool {
    !attribute.isOptional || defaults.contains(attribute.slot)
  }

  /// Whether a value that doesn't fit the attribute's type is left out: where null may be, and nothing is found or filtered by
  /// it.
  func mayLackValue(_ attribute: AttributeDescription) -> Bool {
    options.schema.types == .discardValue && attribute.isOptional && filter?.reads(attribute.slot) != true
      && !identities.contains { $0.contains { $0 === attribute } }
  }

  /// Whether the recipe splits an attribute's texts into an array of strings.
  func isList(_ attribute: AttributeDescription) -> Bool { options.properties[attribute.name]?.separator != nil }

  /// The converter for an attribute's cells.
  func converter(for attribute: AttributeDescription) throws(MappingError) -> ValueConverter {
    if let known = converters[attribute.slot] { return known }
    do {
      return try Self.converter(for: attribute, options)
    } catch {
      throw .badAttribute(entity: entity.name, reason: error.reason)
    }
  }

  /// The converter for a relationship's keys: values of an attribute of its destination. An empty text refers to nothing.
  func converter(of key: AttributeDescription, for relationship: String) throws(ConverterError) -> ValueConverter {
    try Self.converter(of: key, for: relationship, options)
  }

  /// The converters for the columns of a key of several attributes.
  func partConverters(of key: ReferenceKey, for relationship: String) throws(ConverterError) -> [ValueConverter] {
    try Self.partConverters(of: key, for: relationship, options)
  }

  // MARK: The key

  private static func identity(
    of entity: EntityDescription, _ names: [String], _ problems: inout [String]
  ) -> [AttributeDescription] {
    var key: [AttributeDescription] = []
    for name in names {
      do throws(RuleProblem) {
        guard let attribute = try Self.attribute(name, PropertyRule(), of: entity) else {
          throw RuleProblem(reason: "key names \(name), which is a relationship: objects are identified by attributes")
        }
        if let reason = unsuitable(attribute) { throw RuleProblem(reason: "key names \(name), \(reason)") }
        if key.contains(where: { $0 === attribute }) { throw RuleProblem(reason: "key names \(name) twice") }
        key.append(attribute)
      } catch {
        problems.append(error.reason)
      }
    }
    return key
  }

  /// Why objects can't be found by an attribute; nil if they can.
  private static func unsuitable(_ attribute: AttributeDescription) -> String? {
    switch attribute.type {
    case .binaryData, .transformable, .objectID, .composite, .undefined:
      "which is \(attribute.type.rawValue): nothing is found by that"
    default: nil
    }
  }

  // MARK: Rules for one property

  private struct RuleProblem: Error {
    let reason: String

    static func of<T>(_ place: String = "", _ body: () throws(ConverterError) -> T) throws(RuleProblem) -> T {
      do {
        return try body()
      } catch {
        throw RuleProblem(reason: place + "\(error)")
      }
    }
  }

  private static func converter(
    for attribute: AttributeDescription, _ options: MappingOptions
  ) throws(RuleProblem) -> ValueConverter {
    try RuleProblem.of { () throws(ConverterError) in
      guard let rule = rule(attribute.name, options) else {
        return try ValueConverter(attribute: attribute, dateFormat: attribute.userInfo["dateFormat"])
      }
      return try ValueConverter(attribute: attribute, rule: rule)
    }
  }

  private static func converter(
    of key: AttributeDescription, for relationship: String, _ options: MappingOptions
  ) throws(ConverterError) -> ValueConverter {
    guard var rule = rule(relationship, options) else {
      return try ValueConverter(
        attribute: key, dateFormat: key.userInfo["dateFormat"], emptyStringIsNull: true)
    }
    // It separates keys; a key doesn't contain it.
    rule.separator = nil
    return try ValueConverter(attribute: key, rule: rule, emptyStringIsNull: true)
  }

  private static func partConverters(
    of key: ReferenceKey, for relationship: String, _ options: MappingOptions
  ) throws(ConverterError) -> [ValueConverter] {
    let rule = Self.rule(relationship, options) ?? PropertyRule()
    var converters: [ValueConverter] = []
    for attribute in key.attributes {
      converters.append(
        try ValueConverter(
          attribute: attribute, rule: rule.narrowed(to: attribute, of: key.attributes), emptyStringIsNull: true))
    }
    return converters
  }

  /// Refuses a rule for a key of several attributes that can't be followed.
  private static func checkCompound(
    _ name: String, _ rule: PropertyRule, _ relationship: RelationshipDescription, _ options: MappingOptions
  ) throws(RuleProblem) {
    if relationship.isToMany {
      throw RuleProblem(
        reason: "\(name)'s key names several attributes, which is for to-one relationships, and \(name) is to-many")
    }
    for (option, isGiven) in [
      ("constant", rule.constant != nil), ("default", rule.defaultValue != nil), ("values", rule.values != nil),
      ("separator", rule.separator != nil),
    ] where isGiven {
      throw RuleProblem(reason: "\(name)'s \(option) can't go with a key of several attributes: leave it out")
    }
    let key: ReferenceKey
    switch ReferenceMapping.referenceKey(of: relationship, options) {
    case .success(let found): key = found
    case .failure(let problem): throw RuleProblem(reason: "\(relationship.entity.name).\(name): \(problem.reason)")
    }
    for attribute in key.attributes {
      if let reason = unsuitable(attribute) {
        throw RuleProblem(reason: "\(name)'s key names \(attribute.name), \(reason)")
      }
    }
    if rule.column != nil || (rule.columns.map { $0.count != key.attributes.count } ?? false) {
      throw RuleProblem(
        reason:
          "\(name)'s key has \(key.attributes.count) attributes (\(key.name)): name as many columns, in that order")
    }
    _ = try RuleProblem.of("\(name): ") { () throws(ConverterError) in try partConverters(of: key, for: name, options) }
  }

  private static func concernsColumnOnly(_ rule: PropertyRule) -> Bool {
    var rule = rule
    (rule.column, rule.mask) = (nil, nil)
    return rule == PropertyRule()
  }

  /// The key that a rule itself gives for a relationship; nil if it gives none.
  private static func key(
    _ name: String, _ rule: PropertyRule, of entity: EntityDescription, _ options: MappingOptions
  ) throws(RuleProblem) -> (slot: Int, key: Value)? {
    guard let relationship = entity.propertiesByName[name] as? RelationshipDescription else { return nil }
    if rule.separator != nil, !relationship.isToMany {
      throw RuleProblem(
        reason:
          "\(name)'s separator has no effect, because \(name) leads to one \(relationship.destinationEntity.name): leave it "
          + "out")
    }
    if rule.separator == "" {
      throw RuleProblem(reason: "\(name)'s separator is empty: name the text between two keys")
    }
    if rule.keys != nil {
      try checkCompound(name, rule, relationship, options)
      return nil
    }
    var ofKeys = rule
    (ofKeys.creates, ofKeys.unresolved, ofKeys.separator, ofKeys.mask) = (false, nil, nil, nil)
    if concernsColumnOnly(ofKeys) { return nil }
    let attribute: AttributeDescription
    switch ReferenceMapping.key(of: relationship, options) {
    case .success(let key): attribute = key
    case .failure(let problem): throw RuleProblem(reason: "\(entity.name).\(name): \(problem.reason)")
    }
    return try RuleProblem.of("\(name): ") { () throws(ConverterError) in
      let converter = try converter(of: attribute, for: name, options)
      guard let text = rule.constant ?? rule.defaultValue else { return nil }
      let option = rule.constant == nil ? "default" : "constant"
      guard !relationship.isToMany else {
        throw .badOption(
          attribute: name, option: option, value: text,
          reason: "is for attributes and to-one relationships, and \(name) is to-many: leave it out")
      }
      return (relationship.slot, try converter.given(text, as: option))
    }
  }

  /// The recipe's rule for a property, combined with its rules for all; nil if there is neither.
  private static func rule(_ name: String, _ options: MappingOptions) -> PropertyRule? {
    guard options.properties[name] != nil || options.trims || !options.nulls.isEmpty else { return nil }
    var rule = options.properties[name] ?? PropertyRule()
    rule.nulls = rule.nulls ?? options.nulls
    rule.trims = rule.trims ?? options.trims
    return rule
  }

  /// The attribute of that name; nil if it is a relationship.
  private static func attribute(
    _ name: String, _ rule: PropertyRule, of entity: EntityDescription
  ) throws(RuleProblem) -> AttributeDescription? {
    guard let property = entity.propertiesByName[name] else {
      if entity.compositeAttributesByName[name] != nil {
        let elements = entity.attributes.map(\.name).filter { $0.hasPrefix(name + ".") }
        throw RuleProblem(reason: "\(name) is made of others: say it of \(elements.joined(separator: ", "))")
      }
      let names = name.split(separator: ".").map(String.init)
      if names.count > 1, let relationship = entity.propertiesByName[names[0]] as? RelationshipDescription {
        let destination = relationship.destinationEntity.name
        throw RuleProblem(
          reason: "\(name): a recipe speaks of \(entity.name)'s own properties, and not of those of objects inside its "
            + "records: say in the model how they are read, in the user info of \(destination)'s properties "
            + "(mappedKeyName, dateFormat)")
      }
      let known = entity.properties.map(\.name)
      let nearest = NearestName.of(name, among: known).map { "; did you mean \($0)?" }
      throw RuleProblem(
        reason: "\(entity.name) has no property \(name)\(nearest ?? "; it has \(known.joined(separator: ", "))")")
    }
    guard let attribute = property as? AttributeDescription else { return nil }
    guard !attribute.isTransient, attribute.definition.derivationExpression == nil else {
      throw RuleProblem(
        reason:
          "\(name) is \(attribute.isTransient ? "transient" : "derived") and takes nothing from records: leave it out")
    }
    for (option, isGiven) in [
      ("key", rule.key != nil || rule.keys != nil), ("create", rule.creates), ("unresolved", rule.unresolved != nil),
    ]
    where isGiven {
      throw RuleProblem(reason: "\(name)'s \(option) has no effect, because \(name) isn't a relationship: leave it out")
    }
    return attribute
  }

  /// Contradictions within a rule.
  private static func contradictions(in rule: PropertyRule, _ name: String, _ options: MappingOptions) -> [String] {
    var problems: [String] = []
    if rule.columns != nil, rule.keys == nil {
      problems.append(
        "\(name) has several columns, which is for relationships whose key has as many attributes: name these as its key"
      )
    }
    if rule.constant != nil, rule.column != nil {
      problems.append("\(name) has both a constant and a column: leave one out")
    }
    if rule.constant != nil, rule.defaultValue != nil {
      problems.append("\(name) has both a constant and a default: leave one out")
    }
    for column in (rule.columns ?? []) + [rule.column].compactMap({ $0 }) where options.ignoredColumns.contains(column)
    {
      problems.append("\(name) takes the column \(column), which ignored_columns names too: leave one out")
    }
    return problems
  }
}

extension PropertyRule {
  /// What the rule means for one attribute of a key of several: a notation is for those that it can be meant for.
  fileprivate func narrowed(to attribute: AttributeDescription, of key: [AttributeDescription]) -> PropertyRule {
    func concerns(_ isMeant: (AttributeType) -> Bool) -> Bool {
      isMeant(attribute.type) || !key.contains { isMeant($0.type) }
    }
    var rule = self
    if !concerns({ $0 == .date }) { (rule.dateFormat, rule.timeZone) = (nil, nil) }
    if !concerns({ $0.isInteger || $0 == .decimal || $0 == .double || $0 == .float }) {
      (rule.decimalSeparator, rule.groupingSeparator) = (nil, nil)
      (rule.unit, rule.negatives) = (nil, nil)
    }
    if !concerns({ $0 == .boolean }) { (rule.trueWords, rule.falseWords) = (nil, nil) }
    return rule
  }
}

extension MappingOptions {
  /// Refuses options that can't work for any file: rules for properties that the entity doesn't have, unknown zones and
  /// formats, constants that can't be converted. For checking a configuration or a submission.
  package func check(against entity: EntityDescription) throws(MappingError) {
    _ = try MappingRules(entity, self)
    try RecordMapping.check(self, of: entity)
    try checkEvolution(into: entity)
  }

  /// Refuses to store what a file brings in clear where something is masked: nothing says whether it may be.
  package func checkEvolution(into entity: EntityDescription) throws(MappingError) {
    guard schema.columns == .evolve || schema.entities == .evolve, masks(into: entity) else { return }
    throw .badRules(
      entity: entity.name,
      problems: [
        "schema: new columns and entities would be stored in clear, and values are masked here: they can't evolve"
      ])
  }
}
