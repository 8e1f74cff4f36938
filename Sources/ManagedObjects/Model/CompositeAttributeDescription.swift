/// An attribute that consists of others, in place in its model.
///
/// It has no slot: its elements have, as attributes of their own that are named `address.city` and that stores,
/// predicates, sorts, validation and imports know as they know any other. The elements stand where the composite was
/// defined, in the order of the composite type's, those of a composite within it in its place. By the composite's own
/// name an object gives and takes all of them together, see ``ManagedObject/value(forKey:)``.
///
/// Source: Core Data's `NSCompositeAttributeDescription`. There it is one of the entity's properties, its `elements` are
/// attributes without an entity; here it stands in ``EntityDescription/compositeAttributesByName`` instead.
public final class CompositeAttributeDescription: Sendable, Hashable {
  /// One of the things that a composite consists of.
  public enum Element: Sendable {
    /// An attribute, with a slot.
    case attribute(AttributeDescription)
    /// Another composite.
    case composite(CompositeAttributeDescription)
  }

  /// What the model says of it.
  public let definition: AttributeDefinition
  /// Its name; of a composite within another with that one's in front: `address.position`.
  public let name: String
  /// Whether all of its elements may be nil. An element that isn't optional must have a value when another one has.
  public let isOptional: Bool
  /// What it consists of, by their names within it, in their order.
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
  /// Hashes which attribute it is.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Every attribute in it, those of composites within it too, in the order of their slots.
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
  /// The property that a key path begins with, and how many of its names that takes: an element of a composite attribute
  /// takes several. nil when there is none.
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
