public import ManagedObjects

/// The entities of an import's own bookkeeping, in the same store as its rows, so that both commit together.
public enum ImportModel {
  /// The checkpoint of each job.
  package static let checkpointEntity = "lade_checkpoint"
  /// The number of each job's latest claim that has begun to work on the store.
  package static let fenceEntity = "lade_fence"
  /// References of a job's rows to objects that the store doesn't have yet.
  package static let referenceEntity = "lade_unresolved"
  /// Deferred records of a job: they need an object that a later row may be.
  package static let asideEntity = "lade_aside"
  /// The objects that a job's records were about.
  package static let seenEntity = "lade_seen"
  /// Imported files, for recipes that don't import the same file twice.
  package static let importedEntity = "lade_imported"
  /// The rejected records of jobs that retries have resolved.
  package static let resolvedEntity = "lade_resolved"
  /// How far recipes have read incremental sources.
  package static let cursorEntity = "lade_cursor"
  /// The jobs whose changes are recorded, and the members of their files.
  package static let jobEntity = "lade_job"
  /// Which rows such a job's saves have inserted, changed and deleted.
  package static let lineageEntity = "lade_lineage"
  /// What these rows were before.
  package static let beforeEntity = "lade_before"
  /// All of these. They are no user data.
  package static let entities: Set<String> = [
    checkpointEntity, fenceEntity, referenceEntity, asideEntity, seenEntity, importedEntity, resolvedEntity,
    cursorEntity, jobEntity,
    lineageEntity, beforeEntity,
  ]

  /// The model of these entities, to be merged with that of the data.
  package static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: [
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
        EntityDefinition(
          importedEntity,
          attributes: ["digest", "target", "options", "name"].map {
            AttributeDefinition($0, .string, isOptional: false)
          } + [AttributeDefinition("time", .date, isOptional: false)],
          indexes: [FetchIndexDefinition("byDigest", elements: [.init(property: "digest")])]),
        EntityDefinition(
          resolvedEntity,
          attributes: [
            AttributeDefinition("job", .string, isOptional: false),
            AttributeDefinition("number", .integer64, isOptional: false),
            AttributeDefinition("by", .integer64, isOptional: false),
          ],
          uniquenessConstraints: [["job", "number"]]),
        EntityDefinition(
          cursorEntity,
          attributes: ["recipe", "column", "source", "value"].map {
            AttributeDefinition($0, .string, isOptional: false)
          }
            + [
              AttributeDefinition("job", .integer64, isOptional: false),
              AttributeDefinition("moved", .date, isOptional: false),
            ],
          uniquenessConstraints: [["recipe"]]),
        EntityDefinition(
          fenceEntity,
          attributes: [
            AttributeDefinition("job", .string, isOptional: false),
            AttributeDefinition("claim", .integer64, isOptional: false, defaultValue: .int(0)),
          ],
          uniquenessConstraints: [["job"]]),
        EntityDefinition(
          asideEntity,
          attributes: [
            AttributeDefinition("job", .string, isOptional: false),
            AttributeDefinition("record", .integer64, isOptional: false),
            AttributeDefinition("identity", .string, isOptional: false),
            AttributeDefinition("overtaken", .integer64, isOptional: false, defaultValue: .int(0)),
            AttributeDefinition("payload", .string, isOptional: false),
            AttributeDefinition("raw", .binaryData, isOptional: false),
          ],
          indexes: [
            FetchIndexDefinition("byRecord", elements: [.init(property: "job"), .init(property: "record")]),
            FetchIndexDefinition("byIdentity", elements: [.init(property: "job"), .init(property: "identity")]),
          ]),
        EntityDefinition(
          seenEntity,
          attributes: [
            AttributeDefinition("job", .string, isOptional: false),
            AttributeDefinition("chunk", .integer64, isOptional: false),
            AttributeDefinition("rows", .binaryData, isOptional: false),
          ],
          indexes: [FetchIndexDefinition("byChunk", elements: [.init(property: "job"), .init(property: "chunk")])]),
      ] + LineageModel.entities)
  }

  /// The data's model with the entities that imports, and the jobs `prune` and `update`, keep beside the data: how far each has
  /// come, in the transaction of what it did. A store that they work on is opened with this model.
  /// - Throws: `ModelError` when the model has entities of these names.
  public static func adding(to model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ManagedObjectModel.merging([model, make()])
  }
}
