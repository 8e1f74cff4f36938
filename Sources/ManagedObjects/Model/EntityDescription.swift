/// An entity, in place in its model: its properties with the slots that number them. Immutable.
///
/// Slots are numbered so that a subclass can name them as constants: inherited properties first, then the entity's own
/// attributes, then its own relationships, each in the order in which they were defined. A superentity's slots are
/// therefore a prefix of its subentities'. The elements of a composite attribute have slots in its place, each as an
/// attribute of its own that is named `address.city`, in the order of their definition, those of a composite within it in
/// its place again; the composite itself has none.
///
/// Source: Core Data's `NSEntityDescription`.
public final class EntityDescription: @unchecked Sendable, Hashable {
  // Sendable: every stored property is written while the model is made, on one thread, and never after. An entity is
  // kept alive by its model; the model and its entities live as long as any object ID or context that refers to them,
  // because ``ManagedObjectModel`` is never freed (see there).

  /// What the model says of it.
  public let definition: EntityDefinition
  /// The entity's name, unique in its model.
  public var name: String { definition.name }
  /// Whether it has no objects of its own.
  public var isAbstract: Bool { definition.isAbstract }
  /// Whatever the model's author noted.
  public var userInfo: [String: String] { definition.userInfo }
  /// The entity it inherits from.
  public internal(set) var superentity: EntityDescription?
  /// The entities that inherit from it directly.
  public internal(set) var subentities: [EntityDescription] = []
  /// The top of its hierarchy: itself, when it inherits from none.
  public internal(set) unowned(unsafe) var rootEntity: EntityDescription!
  /// Every property, inherited ones included, at the index of its slot.
  public internal(set) var properties: [PropertyDescription] = []
  /// Every property by its name, inherited ones included.
  public internal(set) var propertiesByName: [String: PropertyDescription] = [:]
  /// The attributes that consist of others by their names, inherited ones included, with those within others
  /// (`address.position`). They aren't among the properties; their elements are.
  public internal(set) var compositeAttributesByName: [String: CompositeAttributeDescription] = [:]
  /// Every attribute, by slot.
  public internal(set) var attributes: [AttributeDescription] = []
  /// Every relationship, by slot.
  public internal(set) var relationships: [RelationshipDescription] = []
  /// Groups of attributes whose values together are unique, inherited ones included.
  public internal(set) var uniquenessConstraints: [[AttributeDescription]] = []
  /// Indexes, inherited ones included.
  public internal(set) var indexes: [FetchIndexDefinition] = []
  /// The attribute that the model makes the primary key of the table, by `primaryKey` in the entity's `userInfo`.
  ///
  /// Not in Core Data: an attribute of an integer type that isn't optional can itself number the objects. Its value is
  /// then the object ID's number, can't be changed once the object is saved, and stands in the table as
  /// `INTEGER PRIMARY KEY`, without a second column or index.
  public internal(set) var primaryKey: AttributeDescription?
  /// Relationships of any entity that may lead to an object of this one, in the model's order.
  package internal(set) var references: [RelationshipDescription] = []
  /// Those of them that no delete rule takes back: without an inverse, or with one whose rule is to do nothing.
  package internal(set) var looseReferences: [RelationshipDescription] = []
  /// How its derived attributes follow from others.
  package internal(set) var derivations: [Derivation] = []
  /// What changes to its rows make to be derived anew.
  var derivationTriggers: [DerivationTrigger] = []
  /// Whether its rows have derived values or others derive values from them.
  package var hasDerivations: Bool { !derivations.isEmpty || !derivationTriggers.isEmpty }
  /// Whether another object's set may hold one of its objects because of where that points to.
  package internal(set) var joinsSets = false
  /// Its ordered to-many relationships that are stored.
  package internal(set) var orderedSets: [RelationshipDescription] = []
  /// Its to-one relationships that an ordered one leads back from: rows have a place in an order by them.
  package internal(set) var orderedReferences: [RelationshipDescription] = []
  /// Whether its rows belong to an order or have one.
  package var hasOrders: Bool { !orderedSets.isEmpty || !orderedReferences.isEmpty }
  /// The row a new object starts with: defaults, and empty sets.
  package internal(set) var initialValues: ContiguousArray<Value> = []
  /// The row of a fault: nothing has been read.
  package internal(set) var faultValues: ContiguousArray<Value> = []
  /// The class of its objects.
  package internal(set) var objectClass: ManagedObject.Type = ManagedObject.self {
    didSet {
      hasOwnClass = objectClass != ManagedObject.self
      validatesValues = hasOwnClass && objectClass.validatesValues
    }
  }
  /// Whether its objects may have something to say in their life cycle; the others are never asked.
  package private(set) var hasOwnClass = false
  /// Whether a class of the program's is asked about each value before a save.
  private(set) var validatesValues = false
  /// A number for each entity of the model.
  package internal(set) var index: Int = 0
  /// What the model demands of a row.
  package internal(set) var validationRules: ValidationRules!
  /// The numbers of itself and of all that inherit from it.
  package internal(set) var family: Set<Int> = []

  init(_ definition: EntityDefinition) { self.definition = definition }

  /// Attributes by name, inherited ones included.
  public var attributesByName: [String: AttributeDescription] {
    Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0) })
  }

  /// Relationships by name, inherited ones included.
  public var relationshipsByName: [String: RelationshipDescription] {
    Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0) })
  }

  /// The property's slot, nil when the entity has none of that name.
  public func slot(of name: String) -> Int? { propertiesByName[name]?.slot }

  /// Whether it is `other` or inherits from it.
  public func isKindOf(_ other: EntityDescription) -> Bool {
    other.family.contains(index) && other.rootEntity === rootEntity
  }

  /// Itself and every entity that inherits from it, in the model's order.
  public var selfAndDescendants: [EntityDescription] { [self] + subentities.flatMap(\.selfAndDescendants) }

  /// Whether both are the same entity of the same model.
  public static func == (a: EntityDescription, b: EntityDescription) -> Bool { a === b }
  /// Hashes the entity's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
