/// Plain values from which a model is built, by code or by the `.xcdatamodel` reader.
/// ``ManagedObjectModel/init(entities:configurations:fetchRequestTemplates:versionIdentifier:classes:layouts:warnings:)``
/// checks them and turns them into immutable descriptions.

/// A condition on an attribute's values, and what to say when it isn't met.
///
/// The predicate is evaluated with the value as `SELF`; `length` is a string's number of UTF-16 units. It is checked with
/// the other rules on each save of a changed object; nil passes, if the attribute is optional.
///
/// ```swift
/// ValidationPredicate("SELF BEGINSWITH 'https:'", warning: "the address must be a secure one")
/// ValidationPredicate("SELF IN {1, 2, 5}", warning: "there is no such coin")
/// ```
///
/// Source: `setValidationPredicates(_:withValidationWarnings:)` of Core Data's `NSPropertyDescription`. Model files of Xcode hold
/// none but bounds, lengths and patterns, which are ``AttributeDefinition/minimumValue`` and the like here.
public struct ValidationPredicate: Sendable, Hashable, Codable {
  /// The predicate, in the format language.
  public var predicateFormat: String
  /// What a failure says to a user.
  public var warning: String

  /// A condition and its warning.
  public init(_ predicateFormat: String, warning: String) {
    self.predicateFormat = predicateFormat
    self.warning = warning
  }
}

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
  /// Never stored. The value lives as long as the object isn't a fault: it survives a save, a child's save passes it to the
  /// parent, a rollback restores it. Setting it marks the object as changed but causes no write. Store fetches can't filter or
  /// sort by it.
  /// Source: `isTransient` of Core Data's `NSPropertyDescription`.
  public var isTransient: Bool
  /// The expression of a derived attribute: `now()`, a key path, `canonical:(name)`, `lowercase:(name)`,
  /// `uppercase:(name)`, `articles.@count` or `articles.@sum.views`.
  ///
  /// The store computes the value in the transaction of each save that changes its sources. The saving context's objects have
  /// it when the save returns, other contexts once they merge the save. An assigned value is overwritten.
  /// Source: `derivationExpression` of Core Data's `NSDerivedAttributeDescription`, where the saving context's objects need a
  /// refresh first.
  public var derivationExpression: String?
  /// The minimum value, or a string's minimum length, checked on save; null for no bound.
  public var minimumValue: Value
  /// The maximum value, or a string's maximum length, checked on save; null for no bound.
  public var maximumValue: Value
  /// A pattern that the whole of a string must match, checked on save.
  public var regularExpression: String?
  /// Further conditions on the value, checked on save.
  public var validationPredicates: [ValidationPredicate] = []
  /// For transformables: the transformer's name.
  public var valueTransformerName: String?
  /// For transformables: the name of the value's class.
  public var attributeValueClassName: String?
  /// For composites: the name of the composite type.
  public var compositeName: String?
  /// For composites: the attributes of the composite type.
  public var compositeElements: [AttributeDefinition] = []
  /// Whether a generated class declares a plain number instead of an optional.
  public var usesScalarValueType: Bool = false
  /// Whether large data may be in a file next to the store: see `docs/models.md`.
  public var allowsExternalBinaryDataStorage: Bool
  /// Whether history keeps the value after the object is deleted.
  public var preservesValueInHistoryOnDeletion: Bool
  /// The name it had in an earlier version, for migration.
  public var renamingIdentifier: String?
  /// A modifier that makes otherwise identical versions differ.
  public var versionHashModifier: String?
  /// The author's annotations.
  public var userInfo: [String: String]

  /// An attribute of `type`, with Core Data's defaults.
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

/// What deleting an object does to the objects at the other end: Core Data's `NSDeleteRule`.
public enum DeleteRule: String, Sendable, Hashable, Codable {
  /// Nothing: references to the object dangle and read as nil.
  case noAction = "No Action"
  /// Their references to the object are cleared.
  case nullify = "Nullify"
  /// They are deleted too.
  case cascade = "Cascade"
  /// The object can't be deleted while there are any.
  case deny = "Deny"
}

/// One relationship, as defined.
public struct RelationshipDefinition: Sendable, Hashable, Codable {
  /// The relationship's name, unique in its entity.
  public var name: String
  /// The destination entity.
  public var destination: String
  /// The inverse relationship, a property of `destination`.
  public var inverse: String?
  /// Whether it is a to-many relationship.
  public var isToMany: Bool
  /// Whether the set has an order.
  public var isOrdered: Bool
  /// Whether it may be empty.
  public var isOptional: Bool
  /// The minimum number of objects; 0 for no bound.
  public var minimumCount: Int
  /// The maximum number of objects; 0 for no bound, 1 for to-one.
  public var maximumCount: Int
  /// What deletion does to the other end.
  public var deleteRule: DeleteRule
  /// Never stored.
  public var isTransient: Bool
  /// The name it had in an earlier version, for migration.
  public var renamingIdentifier: String?
  /// A modifier that makes otherwise identical versions differ.
  public var versionHashModifier: String?
  /// The author's annotations.
  public var userInfo: [String: String]

  /// A relationship to `destination`, with Core Data's defaults.
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

extension RelationshipDefinition {
  /// The key of a to-one relationship's user info that names its column in a table.
  package static let columnNameKey = "columnName"

  /// The name of the column with the numbers of the related rows, where the user info gives one.
  package var columnName: String? {
    guard !isToMany, let name = userInfo[Self.columnNameKey], !name.isEmpty else { return nil }
    return name
  }
}

/// One fetched property, as defined; see ``ManagedObject/fetchedObjects(forKey:)``.
public struct FetchedPropertyDefinition: Sendable, Hashable, Codable {
  /// The property's name.
  public var name: String
  /// The entity of the objects it fetches.
  public var entityName: String
  /// The predicate, in the format language with `$FETCH_SOURCE` and `$FETCHED_PROPERTY`; nil for all.
  public var predicateFormat: String?
  /// The maximum number of objects; 0 for no limit.
  public var fetchLimit: Int = 0
  /// Whether to include objects of subentities.
  public var includesSubentities: Bool = true
  /// The author's annotations.
  public var userInfo: [String: String]

  /// A fetched property for objects of `entityName`.
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
    /// A property's name, nil for an expression.
    public var property: String?
    /// An expression in the format language, nil for a property.
    public var expression: String?
    /// Whether the order is ascending.
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
  /// A predicate that limits the index to some rows.
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
  /// Whether it is abstract.
  public var isAbstract: Bool
  /// Core Data's `representedClassName`.
  public var className: String?
  /// Xcode's `codeGenerationType`: `class`, `category`, or nil for none.
  public var codeGenerationType: String?
  /// Its own attributes, in slot order.
  public var attributes: [AttributeDefinition]
  /// Its own relationships, in slot order.
  public var relationships: [RelationshipDefinition]
  /// Its fetched properties.
  public var fetchedProperties: [FetchedPropertyDefinition]
  /// Groups of attributes whose combined values are unique. As in SQL, an object with nil in any of them never conflicts.
  public var uniquenessConstraints: [[String]]
  /// Its indexes.
  public var indexes: [FetchIndexDefinition]
  /// The name it had in an earlier version, for migration.
  public var renamingIdentifier: String?
  /// A modifier that makes otherwise identical versions differ.
  public var versionHashModifier: String?
  /// The author's annotations; `primaryKey` names an attribute that numbers the objects.
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
  /// The predicate, in the format language; nil for all.
  public var predicateFormat: String?
  /// The maximum number of objects; 0 for no limit.
  public var fetchLimit: Int
  /// The number of objects to read at a time; 0 for all.
  public var fetchBatchSize: Int = 0
  /// Whether to include objects of subentities.
  public var includesSubentities: Bool = true
  /// Whether to drop duplicate results.
  public var returnsDistinctResults: Bool = false

  /// A template that fetches `entityName`.
  public init(_ name: String, entityName: String, predicateFormat: String?, fetchLimit: Int = 0) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
    self.fetchLimit = fetchLimit
  }
}
