public import Foundation

/// What happens to the rows of one entity.
///
/// Source: Core Data's `NSEntityMapping`.
public struct EntityMapping: Sendable {
  /// In which way the entities of both models differ.
  public enum MappingType: String, Sendable, Hashable {
    /// The entity is new.
    case add
    /// The entity is gone, and its rows with it.
    case remove
    /// Both versions are the same.
    case copy
    /// The versions differ.
    case transform
    /// Rows become others by a policy of the program's own.
    case custom
  }

  /// The mapping's name, unique in its model: `AToB` where it was inferred.
  public var name: String
  /// In which way the entities differ.
  public var mappingType: MappingType
  /// The entity whose rows are read; nil when the entity is new.
  public var sourceEntityName: String?
  /// The version hash of that entity.
  public var sourceEntityVersionHash: Data?
  /// The entity that they become; nil when they are gone.
  public var destinationEntityName: String?
  /// The version hash of that entity.
  public var destinationEntityVersionHash: Data?
  /// Where the values of the destination's attributes come from, inherited ones included.
  public var attributeMappings: [PropertyMapping]
  /// Where the objects of the destination's relationships come from, inherited ones included.
  public var relationshipMappings: [PropertyMapping]
  /// The class that makes what becomes of the objects; nil for the base class, which does what the mapping says.
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

/// Where one property's value comes from.
///
/// Source: Core Data's `NSPropertyMapping`, whose `valueExpression` is a case here.
public struct PropertyMapping: Sendable {
  /// Where a value comes from.
  public enum Source: Sendable {
    /// The source's property of that name; of a relationship: what the objects there have become.
    case property(String)
    /// The source's attribute of that name, and this value where it has none.
    case propertyOrValue(String, Value)
    /// The same value for every row.
    case value(Value)
    /// What a function makes of the object of the old store; of a relationship, the IDs of objects of the new one.
    case custom(@Sendable (ManagedObject, MigrationManager) throws -> Value)
  }

  /// The destination's property.
  public var name: String
  /// Where its value comes from; nil leaves what a new object has.
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
