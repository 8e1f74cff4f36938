import ManagedObjects

/// The masks for what nested values become, objects of entities to any depth: those of the model, and those of the recipe for
/// objects of the entity that it is about.
struct EntityMasks: Sendable {
  private let rules: MappingRules
  private let keys: MaskKeys
  private let mappings: NestedMappings

  init(_ rules: MappingRules, _ mappings: NestedMappings, _ keys: MaskKeys) {
    self.rules = rules
    self.keys = keys
    self.mappings = mappings
  }

  /// Whether anything of an entity is masked, or of one that its records may have in them.
  func concern(_ entity: EntityDescription) -> Bool {
    if Self.areAny(in: entity) { return true }
    return !rules.masks.isEmpty && Self.reachable(from: entity).contains { $0 === rules.entity }
  }

  private func mask(of attribute: AttributeDescription, in entity: EntityDescription) -> ValueMask? {
    MaskPlan.modelMask(of: attribute) ?? (entity === rules.entity ? rules.masks[attribute.slot] : nil)
  }

  /// Whether the model masks anything of an entity, or of one that its records may have in them.
  static func areAny(in entity: EntityDescription) -> Bool {
    var found = false
    visit(entity) { if $0.userInfo["mask"] != nil { found = true } }
    return found
  }

  /// The credentials of those masks.
  static func credentials(of entity: EntityDescription) -> Set<String> {
    var names: Set<String> = []
    visit(entity) { if let name = MaskPlan.modelMask(of: $0)?.credential { names.insert(name) } }
    return names
  }

  /// Calls `body` with each attribute that can be reached.
  private static func visit(_ entity: EntityDescription, _ body: (AttributeDescription) -> Void) {
    for entity in reachable(from: entity) { for attribute in entity.attributes { body(attribute) } }
  }

  /// An entity and those that its records may have in them.
  private static func reachable(from entity: EntityDescription) -> [EntityDescription] {
    var found = [entity]
    var seen: Set<String> = [entity.name]
    var next = 0
    while next < found.count {
      for relationship in found[next].relationships
      where seen.insert(relationship.destinationEntity.name).inserted {
        found.append(relationship.destinationEntity)
      }
      next += 1
    }
    return found
  }

  /// Changes what is masked in a value that becomes objects of an entity, or keys of such objects.
  /// - Parameter ofKey: the mask of a key alone.
  func apply(
    _ work: MaskWork, to value: NestedValue, of entity: EntityDescription, ofKey: CellMask?
  ) throws -> NestedValue {
    switch value {
    case .array(let elements): return .array(try elements.map { try apply(work, to: $0, of: entity, ofKey: ofKey) })
    case .object:
      guard concern(entity) else { return value }
      var value = value
      let mapping = mappings[entity]
      for attribute in mapping.attributes {
        guard let mask = mask(of: attribute.attribute, in: entity) else { continue }
        let cell = try CellMask(mask, isText: attribute.attribute.type == .string, keys)
        for path in attribute.paths { try value.change(at: path[...]) { try work.value($0, by: cell) } }
      }
      for relationship in mapping.relationships {
        let ofRecipe = entity === rules.entity ? rules.masks[relationship.relationship.slot] : nil
        let key = try relationship.end.key.flatMap { key in
          try (MaskPlan.modelMask(of: key) ?? ofRecipe).map { try CellMask($0, isText: key.type == .string, keys) }
        }
        let destination = relationship.relationship.destinationEntity
        for path in relationship.paths {
          try value.change(at: path[...]) { try apply(work, to: $0, of: destination, ofKey: key) }
        }
      }
      if work == .seal {
        value.cover(besides: mapping.attributes.flatMap(\.paths) + mapping.relationships.flatMap(\.paths))
      }
      return value
    case .null, .yes, .no, .number, .text:
      guard let ofKey else { return value }
      return try work.value(value, by: ofKey)
    }
  }
}

extension EntityMasks {
  /// Whether a value that becomes objects of an entity has, where an attribute takes it as it is, what a reject file has in
  /// place of values that nothing took.
  func hasCovered(_ value: NestedValue, of entity: EntityDescription) -> Bool {
    switch value {
    case .array(let elements): return elements.contains { hasCovered($0, of: entity) }
    case .object:
      guard concern(entity) else { return false }
      let mapping = mappings[entity]
      for attribute in mapping.attributes where mask(of: attribute.attribute, in: entity) == nil {
        if attribute.paths.contains(where: { value.isCovered(at: $0) }) { return true }
      }
      for relationship in mapping.relationships {
        let destination = relationship.relationship.destinationEntity
        var found = false
        for path in relationship.paths {
          value.visit(path[...]) { found = found || hasCovered($0, of: destination) }
        }
        if found { return true }
      }
      return false
    case .null, .yes, .no, .number, .text: return false
    }
  }
}

/// What is done with masked values: they are masked, or sealed for a reject file.
enum MaskWork {
  case mask, seal

  /// A value was sealed by another key.
  struct Foreign: Error {}

  /// The text in place of a value that has parts, where a text is wanted: it is rejected, and remains so.
  private static let parts = NestedValue.array([.text(ValueMask.redaction)])

  func value(_ value: NestedValue, by mask: CellMask) throws(Foreign) -> NestedValue {
    let text: String
    switch value {
    case .null: return .null
    case .yes: text = "true"
    case .no: text = "false"
    case .number(let number): text = number
    case .text(let own): text = own
    case .array(let elements):
      // Keys, or what can't be a text.
      if elements.contains(where: \.isNested) { return Self.parts }
      var masked: [NestedValue] = []
      for element in elements { masked.append(try self.value(element, by: mask)) }
      return .array(masked)
    case .object: return Self.parts
    }
    let bytes = Array(text.utf8)
    switch self {
    case .seal: return .text(String(decoding: mask.sealed(bytes), as: UTF8.self))
    case .mask:
      switch bytes.withUnsafeBytes({ mask.masked($0) }) {
      case .text(let bytes): return .text(String(decoding: bytes, as: UTF8.self))
      case .null: return .null
      case .foreign: throw Foreign()
      }
    }
  }
}

extension NestedValue {
  /// Changes the value at the end of a path of keys, if it is there; of an array, the values at that path in each element.
  mutating func change(at path: ArraySlice<String>, _ body: (NestedValue) throws -> NestedValue) rethrows {
    guard let key = path.first else {
      self = try body(self)
      return
    }
    if case .array(var elements) = self {
      for place in elements.indices { try elements[place].change(at: path, body) }
      self = .array(elements)
      return
    }
    guard case .object(var members) = self, var member = members[key] else { return }
    try member.change(at: path.dropFirst(), body)
    members[key] = member
    self = .object(members)
  }

  /// Calls `body` with the value at the end of a path of keys, if it is there; of an array, with those of each element.
  func visit(_ path: ArraySlice<String>, _ body: (NestedValue) -> Void) {
    guard let key = path.first else { return body(self) }
    switch self {
    case .array(let elements): for element in elements { element.visit(path, body) }
    case .object(let members): members[key]?.visit(path.dropFirst(), body)
    case .null, .yes, .no, .number, .text: break
    }
  }

  /// Whether there is a redaction at the end of a path of keys.
  func isCovered(at path: [String]) -> Bool {
    var found = false
    visit(path[...]) { if case .text(ValueMask.redaction) = $0 { found = true } }
    return found
  }

  /// Redacts the members of an object that are on none of some paths: nothing takes them, so nothing is known about them.
  mutating func cover(besides paths: [[String]]) { cover(besides: paths.map { $0[...] }) }

  private mutating func cover(besides paths: [ArraySlice<String>]) {
    switch self {
    case .array(var elements):
      for place in elements.indices { elements[place].cover(besides: paths) }
      self = .array(elements)
    case .object(var members):
      for (key, var member) in members where member != .null {
        let rests = paths.filter { $0.first == key }.map { $0.dropFirst() }
        if rests.isEmpty {
          member = .text(ValueMask.redaction)
        } else if !rests.contains(where: \.isEmpty) {
          member.cover(besides: rests)
        }
        members[key] = member
      }
      self = .object(members)
    case .null, .yes, .no, .number, .text: break
    }
  }
}
