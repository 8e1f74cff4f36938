/// Entities and their relationships: the schema of a coordinator, its stores and its contexts. Immutable.
///
/// Read one from Xcode's files (see ``init(contentsOf:classes:layouts:)``), or build it in code:
///
/// ```swift
/// let model = try ManagedObjectModel(entities: [
///   EntityDefinition("Person", attributes: [AttributeDefinition("name", .string)]),
/// ])
/// ```
///
/// A model is never freed: its descriptions refer to each other unowned, and object IDs refer to them. A process creates only
/// a handful of models.
///
/// Source: Core Data's `NSManagedObjectModel`.
public final class ManagedObjectModel: Sendable {
  /// The entities, in the order of their definition.
  public let entities: [EntityDescription]
  /// The entities by their names.
  public let entitiesByName: [String: EntityDescription]
  /// Names of entities by configuration.
  public let configurations: [String: [String]]
  /// Fetch requests by their names.
  public let fetchRequestTemplates: [String: FetchRequestTemplateDefinition]
  /// The version identifiers that the author assigned.
  public let versionIdentifier: String?
  /// Whether an entity has a class of its own.
  package let hasOwnClasses: Bool
  /// The parts of the model file that this library doesn't know.
  public let warnings: [ModelWarning]
  /// The mismatches between classes and entities. A coordinator refuses to open a store while there are any.
  let classMismatches: [String]
  private let layouts: [String: ClassLayout]

  /// Checks the definitions and builds a model.
  ///
  /// - Parameters:
  ///   - classes: the class of each entity's objects, by the entity's name or its `className`. If there is one, all must
  ///     fit, and each `className` needs its class; opening a store reports mismatches.
  ///   - layouts: the slots of accessors in extensions, by the entity's name; see ``ClassLayout``.
  /// - Throws: ``ModelError/inconsistent(_:)`` with every problem found.
  public init(
    entities definitions: [EntityDefinition], configurations: [String: [String]] = [:],
    fetchRequestTemplates: [FetchRequestTemplateDefinition] = [], versionIdentifier: String? = nil,
    classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:], warnings: [ModelWarning] = []
  ) throws {
    var assembly = ModelAssembly(definitions, classes: classes)
    self.entities = try assembly.assemble()
    self.entitiesByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    self.hasOwnClasses = entities.contains(where: \.hasOwnClass)
    self.configurations = configurations
    self.fetchRequestTemplates = Dictionary(
      fetchRequestTemplates.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.versionIdentifier = versionIdentifier
    self.warnings = warnings
    self.layouts = layouts
    var check = ClassCheck(entities, classes: classes, layouts: layouts)
    classMismatches = check.run()
    ClassLayouts.note(layouts, entities)
    _ = Unmanaged.passRetained(self)
  }

  /// Merges several models.
  /// - Throws: ``ModelError/conflictingEntities(_:)`` when two of them define the same entity differently.
  public static func merging(
    _ models: [ManagedObjectModel], classes: [String: ManagedObject.Type] = [:]
  ) throws -> ManagedObjectModel {
    var definitions: [EntityDefinition] = []
    var seen: [String: EntityDefinition] = [:]
    var conflicts: [String] = []
    var all: [String: ManagedObject.Type] = [:]
    for model in models {
      for entity in model.entities {
        if let other = seen[entity.name] {
          if other != entity.definition { conflicts.append(entity.name) }
          continue
        }
        seen[entity.name] = entity.definition
        definitions.append(entity.definition)
        if entity.objectClass != ManagedObject.self { all[entity.name] = entity.objectClass }
      }
    }
    guard conflicts.isEmpty else { throw ModelError.conflictingEntities(conflicts) }
    return try ManagedObjectModel(
      entities: definitions,
      configurations: models.reduce(into: [:]) { $0.merge($1.configurations) { $0 + $1 } },
      fetchRequestTemplates: models.flatMap { $0.fetchRequestTemplates.values },
      versionIdentifier: models.first?.versionIdentifier, classes: all.merging(classes) { $1 },
      layouts: models.reduce(into: [:]) { $0.merge($1.layouts) { $1 } }, warnings: models.flatMap(\.warnings))
  }
}
