/// What a model is made from: plain values that code or the `.xcdatamodel` reader fills in, and that
/// ``ManagedObjectModel/init(entities:configurations:fetchRequestTemplates:versionIdentifier:classes:layouts:warnings:)``
/// checks and turns into immutable descriptions.

/// One attribute, as defined.
public struct AttributeDefinition: Sendable, Hashable, Codable {
  /// The attribute's name, unique in its entity.
  public var name: String
  /// Its type.
  public var type: AttributeType
  /// Whether nil is allowed. Core Data's default is true.
  public var isOptional: Bool
  /// The value a new object starts with.
  public var defaultValue: Value
  /// Never stored. An object keeps the value as long as it keeps its values: a save leaves it, a child's save takes it to
  /// the parent, a rollback puts it back; an object that turns into a fault, or is read elsewhere, has none. It makes an
  /// object changed, but not one to be written, and can't be fetched or sorted by in a store's file.
  /// Source: `isTransient` of Core Data's `NSPropertyDescription`.
  public var isTransient: Bool
  /// The expression of a derived attribute: `now()`, a key path, `canonical:(name)`, `lowercase:(name)`,
  /// `uppercase:(name)`, `articles.@count` or `articles.@sum.views`.
  ///
  /// The store derives the value in the transaction of each save that changes what it follows from. The saving context's
  /// objects have it when the save returns, other contexts when they merge the save; what a program assigns gives way.
  /// Source: `derivationExpression` of Core Data's `NSDerivedAttributeDescription`, where the saving context's objects have
  /// the value only after a refresh.
  public var derivationExpression: String?
  /// The least value, or a string's least length, checked on save; null for no bound.
  public var minimumValue: Value
  /// The greatest value, or a string's greatest length, checked on save; null for no bound.
  public var maximumValue: Value
  /// A pattern that the whole of a string must match, checked on save.
  public var regularExpression: String?
  /// For transformables: the transformer's name.
  public var valueTransformerName: String?
  /// For transformables: the name of the value's class.
  public var attributeValueClassName: String?
  /// For composites: the name of the composite type.
  public var compositeName: String?
  /// For composites: the attributes that the composite type consists of.
  public var compositeElements: [AttributeDefinition] = []
  /// Whether a class that is generated has a plain number and not an optional one.
  public var usesScalarValueType: Bool = false
  /// Whether the model lets large data stand in a file beside the store; this library keeps it in the row.
  public var allowsExternalBinaryDataStorage: Bool
  /// Whether history keeps the value of an object that is deleted.
  public var preservesValueInHistoryOnDeletion: Bool
  /// The name it had in an earlier version, for migration.
  public var renamingIdentifier: String?
  /// What makes two versions differ that look alike.
  public var versionHashModifier: String?
  /// Whatever the model's author noted.
  public var userInfo: [String: String]

  /// An attribute of `type`; what isn't given is Core Data's default.
  public init(
    _ name: String, _ type: AttributeType, isOptional: Bool = true, defaultValue: Value = .null,
    isTransient: Bool = false, derivationExpression: String? = nil, minimumValue: Value = .null,
    maximumValue: Value = .null, regularExpression: String? = nil, userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
    self.isTransient = isTransient
    self.derivationExpression = derivationExpression
    self.minimumValue = minimumValue
    self.maximumValue = maximumValue
    self.regularExpression = regularExpression
    self.allowsExternalBinaryDataStorage = false
    self.preservesValueInHistoryOnDeletion = false
    self.userInfo = userInfo
  }
}

/// What happens to the objects at the other end when an object is deleted: Core Data's `NSDeleteRule`.
public enum DeleteRule: String, Sendable, Hashable, Codable {
  /// They stay as they are; what pointed to the object leads nowhere.
  case noAction = "No Action"
  /// They no longer point back.
  case nullify = "Nullify"
  /// They are deleted too.
  case cascade = "Cascade"
  /// While there are any, the object can't be deleted.
  case deny = "Deny"
}

/// One relationship, as defined.
public struct RelationshipDefinition: Sendable, Hashable, Codable {
  /// The relationship's name, unique in its entity.
  public var name: String
  /// The entity it leads to.
  public var destination: String
  /// The relationship of `destination` that leads back.
  public var inverse: String?
  /// Whether it holds a set and not one object.
  public var isToMany: Bool
  /// Whether the set has an order.
  public var isOrdered: Bool
  /// Whether it may be empty.
  public var isOptional: Bool
  /// Least number of objects; 0 for no bound.
  public var minimumCount: Int
  /// Greatest number of objects; 0 for no bound, 1 for to-one.
  public var maximumCount: Int
  /// What happens to the other end on deletion.
  public var deleteRule: DeleteRule
  /// Never stored.
  public var isTransient: Bool
  /// The name it had in an earlier version, for migration.
  public var renamingIdentifier: String?
  /// What makes two versions differ that look alike.
  public var versionHashModifier: String?
  /// Whatever the model's author noted.
  public var userInfo: [String: String]

  /// A relationship to `destination`; what isn't given is Core Data's default.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, isToMany: Bool = false, isOrdered: Bool = false,
    isOptional: Bool = true, minimumCount: Int = 0, maximumCount: Int? = nil, deleteRule: DeleteRule = .nullify,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.isOptional = isOptional
    self.minimumCount = minimumCount
    self.maximumCount = maximumCount ?? (isToMany ? 0 : 1)
    self.deleteRule = deleteRule
    self.isTransient = false
    self.userInfo = userInfo
  }
}

/// One fetched property, as defined; see ``ManagedObject/fetchedObjects(forKey:)``.
public struct FetchedPropertyDefinition: Sendable, Hashable, Codable {
  /// The property's name.
  public var name: String
  /// The entity whose objects it finds.
  public var entityName: String
  /// Which of them, in the format language with `$FETCH_SOURCE` and `$FETCHED_PROPERTY`; nil for all.
  public var predicateFormat: String?
  /// How many objects at most; 0 for no limit.
  public var fetchLimit: Int = 0
  /// Whether objects of entities that inherit from the entity are found too.
  public var includesSubentities: Bool = true
  /// Whatever the model's author noted.
  public var userInfo: [String: String]

  /// A fetched property that finds objects of `entityName`.
  public init(_ name: String, entityName: String, predicateFormat: String?, userInfo: [String: String] = [:]) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
    self.userInfo = userInfo
  }
}

/// One index over an entity's properties: Core Data's `NSFetchIndexDescription`.
public struct FetchIndexDefinition: Sendable, Hashable, Codable {
  /// One column of an index.
  public struct Element: Sendable, Hashable, Codable {
    /// A property's name, nil when the element is an expression.
    public var property: String?
    /// An expression in the format language, nil when the element is a property.
    public var expression: String?
    /// Whether small values come first.
    public var isAscending: Bool
    /// `Binary` or `RTree`.
    public var collation: String

    /// An element over `property`.
    public init(property: String?, expression: String? = nil, isAscending: Bool = true, collation: String = "Binary") {
      self.property = property
      self.expression = expression
      self.isAscending = isAscending
      self.collation = collation
    }
  }

  /// The index's name, unique in its entity.
  public var name: String
  /// Its columns, in order.
  public var elements: [Element]
  /// A predicate that limits the index to a part of the rows.
  public var partialPredicateFormat: String?

  /// An index of `elements`.
  public init(_ name: String, elements: [Element], partialPredicateFormat: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicateFormat = partialPredicateFormat
  }
}

/// One entity, as defined.
public struct EntityDefinition: Sendable, Hashable, Codable {
  /// The entity's name, unique in its model.
  public var name: String
  /// The entity it inherits from.
  public var parent: String?
  /// Whether it has no objects of its own.
  public var isAbstract: Bool
  /// Core Data's `representedClassName`.
  public var className: String?
  /// Xcode's `codeGenerationType`: `class`, `category`, or nil for none.
  public var codeGenerationType: String?
  /// Its own attributes, in the order of their slots.
  public var attributes: [AttributeDefinition]
  /// Its own relationships, in the order of their slots.
  public var relationships: [RelationshipDefinition]
  /// Its fetched properties.
  public var fetchedProperties: [FetchedPropertyDefinition]
  /// Groups of attributes whose values together are unique. An object that has no value in one of them clashes with
  /// none, as in SQL, whatever the others hold.
  public var uniquenessConstraints: [[String]]
  /// Its indexes.
  public var indexes: [FetchIndexDefinition]
  /// The name it had in an earlier version, for migration.
  public var renamingIdentifier: String?
  /// What makes two versions differ that look alike.
  public var versionHashModifier: String?
  /// Whatever the model's author noted; `primaryKey` names an attribute that numbers the objects.
  public var userInfo: [String: String]

  /// An entity with its own properties; those of `parent` are inherited.
  public init(
    _ name: String, parent: String? = nil, isAbstract: Bool = false, className: String? = nil,
    attributes: [AttributeDefinition] = [], relationships: [RelationshipDefinition] = [],
    uniquenessConstraints: [[String]] = [], indexes: [FetchIndexDefinition] = [], userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = isAbstract
    self.className = className
    self.attributes = attributes
    self.relationships = relationships
    self.fetchedProperties = []
    self.uniquenessConstraints = uniquenessConstraints
    self.indexes = indexes
    self.userInfo = userInfo
  }
}

/// A named fetch request of the model: Core Data's fetch request template.
public struct FetchRequestTemplateDefinition: Sendable, Hashable, Codable {
  /// The template's name, unique in its model.
  public var name: String
  /// The entity whose objects it fetches.
  public var entityName: String
  /// Which of them, in the format language; nil for all.
  public var predicateFormat: String?
  /// How many objects at most; 0 for no limit.
  public var fetchLimit: Int
  /// Objects read at a time; 0 for all.
  public var fetchBatchSize: Int = 0
  /// Whether objects of entities that inherit from the entity are found too.
  public var includesSubentities: Bool = true
  /// Whether equal results are given once.
  public var returnsDistinctResults: Bool = false

  /// A template that fetches `entityName`.
  public init(_ name: String, entityName: String, predicateFormat: String?, fetchLimit: Int = 0) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
    self.fetchLimit = fetchLimit
  }
}
