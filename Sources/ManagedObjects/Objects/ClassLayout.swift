import Synchronization

/// The type that a typed class expects of a property. Compared with the model when a coordinator opens its first store.
public enum PropertyType: Sendable, Hashable {
  /// An attribute of that type.
  case attribute(AttributeType)
  /// A relationship to one object of the entity of that name.
  case toOne(String)
  /// A relationship to a set of objects of the entity of that name.
  case toMany(String)
  /// A relationship to an ordered set of objects of the entity of that name.
  case toManyOrdered(String)

  /// The type of a property of a model.
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

  /// A description for messages.
  var words: String {
    switch self {
    case .attribute(let type): return type.rawValue
    case .toOne(let entity): return "to-one \(entity)"
    case .toMany(let entity): return "to-many \(entity)"
    case .toManyOrdered(let entity): return "ordered to-many \(entity)"
    }
  }
}

/// The slots that accessors use: the properties of an entity, inherited ones first, in the order of their slots.
///
/// A class declares them by ``ManagedObject/propertyNames`` and ``ManagedObject/propertyTypes``. An extension can't override
/// these, so for accessors in an extension the model gets the layout, by the entity's name. Key paths of such a class can be
/// used in predicates and sort descriptors once the model has been made.
public struct ClassLayout: Sendable, Hashable {
  /// The properties' names.
  public var propertyNames: [String]
  /// The types of the properties; nil when they are unknown.
  public var propertyTypes: [PropertyType]?

  /// A layout of these properties.
  public init(propertyNames: [String], propertyTypes: [PropertyType]? = nil) {
    self.propertyNames = propertyNames
    self.propertyTypes = propertyTypes
  }
}

/// The layouts of classes whose accessors are in extensions. Safe from any thread.
///
/// An extension can't override `propertyNames`, so a class whose accessors were generated into one doesn't declare its slots.
/// The model that it was generated with does, and stays for as long as the program runs.
enum ClassLayouts {
  private static let known = Mutex<[ObjectIdentifier: [String]]>([:])

  /// The names of the properties in a class's slots; nil for a class that declares them itself, or whose model hasn't been made.
  static func names(of type: ManagedObject.Type) -> [String]? { known.withLock { $0[ObjectIdentifier(type)] } }

  /// Records the layouts that a model has for the classes of its entities.
  static func note(_ layouts: [String: ClassLayout], _ entities: [EntityDescription]) {
    if layouts.isEmpty { return }
    var hasChanged = false
    known.withLock { known in
      for entity in entities where entity.objectClass != ManagedObject.self {
        guard let names = layouts[entity.name]?.propertyNames else { continue }
        let former = known.updateValue(names, forKey: ObjectIdentifier(entity.objectClass))
        if let former, former != names { hasChanged = true }
      }
    }
    if hasChanged { KeyPathNames.forget() }
  }
}
