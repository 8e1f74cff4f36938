/// What a typed class takes a property to be. Compared with the model when a coordinator opens its first store.
public enum PropertyType: Sendable, Hashable {
  /// An attribute of that type.
  case attribute(AttributeType)
  /// A relationship to one object of the entity of that name.
  case toOne(String)
  /// A relationship to a set of objects of the entity of that name.
  case toMany(String)
  /// A relationship to an ordered set of objects of the entity of that name.
  case toManyOrdered(String)

  /// What a property of a model is.
  public init(_ property: PropertyDescription) {
    if let relationship = property as? RelationshipDescription {
      let destination = relationship.definition.destination
      if !relationship.isToMany {
        self = .toOne(destination)
      } else {
        self = relationship.isOrdered ? .toManyOrdered(destination) : .toMany(destination)
      }
    } else {
      self = .attribute((property as? AttributeDescription)?.type ?? .undefined)
    }
  }

  /// In words, for messages.
  var words: String {
    switch self {
    case .attribute(let type): return type.rawValue
    case .toOne(let entity): return "to-one \(entity)"
    case .toMany(let entity): return "to-many \(entity)"
    case .toManyOrdered(let entity): return "ordered to-many \(entity)"
    }
  }
}

/// The slots that accessors stand on: the properties of an entity, inherited ones first, in the order of their slots.
///
/// A class says it itself, by ``ManagedObject/propertyNames`` and ``ManagedObject/propertyTypes``. An extension can't
/// override these: for accessors that stand in one, the model is given it by the entity's name. Key paths of such a class
/// can stand in predicates and sort descriptors as soon as the model has been made.
public struct ClassLayout: Sendable, Hashable {
  /// The properties' names.
  public var propertyNames: [String]
  /// What the properties are; nil when that isn't known.
  public var propertyTypes: [PropertyType]?

  /// A layout of these properties.
  public init(propertyNames: [String], propertyTypes: [PropertyType]? = nil) {
    self.propertyNames = propertyNames
    self.propertyTypes = propertyTypes
  }
}
