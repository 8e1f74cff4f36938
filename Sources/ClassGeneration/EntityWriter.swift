import ManagedObjects

/// Writes the class of one entity, or the extension with its accessors.
struct EntityWriter {
  let plan: ClassPlan
  let className: String
  let generator: ClassGenerator
  var warnings: [String] = []
  /// Names of methods that stand already.
  var stems: Set<String> = []

  var entity: EntityDescription { plan.entity }
  var access: String { plan.access.prefix }

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
    for attribute in entity.definition.attributes where isUsable(attribute.name) {
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

  /// How far a property can be seen that leads to another class: no further than that class.
  func access(to destination: EntityDescription) -> String {
    let level = generator.plans[destination].flatMap { $0.className == nil ? nil : $0.access }
    return min(plan.access, level ?? .public).prefix
  }

  /// Whether a property can have that name in Swift; warns when it can't.
  private mutating func isUsable(_ name: String) -> Bool {
    guard let advice = ReservedNames.advice(on: name, of: entity.name) else { return true }
    warnings.append(advice)
    return false
  }

  func type(_ name: String, of module: String = "Swift") -> String { generator.type(name, of: module) }

  private func fetchRequest() -> [String] {
    let request = type("FetchRequest", of: "ManagedObjects")
    return [
      "  /// A request for all objects of the entity \(entity.name).",
      "  \(access)static func fetchRequest() -> \(request)<\(className)> {",
      "    \(request)(entityName: \(SwiftText.literal(entity.name)))",
      "  }",
    ]
  }

  /// A property with these bodies; without the second it can't be set.
  func property(_ name: String, _ type: String, access: String? = nil, get: String, set: String?) -> [String] {
    let head = "  \(access ?? self.access)var \(SwiftText.name(name)): \(type)"
    guard let set else { return ["\(head) { \(get) }"] }
    return ["\(head) {", "    get { \(get) }", "    set { \(set) }", "  }"]
  }
}
