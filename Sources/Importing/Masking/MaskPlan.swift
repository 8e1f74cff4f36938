package import ManagedObjects

/// Which properties of an entity are masked, and how: by the recipe, and by `mask` in the model's user info.
struct MaskPlan: Sendable {
  /// The masks of attributes and of relationships' keys, by slot.
  private(set) var masks: [Int: ValueMask] = [:]

  /// - Parameter problems: gets what is wrong with the masks.
  init(_ entity: EntityDescription, _ options: MappingOptions, _ problems: inout [String]) {
    var identifying = Set(options.key)
    for constraint in entity.uniquenessConstraints { identifying.formUnion(constraint.map(\.name)) }
    for attribute in RecordMapping.attributes(of: entity) {
      let rule = options.properties[attribute.name]
      guard let mask = Self.mask(attribute.name, rule?.mask, attribute, &problems) else { continue }
      problems += Self.obstacles(to: mask, attribute, rule, isIdentifying: identifying.contains(attribute.name))
      if attribute.type == .string, let null = mask.possibleResult(among: rule?.nulls ?? options.nulls) {
        problems.append(
          "\(attribute.name)'s mask \(mask) can make “\(null.shown)” of a text, which then would mean null: give "
            + "\(attribute.name) nulls of its own")
      }
      masks[attribute.slot] = mask
    }
    for relationship in entity.relationships {
      let rule = options.properties[relationship.name]
      guard case .success(let key) = ReferenceMapping.key(of: relationship, options) else {
        if rule?.mask != nil {
          problems.append(
            "\(relationship.name)'s mask needs a key of one attribute: say it in the model of each attribute")
        }
        continue
      }
      guard let mask = Self.mask(relationship.name, rule?.mask, key, &problems) else { continue }
      if rule?.mask != nil { problems += Self.obstacles(to: mask, relationship, key, rule) }
      masks[relationship.slot] = mask
    }
    if !masks.isEmpty { problems += sharedColumns(of: entity, options) }
  }

  /// The mask that the model gives an attribute, in its user info.
  static func modelMask(of attribute: AttributeDescription) -> ValueMask? {
    attribute.userInfo["mask"].flatMap { ValueMask($0) }
  }

  private static func mask(
    _ name: String, _ ofRecipe: ValueMask?, _ attribute: AttributeDescription, _ problems: inout [String]
  ) -> ValueMask? {
    guard let text = attribute.userInfo["mask"] else { return ofRecipe }
    guard let ofModel = ValueMask(text) else {
      problems.append("the model's mask of \(attribute.name), “\(text.shown)”, isn't one: write \(ValueMask.forms)")
      return nil
    }
    if let ofRecipe, ofRecipe != ofModel {
      problems.append("\(name) has the mask \(ofRecipe), and \(ofModel) in the model: leave the recipe's out")
    }
    return ofModel
  }

  private static func obstacles(
    to mask: ValueMask, _ attribute: AttributeDescription, _ rule: PropertyRule?, isIdentifying: Bool
  ) -> [String] {
    var problems = contradictions(attribute.name, rule)
    if attribute.type != .string {
      if mask != .redact {
        problems.append(
          "\(attribute.name)'s mask \(mask) is for texts, and \(attribute.name) is \(attribute.type.rawValue): use redact"
        )
      } else if !attribute.isOptional, rule?.defaultValue == nil {
        problems.append(
          "\(attribute.name)'s mask redact leaves nothing, and the model says that it can't be empty: make it optional, or "
            + "give a default")
      }
    }
    if isIdentifying, mask.credential == nil {
      problems.append(
        "\(attribute.name) identifies objects, and different texts have the same mask by \(mask): use hmac(sha256, NAME)"
      )
    }
    return problems
  }

  private static func obstacles(
    to mask: ValueMask, _ relationship: RelationshipDescription, _ key: AttributeDescription, _ rule: PropertyRule?
  ) -> [String] {
    let name = relationship.name
    var problems = contradictions(name, rule)
    if mask.credential == nil || key.type != .string {
      problems.append(
        "\(name)'s mask can only be hmac(sha256, NAME) of a text, as that of the attribute by which its objects are found"
      )
    }
    if rule?.column == nil, relationship.userInfo["mappedKeyTemplate"] != nil {
      problems.append("\(name)'s mask needs a column: its key is made by a template of the model")
    }
    if rule?.defaultValue != nil { problems.append("\(name) has both a mask and a default: leave one out") }
    return problems
  }

  private static func contradictions(_ name: String, _ rule: PropertyRule?) -> [String] {
    var problems: [String] = []
    if rule?.constant != nil {
      problems.append("\(name) has both a mask and a constant, which isn't secret: leave one out")
    }
    if rule?.values != nil || rule?.refusesOtherValues == true {
      problems.append("\(name) has both a mask and values: the texts of the source are masked first, so leave one out")
    }
    return problems
  }

  /// Columns of a masked property that another property takes in another way: it would get the mask, too.
  private func sharedColumns(of entity: EntityDescription, _ options: MappingOptions) -> [String] {
    var takers: [String: [(name: String, mask: ValueMask?)]] = [:]
    for attribute in RecordMapping.attributes(of: entity) {
      guard let column = RecordMapping.column(of: attribute, options) else { continue }
      takers[column, default: []].append((attribute.name, masks[attribute.slot]))
    }
    for relationship in entity.relationships {
      let rule = options.properties[relationship.name]
      guard rule?.constant == nil, rule?.keys == nil, rule?.column != nil || !relationship.isToMany else { continue }
      let column = rule?.column ?? relationship.userInfo["mappedKeyName"] ?? relationship.name
      takers[column, default: []].append((relationship.name, masks[relationship.slot]))
    }
    return takers.sorted { $0.key < $1.key }.compactMap { column, properties in
      guard Set(properties.map(\.mask)).count > 1 else { return nil }
      return
        "\(properties.map(\.name).joined(separator: " and ")) take the column \(column), and only one mask can hold "
        + "for it: give both the same, or have one of them take another column"
    }
  }
}

extension MappingOptions {
  /// Whether an import by these options masks anything, of the entity or of what its records may have in them.
  package func masks(into entity: EntityDescription) -> Bool {
    properties.values.contains { $0.mask != nil } || EntityMasks.areAny(in: entity)
  }

  /// Masks what other options mask and these don't.
  package mutating func addMasks(of others: MappingOptions) {
    for (name, rule) in others.properties where rule.mask != nil && properties[name]?.mask == nil {
      properties[name, default: PropertyRule()].mask = rule.mask
    }
  }

  /// The attributes by which an import into an entity finds other objects, or makes them, and whose values nothing masks: with
  /// the relationships that lead to these.
  package func unmaskedKeys(of entity: EntityDescription) -> [(
    relationship: RelationshipDescription, key: AttributeDescription
  )] {
    entity.relationships.compactMap { relationship in
      guard properties[relationship.name]?.mask == nil,
        case .success(let key) = ReferenceMapping.key(of: relationship, self), MaskPlan.modelMask(of: key) == nil
      else { return nil }
      return (relationship, key)
    }
  }

  /// The credentials that the masks of an import need.
  package func maskCredentials(into entity: EntityDescription) -> Set<String> {
    Set(properties.values.compactMap { $0.mask?.credential }).union(EntityMasks.credentials(of: entity))
  }
}
