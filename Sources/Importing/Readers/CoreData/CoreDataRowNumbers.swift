package import ManagedObjects

/// The attribute that holds the number of an object's row in a Core Data store.
///
/// Core Data identifies objects by the row numbers of one table for each hierarchy of entities. With such an attribute at the
/// root of each hierarchy, an import finds the objects of relationships, and finds its own objects when it runs again.
package enum CoreDataRowNumbers {
  /// The column of a store's table, and the `mappedKeyName` of the attribute.
  package static let column = "Z_PK"
  /// The attribute's name, unless it is taken.
  private static let name = "storeRow"

  /// The attribute of an entity that holds the number of its objects' rows.
  package static func attribute(of entity: EntityDescription) -> AttributeDescription? {
    entity.attributes.first { $0.userInfo["mappedKeyName"] == column }
  }

  /// A model for importing the stores of another: with such attributes, transformable attributes as Binary, and without
  /// relationships that need several objects, since the rows of these come later.
  package static func adding(to model: ManagedObjectModel) throws -> ManagedObjectModel {
    let taken = Set(model.entities.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
    var name = Self.name
    while taken.contains(name) { name += "_" }
    let entities = model.entities.map { description -> EntityDefinition in
      var entity = description.definition
      if entity.parent == nil {
        var attribute = AttributeDefinition(name, .integer64, isOptional: false, userInfo: ["mappedKeyName": column])
        attribute.usesScalarValueType = true
        entity.attributes.insert(attribute, at: 0)
        entity.uniquenessConstraints.insert([name], at: 0)
      }
      for index in entity.attributes.indices where entity.attributes[index].type == .transformable {
        entity.attributes[index].type = .binaryData
        entity.attributes[index].valueTransformerName = nil
        entity.attributes[index].attributeValueClassName = nil
      }
      for index in entity.relationships.indices {
        if entity.relationships[index].isToMany {
          entity.relationships[index].isOptional = true
          entity.relationships[index].minimumCount = 0
        }
      }
      return entity
    }
    return try ManagedObjectModel(
      entities: entities, configurations: model.configurations,
      fetchRequestTemplates: model.fetchRequestTemplates.values.sorted { $0.name < $1.name },
      versionIdentifier: model.versionIdentifier)
  }
}
