/// Binds the model's derivations to properties, and registers with every entity which derived values depend on its rows.
struct DerivationAssembly {
  private(set) var problems: [String] = []

  /// - Parameter entities: the model's entities, each parent before its children, with their relationships linked.
  init(_ entities: [EntityDescription]) {
    for entity in entities {
      for attribute in entity.attributes where attribute.entity === entity {
        guard let expression = attribute.definition.derivationExpression else { continue }
        guard let derivation = bind(expression, attribute, of: entity) else { continue }
        for descendant in entity.selfAndDescendants { descendant.register(derivation) }
        for (target, trigger) in Self.triggers(derivation) {
          for descendant in target.selfAndDescendants { descendant.register(trigger) }
        }
      }
    }
  }

  private mutating func bind(
    _ expression: String, _ attribute: AttributeDescription, of entity: EntityDescription
  ) -> Derivation? {
    do throws(Problem) {
      guard !attribute.isTransient else { throw Problem("it is transient, and only what is stored is derived") }
      guard let text = DerivationText(expression) else { throw Problem("it can be " + DerivationText.notation) }
      let source = try source(text, entity)
      try check(source, text.transform, attribute)
      return Derivation(attribute: attribute, source: source, transform: text.transform)
    } catch {
      problems.append(
        "\(entity.name).\(attribute.name) is derived from “\(expression)”, which isn't possible: \(error.text)")
      return nil
    }
  }

  private struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  private func source(_ text: DerivationText, _ entity: EntityDescription) throws(Problem) -> Derivation.Source {
    switch text.part {
    case .now: return .now
    case .count(let path): return .count(try set(path, entity))
    case .sum(let path, let names):
      let relationship = try set(path, entity)
      let (steps, attribute) = try follow(names, relationship.destinationEntity)
      guard steps.isEmpty else { throw Problem("only attributes of the objects themselves can be summed up") }
      return .sum(relationship, attribute)
    case .path(let names):
      let (steps, attribute) = try follow(names, entity)
      return .path(steps, attribute)
    }
  }

  private func set(_ names: [String], _ entity: EntityDescription) throws(Problem) -> RelationshipDescription {
    guard names.count == 1, let relationship = entity.propertiesByName[names[0]] as? RelationshipDescription,
      relationship.isToMany, !relationship.isUnstored
    else { throw Problem("\(names.joined(separator: ".")) isn't a stored to-many relationship of \(entity.name)") }
    return relationship
  }

  private func follow(
    _ names: [String], _ start: EntityDescription
  ) throws(Problem) -> ([RelationshipDescription], AttributeDescription) {
    var steps: [RelationshipDescription] = []
    var entity = start
    var rest = names[...]
    while let (property, length) = entity.property(beginning: rest) {
      rest = rest.dropFirst(length)
      if let attribute = property as? AttributeDescription {
        guard rest.isEmpty else { throw Problem("\(entity.name).\(attribute.name) leads nowhere") }
        guard !attribute.isTransient else { throw Problem("\(entity.name).\(attribute.name) is transient") }
        guard attribute.definition.derivationExpression == nil else {
          throw Problem("\(entity.name).\(attribute.name) is derived itself")
        }
        return (steps, attribute)
      }
      guard let relationship = property as? RelationshipDescription, !relationship.isToMany, !relationship.isUnstored
      else { throw Problem("\(entity.name).\(property.name) isn't a stored to-one relationship") }
      steps.append(relationship)
      entity = relationship.destinationEntity
    }
    guard let name = rest.first else { throw Problem("it leads to an object and not to a value") }
    throw Problem("\(entity.name) has no property \(name)")
  }

  private func check(
    _ source: Derivation.Source, _ transform: Derivation.Transform?, _ attribute: AttributeDescription
  ) throws(Problem) {
    let type: AttributeType
    switch source {
    case .now: type = .date
    case .count: type = .integer64
    case .path(_, let other): type = other.type
    case .sum(_, let other):
      type = other.type
      guard ValueKind(type) == .number else { throw Problem("\(other.name) isn't a number") }
    }
    if let transform, type != .string { throw Problem("\(transform.rawValue) is for strings") }
    guard ValueKind(type) == ValueKind(attribute.type) else {
      throw Problem("it gives \(ValueKind(type).rawValue), and the attribute is of type \(attribute.type.rawValue)")
    }
  }

  /// The entities whose rows a derivation reads, with the dependency of each.
  private static func triggers(_ derivation: Derivation) -> [(EntityDescription, DerivationTrigger)] {
    func members(
      _ relationship: RelationshipDescription, _ summed: AttributeDescription?
    ) -> [(EntityDescription, DerivationTrigger)] {
      if let reference = relationship.inverseRelationship, !reference.isToMany {
        return [(reference.entity, .member(derivation, reference: reference, summed: summed))]
      }
      return [(relationship.destinationEntity, .pair(derivation, relationship, summed: summed))]
    }
    switch derivation.source {
    case .now: return []
    case .count(let relationship): return members(relationship, nil)
    case .sum(let relationship, let attribute): return members(relationship, attribute)
    case .path(let steps, let attribute):
      return steps.indices.map { index in
        let next: PropertyDescription = index + 1 < steps.count ? steps[index + 1] : attribute
        return (next.entity, .step(derivation, over: Array(steps[...index]), next))
      }
    }
  }
}
