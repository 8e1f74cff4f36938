// Accessors read slots by number. A class that numbers them differently from the model would read the wrong property, so
// every class is checked against the model before a store is opened, and all mismatches are reported at once.

/// Compares a model's classes with its entities.
struct ClassCheck {
  private let entities: [EntityDescription]
  private let classes: [String: ManagedObject.Type]
  private let layouts: [String: ClassLayout]
  private var mismatches: [String] = []

  init(_ entities: [EntityDescription], classes: [String: ManagedObject.Type], layouts: [String: ClassLayout]) {
    self.entities = entities
    self.classes = classes
    self.layouts = layouts
  }

  /// Every mismatch as a message. Empty for a model without classes, whose objects are accessed by key.
  mutating func run() -> [String] {
    if classes.isEmpty { return [] }
    checkNames()
    checkSharing()
    for entity in entities {
      if entity.objectClass == ManagedObject.self {
        checkPlain(entity)
      } else {
        checkInheritance(of: entity)
        checkSlots(of: entity)
      }
    }
    return mismatches
  }

  private mutating func checkNames() {
    let names = Set(entities.map(\.name) + entities.compactMap(\.definition.className))
    for (name, type) in classes.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
      mismatches.append("\(type) is registered for \(name), which the model has neither as entity nor as class name")
    }
  }

  private mutating func checkSharing() {
    for (index, entity) in entities.enumerated() where entity.objectClass != ManagedObject.self {
      guard let other = entities[..<index].first(where: { $0.objectClass == entity.objectClass }) else { continue }
      mismatches.append(
        "\(entity.objectClass) is the class of both \(other.name) and \(entity.name): each needs one of its own")
    }
  }

  private mutating func checkPlain(_ entity: EntityDescription) {
    if let name = entity.definition.className {
      mismatches.append("\(entity.name) has the class \(name) in the model, and none is registered for it")
    } else if let above = entity.superentity, above.objectClass != ManagedObject.self {
      mismatches.append(
        "\(entity.name) has no class and inherits from \(above.name): register a subclass of \(above.objectClass)")
    }
  }

  private mutating func checkInheritance(of entity: EntityDescription) {
    guard let above = entity.superentity, !above.objectClass.isSuperclass(of: entity.objectClass) else { return }
    mismatches.append(
      "\(entity.objectClass) of \(entity.name) isn't a subclass of \(above.objectClass), the class of \(above.name)")
  }

  private mutating func checkSlots(of entity: EntityDescription) {
    let type = entity.objectClass
    // A class whose accessors are in an extension inherits its superclass's layout.
    guard let names = layouts[entity.name]?.propertyNames ?? type.propertyNames else { return }
    let expected = entity.properties.map(\.name)
    var differences: [String] = []
    let missing = expected.filter { !names.contains($0) }
    if !missing.isEmpty { differences.append("lacks \(missing.joined(separator: ", "))") }
    let surplus = names.filter { !expected.contains($0) }
    if !surplus.isEmpty {
      differences.append("names \(surplus.joined(separator: ", ")), which \(entity.name) doesn't have")
    }
    let twice = names.indices.filter { names[..<$0].contains(names[$0]) }.map { names[$0] }
    if !twice.isEmpty { differences.append("names \(twice.joined(separator: ", ")) twice") }
    let order = names.filter { expected.contains($0) }.joined(separator: ", ")
    let modelOrder = expected.filter { names.contains($0) }.joined(separator: ", ")
    if twice.isEmpty, order != modelOrder {
      differences.append("has the order \(order) where the model has \(modelOrder)")
    }
    differences += typeDifferences(of: entity, names)
    guard !differences.isEmpty else { return }
    mismatches.append("\(type) for \(entity.name) \(differences.joined(separator: "; it "))")
  }

  private func typeDifferences(of entity: EntityDescription, _ names: [String]) -> [String] {
    let layout = layouts[entity.name]
    guard let types = layout == nil ? entity.objectClass.propertyTypes : layout?.propertyTypes else { return [] }
    guard types.count == names.count else { return ["has \(names.count) names and \(types.count) types"] }
    return zip(names, types).compactMap { name, type in
      guard let property = entity.propertiesByName[name], PropertyType(property) != type else { return nil }
      return "takes \(name) for \(type.words), which the model has as \(PropertyType(property).words)"
    }
  }
}

extension ManagedObject {
  /// Whether the other class is this one or inherits from it.
  fileprivate class func isSuperclass(of other: ManagedObject.Type) -> Bool { other is Self.Type }
}
