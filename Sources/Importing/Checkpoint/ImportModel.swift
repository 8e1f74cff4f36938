package import ManagedObjects

/// The entities that an import keeps beside the rows it writes: in the same store, so that both commit together.
package enum ImportModel {
  /// How far each job has come.
  package static let checkpointEntity = "lade_checkpoint"
  /// Rows of a job that refer to objects which the store hasn't got yet.
  package static let referenceEntity = "lade_unresolved"

  /// The model, to be merged with that of the data.
  package static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        checkpointEntity,
        attributes: [AttributeDefinition("job", .string, isOptional: false)]
          + ImportCheckpoint.texts.map {
            AttributeDefinition($0, .string, isOptional: false, defaultValue: .string(""))
          }
          + ImportCheckpoint.numbers.map {
            AttributeDefinition($0, .integer64, isOptional: false, defaultValue: .int(0))
          }
          + ImportCheckpoint.laterTexts.map {
            AttributeDefinition($0, .string, isOptional: false, defaultValue: .string(""))
          },
        uniquenessConstraints: [["job"]]),
      EntityDefinition(
        referenceEntity,
        attributes: [
          AttributeDefinition("job", .string, isOptional: false),
          AttributeDefinition("entity", .string, isOptional: false),
          AttributeDefinition("row", .integer64, isOptional: false),
          AttributeDefinition("keys", .string, isOptional: false),
          AttributeDefinition("counted", .string, isOptional: false),
          AttributeDefinition("sets", .string),
        ],
        indexes: [FetchIndexDefinition("byRow", elements: [.init(property: "job"), .init(property: "row")])]),
    ])
  }

  /// The data's model with these entities added.
  package static func adding(to model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel.merging([model, make()])
  }
}
