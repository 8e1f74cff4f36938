import ManagedObjects

/// Writes the class of one entity, or the extension with its accessors.
struct EntityWriter {
  private let plan: ClassPlan
  private let className: String
  private let generator: ClassGenerator
  private(set) var warnings: [String] = []
  /// Stems of the method names that have been used.
  private var stems: Set<String> = []

  private var entity: EntityDescription { plan.entity }
  private var access: String { plan.access.prefix }

  init(_ plan: ClassPlan, _ className: String, in generator: ClassGenerator) {
    self.plan = plan
    self.className = className
    self.generator = generator
  }

  mutating func lines() -> [String] {
    var lines: [String] = []
    if plan.kind == .whole {
      lines += [
        "/// An object of the entity \(entity.name).",
        "\(access)class \(className): \(generator.superclassName(of: entity)) {",
        "  /// The properties, in the order of their slots.",
        "  override \(access)class var propertyNames: [\(type("String"))]? {",
      ]
      lines += SwiftText.list(generator.names(entity), before: "    [", after: "]")
      lines += [
        "  }", "", "  /// What the properties are.",
        "  override \(access)class var propertyTypes: [PropertyType]? {",
      ]
      lines += SwiftText.list(generator.types(entity), before: "    [", after: "]") + ["  }", "}", ""]
    }
    lines += ["extension \(className) {"] + fetchRequest()
    for attribute in entity.definition.attributes where isUsable(attribute.userInfo["accessorName"] ?? attribute.name) {
      if let composite = entity.compositeAttributesByName[attribute.name] {
        lines += [""] + accessor(of: composite)
      } else if let attribute = entity.propertiesByName[attribute.name] as? AttributeDescription {
        lines += [""] + accessor(of: attribute)
      }
    }
    for relationship in entity.definition.relationships where isUsable(relationship.name) {
      guard let relationship = entity.propertiesByName[relationship.name] as? RelationshipDescription else { continue }
      lines += [""] + accessor(of: relationship)
    }
    for fetched in entity.definition.fetchedProperties where isUsable(fetched.name) {
      guard let destination = generator.model.entitiesByName[fetched.entityName] else { continue }
      let type = "[\(generator.className(of: destination))]"
      lines +=
        [""]
        + property(
          fetched.name, type, access: access(to: destination),
          get: "fetchedObjects(\(SwiftText.literal(fetched.name)))",
          set: nil)
    }
    return lines + ["}", ""]
  }

  /// The access level of a property that leads to another class: at most that of the class.
  private func access(to destination: EntityDescription) -> String {
    let level = generator.plans[destination].flatMap { $0.className == nil ? nil : $0.access }
    return min(plan.access, level ?? .public).prefix
  }

  /// Whether a property can have this name in Swift; adds a warning if not.
  private mutating func isUsable(_ name: String) -> Bool {
    guard let advice = ReservedNames.advice(on: name, of: entity.name) else { return true }
    warnings.append(advice)
    return false
  }

  private func type(_ name: String, of module: String = "Swift") -> String { generator.type(name, of: module) }

  private func fetchRequest() -> [String] {
    let request = type("FetchRequest", of: "ManagedObjects")
    return [
      "  /// A request for all objects of the entity \(entity.name).",
      "  \(access)static func fetchRequest() -> \(request)<\(className)> {",
      "    \(request)(entityName: \(SwiftText.literal(entity.name)))",
      "  }",
    ]
  }

  /// A property with these bodies; read-only without the second.
  private func property(_ name: String, _ type: String, access: String? = nil, get: String, set: String?) -> [String] {
    let head = "  \(access ?? self.access)var \(SwiftText.name(name)): \(type)"
    guard let set else { return ["\(head) { \(get) }"] }
    return ["\(head) {", "    get { \(get) }", "    set { \(set) }", "  }"]
  }

  /// The accessor of an attribute that isn't composite.
  private mutating func accessor(of attribute: AttributeDescription) -> [String] {
    if attribute.type == .transformable, attribute.definition.attributeValueClassName == nil {
      warnings.append(
        "\(entity.name).\(attribute.name) is transformable and names no class, so that its accessor gives data: enter "
          + "a Codable type as its custom class")
    }
    if AttributeCode.ignoresUserInfo(attribute.definition) {
      warnings.append(
        "\(entity.name).\(attribute.name) is \(attribute.type.rawValue): accessorType and accessorDefault don't apply")
    }
    let code = AttributeCode(attribute.definition, in: "self", slot: "\(attribute.slot)", generator)
    let comment = attribute.definition.userInfo["documentation"]
    return (comment?.split(separator: "\n").map { "  /// \($0)" } ?? [])
      + property(
        attribute.definition.userInfo["accessorName"] ?? attribute.name, code.type, get: code.get, set: code.set)
  }

  /// The accessor of a composite attribute: its elements as one value.
  private func accessor(of composite: CompositeAttributeDescription) -> [String] {
    guard let first = composite.attributes.first, let type = generator.structName(of: composite.definition) else {
      return []
    }
    return property(
      composite.definition.userInfo["accessorName"] ?? composite.name, type + "?", get: "\(type)(self, \(first.slot))",
      set: "\(type).set(newValue, in: self, \(first.slot))")
  }

  /// The accessors of a relationship.
  private mutating func accessor(of relationship: RelationshipDescription) -> [String] {
    let slot = relationship.slot
    let other = generator.className(of: relationship.destinationEntity)
    let access = access(to: relationship.destinationEntity)
    guard relationship.isToMany else {
      return property(
        relationship.name, other + "?", access: access, get: "object(\(slot))", set: "setObject(newValue, \(slot))")
    }
    let isOrdered = relationship.isOrdered
    let set = isOrdered ? "OrderedSet<\(other)>" : "\(type("Set"))<\(other)>"
    let lines =
      isOrdered
      ? property(
        relationship.name, set, access: access, get: "orderedObjects(\(slot))",
        set: "setOrderedObjects(newValue, \(slot))")
      : property(relationship.name, set, access: access, get: "objects(\(slot))", set: "setObjects(newValue, \(slot))")
    let stem = SwiftText.capitalised(relationship.name)
    guard stems.insert(stem).inserted else {
      warnings.append("\(entity.name).\(relationship.name) gets no addTo\(stem): another relationship has it already")
      return lines
    }
    let name = SwiftText.name(relationship.name)
    let change = SetMethods(stem: stem, name: name, access: access, slot: slot, member: other, set: set)
    return lines + change.lines + (isOrdered ? change.orderedLines(generator) : [])
  }
}

/// The methods that change a to-many relationship, with the names that Xcode gives them.
private struct SetMethods {
  let stem: String
  let name: String
  let access: String
  let slot: Int
  let member: String
  let set: String

  private func method(_ head: String, _ body: String...) -> [String] {
    ["", "  \(access)func \(head) {"] + body.map { "    " + $0 } + ["  }"]
  }

  var lines: [String] {
    method("addTo\(stem)(_ value: \(member))", "add(value, to: \(slot))")
      + method("removeFrom\(stem)(_ value: \(member))", "remove(value, from: \(slot))")
      + method("addTo\(stem)(_ values: \(set))", "for value in values { add(value, to: \(slot)) }")
      + method("removeFrom\(stem)(_ values: \(set))", "for value in values { remove(value, from: \(slot)) }")
  }

  func orderedLines(_ generator: ClassGenerator) -> [String] {
    let (int, indexes) = (generator.type("Int", of: "Swift"), generator.type("IndexSet", of: "Foundation"))
    return method("insertInto\(stem)(_ value: \(member), at idx: \(int))", "insert(value, at: idx, in: \(slot))")
      + method("removeFrom\(stem)(at idx: \(int))", "removeObject(at: idx, in: \(slot))")
      + method(
        "replace\(stem)(at idx: \(int), with value: \(member))", "replaceObject(at: idx, with: value, in: \(slot))")
      + method(
        "insertInto\(stem)(_ values: [\(member)], at indexes: \(indexes))",
        "for (idx, value) in zip(indexes, values) { insert(value, at: idx, in: \(slot)) }")
      + method(
        "removeFrom\(stem)(at indexes: \(indexes))",
        "for idx in indexes.reversed() { removeObject(at: idx, in: \(slot)) }")
      + method(
        "replace\(stem)(at indexes: \(indexes), with values: [\(member)])",
        "for (idx, value) in zip(indexes, values) { replaceObject(at: idx, with: value, in: \(slot)) }")
  }
}
