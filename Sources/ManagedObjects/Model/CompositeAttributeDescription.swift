/// An attribute that consists of other attributes.
///
/// It has no slot; its elements do. Each is an attribute of its own, named like `address.city`, which stores, predicates,
/// sorts, validation and imports treat as any other. The elements take the composite's place among the slots, in the order
/// of the composite type; nested composites expand in place. Under the composite's own name an object reads and writes all
/// elements together, see ``ManagedObject/value(forKey:)``.
///
/// Source: Core Data's `NSCompositeAttributeDescription`. There it is one of the entity's properties and its `elements` have
/// no entity; here it is in ``EntityDescription/compositeAttributesByName`` instead.
public final class CompositeAttributeDescription: Sendable, Hashable {
  /// One element of a composite.
  public enum Element: Sendable {
    /// An attribute, with a slot.
    case attribute(AttributeDescription)
    /// Another composite.
    case composite(CompositeAttributeDescription)
  }

  /// The definition in the model.
  public let definition: AttributeDefinition
  /// Its name, prefixed by the enclosing composite's if nested: `address.position`.
  public let name: String
  /// Whether all elements may be nil. A mandatory element must have a value if any other element has one.
  public let isOptional: Bool
  /// The elements with their names inside the composite, in order.
  public let elements: [(name: String, element: Element)]

  init(
    _ definition: AttributeDefinition, name: String, isOptional: Bool, elements: [(name: String, element: Element)]
  ) {
    self.definition = definition
    self.name = name
    self.isOptional = isOptional
    self.elements = elements
  }

  /// Whether both are the same attribute of the same model.
  public static func == (a: CompositeAttributeDescription, b: CompositeAttributeDescription) -> Bool { a === b }
  /// Hashes the attribute's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Every attribute in it, including those of nested composites, in slot order.
  public var attributes: [AttributeDescription] {
    elements.flatMap { _, element in
      switch element {
      case .attribute(let attribute): return [attribute]
      case .composite(let composite): return composite.attributes
      }
    }
  }
}

extension EntityDescription {
  /// The property that a key path begins with, and the number of names it uses up: several for an element of a composite.
  /// nil if there is no such property.
  package func property(beginning path: ArraySlice<String>) -> (property: PropertyDescription, length: Int)? {
    guard var name = path.first else { return nil }
    if let property = propertiesByName[name] { return (property, 1) }
    for (index, next) in path.enumerated().dropFirst() {
      guard compositeAttributesByName[name] != nil else { return nil }
      name += "." + next
      if let property = propertiesByName[name] { return (property, index + 1) }
    }
    return nil
  }
}
