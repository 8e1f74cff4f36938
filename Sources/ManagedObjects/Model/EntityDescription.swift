/// An entity of a model: its properties and their slots. Immutable.
///
/// The order of slots is fixed, so that a class can name them as constants: inherited properties first, then the entity's own
/// attributes, then its own relationships, each in the order of definition. A superentity's slots are therefore a prefix of
/// its subentities'. A composite attribute has no slot; its elements take its place, each as an attribute named like
/// `address.city`, and nested composites expand in place.
///
/// Source: Core Data's `NSEntityDescription`.
public final class EntityDescription: @unchecked Sendable, Hashable {
  // Sendable: every stored property is written while one thread builds the model, and never after. An entity is
  // kept alive by its model; the model and its entities live as long as any object ID or context that refers to them,
  // because ``ManagedObjectModel`` is never freed (see there).

  /// The definition in the model.
  public let definition: EntityDefinition
  /// The entity's name, unique in its model.
  public var name: String { definition.name }
  /// Whether it is abstract.
  public var isAbstract: Bool { definition.isAbstract }
  /// The author's annotations.
  public var userInfo: [String: String] { definition.userInfo }
  /// The entity it inherits from.
  public internal(set) var superentity: EntityDescription?
  /// The direct subentities.
  public internal(set) var subentities: [EntityDescription] = []
  /// The root of its hierarchy: itself if it has no superentity.
  public internal(set) unowned(unsafe) var rootEntity: EntityDescription!
  /// Every property including inherited ones, indexed by slot.
  public internal(set) var properties: [PropertyDescription] = []
  /// Every property including inherited ones, by name.
  public internal(set) var propertiesByName: [String: PropertyDescription] = [:]
  /// The composite attributes by name, including inherited and nested ones (`address.position`). They aren't among the
  /// properties; their elements are.
  public internal(set) var compositeAttributesByName: [String: CompositeAttributeDescription] = [:]
  /// Every attribute, by slot.
  public internal(set) var attributes: [AttributeDescription] = []
  /// Every relationship, by slot.
  public internal(set) var relationships: [RelationshipDescription] = []
  /// Groups of attributes whose combined values are unique, including inherited ones.
  public internal(set) var uniquenessConstraints: [[AttributeDescription]] = []
  /// The indexes, including inherited ones.
  public internal(set) var indexes: [FetchIndexDefinition] = []
  /// The attribute that serves as the table's primary key: `primaryKey` in the entity's `userInfo`.
  ///
  /// An addition to Core Data: a mandatory integer attribute can itself number the objects. Its value is then the object ID's
  /// number, can't change once the object is saved, and is the table's `INTEGER PRIMARY KEY`, without a second column or
  /// index.
  public internal(set) var primaryKey: AttributeDescription?
  /// The relationships of any entity that may refer to an object of this one, in the model's order.
  package internal(set) var references: [RelationshipDescription] = []
  /// Those of them that no delete rule clears: without an inverse, or with the rule `noAction`.
  package internal(set) var looseReferences: [RelationshipDescription] = []
  /// The derivations of its derived attributes.
  package internal(set) var derivations: [Derivation] = []
  /// The derived attributes, here or elsewhere, that depend on its rows.
  var derivationTriggers: [DerivationTrigger] = []
  /// Whether its rows have derived values or are the source of some.
  package var hasDerivations: Bool { !derivations.isEmpty || !derivationTriggers.isEmpty }
  /// Whether a to-one relationship of its objects determines another object's to-many relationship.
  package internal(set) var joinsSets = false
  /// Its stored ordered to-many relationships.
  package internal(set) var orderedSets: [RelationshipDescription] = []
  /// Its to-one relationships with an ordered inverse, which give rows a position in an order.
  package internal(set) var orderedReferences: [RelationshipDescription] = []
  /// Whether its rows have a position in an order, or an ordered relationship.
  package var hasOrders: Bool { !orderedSets.isEmpty || !orderedReferences.isEmpty }
  /// The row a new object starts with: defaults, and empty sets.
  package internal(set) var initialValues: ContiguousArray<Value> = []
  /// The row of a fault, with nothing read.
  package internal(set) var faultValues: ContiguousArray<Value> = []
  /// The class of its objects.
  package internal(set) var objectClass: ManagedObject.Type = ManagedObject.self {
    didSet {
      hasOwnClass = objectClass != ManagedObject.self
      validatesValues = hasOwnClass && objectClass.validatesValues
    }
  }
  /// Whether its class overrides life-cycle methods; those of other classes are never called.
  package private(set) var hasOwnClass = false
  /// Whether its class validates each value before a save.
  private(set) var validatesValues = false
  /// A number for each entity of the model.
  package internal(set) var index: Int = 0
  /// The validation rules for a row.
  package internal(set) var validationRules: ValidationRules!
  /// The numbers of the entity and all its descendants.
  package internal(set) var family: Set<Int> = []

  init(_ definition: EntityDefinition) { self.definition = definition }

  /// The attributes by name, including inherited ones.
  public var attributesByName: [String: AttributeDescription] {
    Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0) })
  }

  /// The relationships by name, including inherited ones.
  public var relationshipsByName: [String: RelationshipDescription] {
    Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0) })
  }

  /// The property's slot, nil if there is no such property.
  public func slot(of name: String) -> Int? { propertiesByName[name]?.slot }

  /// Whether it is `other` or inherits from it.
  public func isKindOf(_ other: EntityDescription) -> Bool {
    other.family.contains(index) && other.rootEntity === rootEntity
  }

  /// The entity and all its descendants, in the model's order.
  public var selfAndDescendants: [EntityDescription] { [self] + subentities.flatMap(\.selfAndDescendants) }

  /// Whether both are the same entity of the same model.
  public static func == (a: EntityDescription, b: EntityDescription) -> Bool { a === b }
  /// Hashes the entity's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
