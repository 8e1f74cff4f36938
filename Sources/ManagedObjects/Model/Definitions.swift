/// What a model is made from: plain values that code or the `.xcdatamodel` reader fills in, and that
/// ``ManagedObjectModel/init(entities:configurations:fetchRequestTemplates:versionIdentifier:classes:warnings:)``
/// checks and turns into immutable descriptions.

/// One attribute, as defined.
public struct AttributeDefinition: Sendable, Hashable {
  /// The attribute's name, unique in its entity.
  public var name: String
  /// Its type.
  public var type: AttributeType
  /// Whether nil is allowed. Core Data's default is true.
  public var isOptional: Bool
  /// The value a new object starts with.
  public var defaultValue: Value
  /// Never stored.
  public var isTransient: Bool
  /// The expression of a derived attribute, such as `now:()` or `canonical:(name)`.
  public var derivationExpression: String?
  /// Least and greatest value or length, and a pattern, checked on save.
  public var minimumValue: Value
  public var maximumValue: Value
  public var regularExpression: String?
  /// For transformables: the transformer's and the value class's names.
  public var valueTransformerName: String?
  public var attributeValueClassName: String?
  /// For composites: the name of the composite type.
  public var compositeName: String?
  /// For composites: the attributes that the composite type consists of.
  public var compositeElements: [AttributeDefinition] = []
  /// Whether a class that is generated has a plain number and not an optional one.
  public var usesScalarValueType: Bool = false
  public var allowsExternalBinaryDataStorage: Bool
  public var preservesValueInHistoryOnDeletion: Bool
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
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
  case noAction = "No Action"
  case nullify = "Nullify"
  case cascade = "Cascade"
  case deny = "Deny"
}

/// One relationship, as defined.
public struct RelationshipDefinition: Sendable, Hashable {
  public var name: String
  /// The entity it leads to.
  public var destination: String
  /// The relationship of `destination` that leads back.
  public var inverse: String?
  public var isToMany: Bool
  public var isOrdered: Bool
  public var isOptional: Bool
  /// Least number of objects; 0 for no bound.
  public var minimumCount: Int
  /// Greatest number of objects; 0 for no bound, 1 for to-one.
  public var maximumCount: Int
  public var deleteRule: DeleteRule
  public var isTransient: Bool
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
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

/// One fetched property, as defined: kept on the entity, evaluated by hand.
public struct FetchedPropertyDefinition: Sendable, Hashable {
  public var name: String
  public var entityName: String
  public var predicateFormat: String?
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
public struct FetchIndexDefinition: Sendable, Hashable {
  /// One column of an index.
  public struct Element: Sendable, Hashable {
    /// A property's name, nil when the element is an expression.
    public var property: String?
    /// An expression in the format language, nil when the element is a property.
    public var expression: String?
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

  public var name: String
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
public struct EntityDefinition: Sendable, Hashable {
  public var name: String
  public var parent: String?
  public var isAbstract: Bool
  /// Core Data's `representedClassName`.
  public var className: String?
  /// Xcode's `codeGenerationType`: `class`, `category`, or nil for none.
  public var codeGenerationType: String?
  public var attributes: [AttributeDefinition]
  public var relationships: [RelationshipDefinition]
  public var fetchedProperties: [FetchedPropertyDefinition]
  public var uniquenessConstraints: [[String]]
  public var indexes: [FetchIndexDefinition]
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
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
public struct FetchRequestTemplateDefinition: Sendable, Hashable {
  public var name: String
  public var entityName: String
  public var predicateFormat: String?
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
