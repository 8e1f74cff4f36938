import ManagedObjects

/// Writes a composite type as a struct, whose members are the elements and which is read from and written to
/// consecutive slots.
struct CompositeWriter {
  private let name: String
  private let elements: [AttributeDefinition]
  private let generator: ClassGenerator
  private let access: String

  init(_ name: String, _ composite: AttributeDefinition, access: String, in generator: ClassGenerator) {
    self.name = name
    elements = composite.compositeElements
    self.generator = generator
    self.access = access
  }

  private struct Member {
    let name: String
    let type: String
    let get: String
    let set: String?
    /// What a new value of the struct has.
    let initial: String
    let isForeign: Bool
  }

  func lines() -> [String] {
    let object = generator.type("ManagedObject", of: "ManagedObjects")
    let int = generator.type("Int", of: "Swift")
    let members = members()
    let conformances = members.contains(where: \.isForeign) ? "" : ": Hashable, Sendable"
    var lines = ["/// The composite type \(name).", "\(access)struct \(name)\(conformances) {"]
    lines += members.map { "  \(access)var \($0.name): \($0.type)" }
    lines += ["", "  /// A value; what isn't given is nil, 0 or false."]
    lines += SwiftText.list(
      members.map { "\($0.name): \($0.type) = \($0.initial)" }, before: "  \(access)init(", after: ") {", isCall: true)
    lines += members.map { "    self.\($0.name) = \($0.name)" } + ["  }", ""]
    lines += [
      "  fileprivate init?(_ object: \(object), _ slot: \(int)) {",
      "    guard (slot..<slot + \(Self.width(of: elements))).contains(where: { !object.value(at: $0).isNull }) else {",
      "      return nil", "    }",
    ]
    lines += members.map { "    self.\($0.name) = \($0.get)" } + ["  }", ""]
    lines += [
      "  fileprivate static func set(_ value: Self?, in object: \(object), _ slot: \(int)) {",
      "    guard let value else {",
      "      for slot in slot..<slot + \(Self.width(of: elements)) { object.setValue(.null, at: slot) }",
      "      return", "    }",
    ]
    for member in members {
      guard let set = member.set else { continue }
      lines.append("    do { let newValue = value.\(member.name); \(set) }")
    }
    return lines + ["  }", "}", ""]
  }

  private func members() -> [Member] {
    var offset = 0
    return elements.compactMap { element in
      let slot = offset == 0 ? "slot" : "slot + \(offset)"
      offset += Self.width(of: [element])
      guard SwiftText.isName(element.name) else { return nil }
      let name = SwiftText.name(element.name)
      if element.type == .composite, let type = generator.structName(of: element) {
        return Member(
          name: name, type: type + "?", get: "\(type)(object, \(slot))",
          set: "\(type).set(newValue, in: object, \(slot))",
          initial: "nil", isForeign: generator.isForeign(element))
      }
      let code = AttributeCode(element, in: "object", slot: slot, generator)
      return Member(
        name: name, type: code.type, get: code.get, set: code.set,
        initial: code.type.hasSuffix("?") ? "nil" : code.type.hasSuffix("Bool") ? "false" : "0",
        isForeign: code.isForeign)
    }
  }

  /// How many slots the elements take.
  private static func width(of elements: [AttributeDefinition]) -> Int {
    elements.reduce(0) { sum, element in
      sum
        + (element.type == .composite && !element.compositeElements.isEmpty ? width(of: element.compositeElements) : 1)
    }
  }
}

extension ClassGenerator {
  /// The struct of a composite attribute, nil for an attribute that isn't one.
  func structName(of attribute: AttributeDefinition) -> String? {
    guard attribute.type == .composite, !attribute.compositeElements.isEmpty else { return nil }
    let name = SwiftText.name(from: attribute.compositeName ?? SwiftText.capitalised(attribute.name))
    return isClassName(name) ? name + "Value" : name
  }

  /// Whether one of its elements is of a type of the program's.
  func isForeign(_ attribute: AttributeDefinition) -> Bool {
    attribute.compositeElements.contains { element in
      isForeign(element) || (element.type == .transformable && element.attributeValueClassName != nil)
    }
  }

  /// Every composite type of the model by the name of its struct, those within others too.
  func composites() -> [(name: String, definition: AttributeDefinition)] {
    var found: [(name: String, definition: AttributeDefinition)] = []
    func collect(_ attribute: AttributeDefinition) {
      guard let name = structName(of: attribute) else { return }
      for element in attribute.compositeElements { collect(element) }
      if !found.contains(where: { $0.name == name }) { found.append((name, attribute)) }
    }
    for entity in model.entities where plans[entity].map({ $0.kind != .nothing }) == true {
      for attribute in entity.definition.attributes { collect(attribute) }
    }
    return found
  }
}
