public import Foundation

/// How the rows of one entity are migrated.
///
/// Source: Core Data's `NSEntityMapping`.
public struct EntityMapping: Sendable {
  /// How the entities of both models differ.
  public enum MappingType: String, Sendable, Hashable {
    /// The entity is new.
    case add
    /// The entity is removed with its rows.
    case remove
    /// Both versions are the same.
    case copy
    /// The versions differ.
    case transform
    /// A policy of the program's own converts the rows.
    case custom
  }

  /// The mapping's name, unique in its model: `AToB` where it was inferred.
  public var name: String
  /// How the entities differ.
  public var mappingType: MappingType
  /// The entity whose rows are read; nil when the entity is new.
  public var sourceEntityName: String?
  /// The version hash of that entity.
  public var sourceEntityVersionHash: Data?
  /// The entity that they are converted to; nil when it is removed.
  public var destinationEntityName: String?
  /// The version hash of that entity.
  public var destinationEntityVersionHash: Data?
  /// The sources of the destination's attributes, inherited ones included.
  public var attributeMappings: [PropertyMapping]
  /// The sources of the destination's relationships, inherited ones included.
  public var relationshipMappings: [PropertyMapping]
  /// The class that converts the objects; nil for the base class, which follows the mapping.
  /// Core Data: `entityMigrationPolicyClassName`.
  public var entityMigrationPolicy: EntityMigrationPolicy.Type?

  /// A mapping from an entity to another.
  public init(
    _ name: String? = nil, _ mappingType: MappingType = .transform, from source: EntityDescription?,
    to destination: EntityDescription?, attributeMappings: [PropertyMapping] = [],
    relationshipMappings: [PropertyMapping] = [], policy: EntityMigrationPolicy.Type? = nil
  ) {
    self.name = name ?? "\(source?.name ?? "")To\(destination?.name ?? "")"
    self.mappingType = mappingType
    sourceEntityName = source?.name
    sourceEntityVersionHash = source?.versionHash
    destinationEntityName = destination?.name
    destinationEntityVersionHash = destination?.versionHash
    self.attributeMappings = attributeMappings
    self.relationshipMappings = relationshipMappings
    entityMigrationPolicy = policy
  }

  /// The mapping of the destination's property of that name, an attribute's or a relationship's.
  public subscript(property name: String) -> PropertyMapping? {
    get { (attributeMappings + relationshipMappings).first { $0.name == name } }
    set {
      if let index = relationshipMappings.firstIndex(where: { $0.name == name }) {
        relationshipMappings.remove(at: index)
        if let newValue { relationshipMappings.insert(newValue, at: index) }
      } else {
        let index = attributeMappings.firstIndex { $0.name == name }
        if let index { attributeMappings.remove(at: index) }
        if let newValue { attributeMappings.insert(newValue, at: index ?? attributeMappings.count) }
      }
    }
  }
}

/// The source of one property's value.
///
/// Source: Core Data's `NSPropertyMapping`, whose `valueExpression` is a case here.
public struct PropertyMapping: Sendable {
  /// The source of a value.
  public enum Source: Sendable {
    /// The source entity's property of that name; for a relationship, the objects that its objects were converted to.
    case property(String)
    /// The source entity's attribute of that name, or this value where that is null.
    case propertyOrValue(String, Value)
    /// The same value for every row.
    case value(Value)
    /// The result of a function of the old store's object; for a relationship, IDs of the new store's objects.
    case custom(@Sendable (ManagedObject, MigrationManager) throws -> Value)
  }

  /// The destination's property.
  public var name: String
  /// The source of its value; nil leaves a new object's value.
  public var source: Source?

  /// A mapping of one property.
  public init(_ name: String, _ source: Source?) {
    self.name = name
    self.source = source
  }

  /// The name of the source's property, where there is one.
  package var sourceName: String? {
    switch source {
    case .property(let name), .propertyOrValue(let name, _): return name
    case .value, .custom, nil: return nil
    }
  }
}
