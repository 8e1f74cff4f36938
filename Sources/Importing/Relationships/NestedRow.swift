import ManagedObjects

/// A nested object, converted into a row of its entity by the reading thread.
final class NestedRow: Sendable {
  let entity: EntityDescription
  /// The given values, and the model's defaults for the rest.
  let values: ContiguousArray<Value>
  /// The slots of the attributes that are given.
  let given: [Int]
  let links: [NestedLink]
  /// What the object is found by: the first uniqueness constraint whose attributes are all given, or the relationship's key.
  let identity: (attributes: [AttributeDescription], key: UniqueKey)?

  /// - Parameter key: the attribute by which the relationship finds its objects.
  init(
    _ entity: EntityDescription, _ values: ContiguousArray<Value>, given: [Int], links: [NestedLink],
    key: AttributeDescription?
  ) {
    self.entity = entity
    self.values = values
    self.given = given
    self.links = links
    func isGiven(_ attribute: AttributeDescription) -> Bool {
      given.contains(attribute.slot) && !values[attribute.slot].isNull
    }
    var found = entity.uniquenessConstraints.first { $0.allSatisfy(isGiven) }
    if found == nil, let own = key.flatMap({ entity.propertiesByName[$0.name] as? AttributeDescription }), isGiven(own)
    {
      found = [own]
    }
    identity = found.map { found in (attributes: found, key: UniqueKey(found.map { values[$0.slot] })) }
  }
}

/// What a record, or a nested object, gives for a relationship: everything that it will hold.
struct NestedLink: Sendable {
  enum Target: Sendable {
    case key(Value)
    case object(NestedRow)
  }

  let end: NestedEnd
  let targets: [Target]
  var relationship: RelationshipDescription { end.relationship }
  var hasObjects: Bool { targets.contains { if case .object = $0 { true } else { false } } }
}

/// Converts nested values into rows. An error names the path at which it stands.
struct NestedConversion {
  struct Problem: Error {
    let path: String
    let code: String
    let message: String
  }

  let mappings: NestedMappings

  /// Converts what is given for a relationship that stands at `path`.
  func link(_ nested: NestedValue, _ end: NestedEnd, at path: String) throws(Problem) -> NestedLink {
    if case .array = nested, !end.relationship.isToMany {
      throw Problem(
        path: path, code: "wrong_kind",
        message:
          "\(end.relationship.name) leads to one \(end.relationship.destinationEntity.name), but several are given")
    }
    var targets: [NestedLink.Target] = []
    for element in nested.elements { targets.append(try target(element, end, at: path)) }
    return NestedLink(end: end, targets: targets)
  }

  private func target(_ nested: NestedValue, _ end: NestedEnd, at path: String) throws(Problem) -> NestedLink.Target {
    let entity = end.relationship.destinationEntity
    if case .object = nested {
      if entity.isAbstract {
        throw Problem(
          path: path, code: "wrong_kind", message: "\(entity.name) is abstract: no object can be made of it")
      }
      return .object(try row(nested, mappings[entity], key: end.key, at: path))
    }
    guard let converter = end.converter else {
      throw Problem(
        path: path, code: "wrong_kind",
        message:
          "“\(nested.shown)” isn't an object, and neither the recipe nor the model says by which attribute of \(entity.name) "
          + "it could be a key: set relatedByAttribute, or name the key in the recipe")
    }
    do throws(ConversionCode) {
      return .key(try converter.convert(nested))
    } catch {
      throw Problem(path: path, code: error.rawValue, message: converter.problem(error, nested).description)
    }
  }

  private func row(
    _ nested: NestedValue, _ mapping: NestedMapping, key: AttributeDescription?, at path: String
  ) throws(Problem) -> NestedRow {
    var values = mapping.entity.initialValues
    var given: [Int] = []
    for target in mapping.attributes {
      guard let value = Self.lookUp(nested, target.paths) else { continue }
      switch target.converter.value(value, of: target.attribute) {
      case .success(.null) where !target.attribute.isOptional && !values[target.attribute.slot].isNull: continue
      case .success(let value):
        values[target.attribute.slot] = value
        given.append(target.attribute.slot)
      case .failure(let problem):
        throw Problem(path: "\(path).\(target.attribute.name)", code: problem.code, message: problem.message)
      }
    }
    var links: [NestedLink] = []
    for relationship in mapping.relationships {
      guard let value = Self.lookUp(nested, relationship.paths) else { continue }
      links.append(try link(value, relationship.end, at: "\(path).\(relationship.relationship.name)"))
    }
    return NestedRow(mapping.entity, values, given: given, links: links, key: key)
  }

  private static func lookUp(_ nested: NestedValue, _ paths: [[String]]) -> NestedValue? {
    for path in paths {
      if let value = nested.value(along: path[...]) { return value }
    }
    return nil
  }
}
