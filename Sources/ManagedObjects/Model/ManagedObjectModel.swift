public import Foundation

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
  /// Whether an entity may look at the members of its one-to-many sets when they change.
  let checksMembers: Bool
  /// The parts of the model file that this library doesn't know.
  public let warnings: [ModelWarning]
  /// The mismatches between classes and entities. A coordinator refuses to open a store while there are any.
  let classMismatches: [String]
  private let layouts: [String: ClassLayout]

  // The models of imported stores alone are freed: see ``init(modelCache:file:isKept:)``.
  deinit { for entity in entities { entity.letGo() } }

  /// Checks the definitions and builds a model.
  ///
  /// - Parameters:
  ///   - classes: the class of each entity's objects, by the entity's name or its `className`. If there is one, all must
  ///     fit, and each `className` needs its class; opening a store reports mismatches.
  ///   - layouts: the slots of accessors in extensions, by the entity's name; see ``ClassLayout``.
  /// - Throws: ``ModelError/inconsistent(_:)`` with every problem found.
  public convenience init(
    entities definitions: [EntityDefinition], configurations: [String: [String]] = [:],
    fetchRequestTemplates: [FetchRequestTemplateDefinition] = [], versionIdentifier: String? = nil,
    classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:], warnings: [ModelWarning] = []
  ) throws {
    try self.init(
      definitions, configurations, fetchRequestTemplates, versionIdentifier, classes: classes, layouts: layouts,
      warnings: warnings, isKept: true)
  }

  private init(
    _ definitions: [EntityDefinition], _ configurations: [String: [String]],
    _ fetchRequestTemplates: [FetchRequestTemplateDefinition], _ versionIdentifier: String?,
    classes: [String: ManagedObject.Type], layouts: [String: ClassLayout], warnings: [ModelWarning], isKept: Bool
  ) throws {
    var assembly = ModelAssembly(definitions, classes: classes)
    self.entities = try assembly.assemble()
    self.entitiesByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    self.hasOwnClasses = entities.contains(where: \.hasOwnClass)
    checksMembers = entities.contains(where: \.joinsCheckedSets)
    self.configurations = configurations
    self.fetchRequestTemplates = Dictionary(
      fetchRequestTemplates.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.versionIdentifier = versionIdentifier
    self.warnings = warnings
    self.layouts = layouts
    var check = ClassCheck(entities, classes: classes, layouts: layouts)
    classMismatches = check.run()
    ClassLayouts.note(layouts, entities)
    ClassEntities.note(self)
    if isKept { _ = Unmanaged.passRetained(self) }
  }

  /// A model without entities, of which one is enough.
  private init() {
    entities = []
    entitiesByName = [:]
    hasOwnClasses = false
    checksMembers = false
    configurations = [:]
    fetchRequestTemplates = [:]
    versionIdentifier = nil
    warnings = []
    layouts = [:]
    classMismatches = []
  }

  /// The model of contexts that have no coordinator yet.
  static let empty = ManagedObjectModel()

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

extension ManagedObjectModel {
  /// Reads a model that Xcode wrote or compiled.
  ///
  /// Parts of the file that this library doesn't know are listed in ``warnings``. An entity, attribute or relationship without
  /// `optional` isn't optional: that is the file format's default, and the opposite of the default in code.
  ///
  /// Source: the formats of Xcode; `NSManagedObjectModel.init(contentsOf:)`, which reads their compiled form.
  ///
  /// - Parameters:
  ///   - url: an `.xcdatamodeld` (its current version is read), an `.xcdatamodel`, or the `contents` file in one (Xcode 3's
  ///     file is `elements`); or a
  ///     `.momd` (its current version is read) or a `.mom`, as in an app's bundle.
  ///   - classes: the class of each entity's objects, by the entity's name or its `representedClassName`. Leave
  ///     out the latter's leading dot, which stands for the current module.
  ///   - layouts: the slots of accessors in extensions, by the entity's name; see ``ClassLayout``.
  /// - Throws: ``ModelError``: unreadable, malformed with file and line, or inconsistent.
  public convenience init(
    contentsOf url: URL, classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:]
  ) throws {
    switch try ModelLocation.file(of: url) {
    case .source(let file):
      let data = try ModelFile.read(file, limit: ModelXML.sizeLimit)
      // Whatever it is named, such a file is none that Xcode's editor wrote.
      if data.starts(with: BinaryPropertyList.signature) {
        try self.init(compiled: data, file: file.path, classes: classes, layouts: layouts)
      } else {
        try self.init(data, file: file.path, classes: classes, layouts: layouts)
      }
    case .compiled(let file):
      let data = try ModelFile.read(file, limit: CompiledModelLimits.size)
      try self.init(compiled: data, file: file.path, classes: classes, layouts: layouts)
    case .elements(let file):
      let data = try ModelFile.read(file, limit: ModelXML.sizeLimit)
      let contents = try Xcode3ModelReader.read(data, file: file.path)
      try self.init(contents, file: file.path, classes: classes, layouts: layouts)
    }
  }

  /// Reads a model from the text of its `contents` file, for programs that embed their model, as generated code does.
  ///
  /// - Parameters:
  ///   - file: the name to use in errors and warnings.
  ///   - classes: as for ``init(contentsOf:classes:layouts:)``.
  /// - Throws: ``ModelError``: malformed with the line, or inconsistent.
  public convenience init(
    xml text: String, file: String, classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:]
  ) throws {
    try self.init(Data(text.utf8), file: file, classes: classes, layouts: layouts)
  }

  /// Reads a compiled model: the bytes of a `.mom`, which are a keyed archive of an `NSManagedObjectModel`.
  ///
  /// What a model of this library can't hold is listed in ``warnings``, by name. Nothing in the archive becomes an object of
  /// a class, so archives of unknown origin may be read.
  ///
  /// - Parameters:
  ///   - file: the name to use in errors and warnings.
  ///   - classes: as for ``init(contentsOf:classes:layouts:)``.
  /// - Throws: ``ModelError``: unreadable, or inconsistent.
  public convenience init(
    compiled data: Data, file: String, classes: [String: ManagedObject.Type] = [:], layouts: [String: ClassLayout] = [:]
  ) throws {
    try self.init(try CompiledModelReader.read(data, file: file), file: file, classes: classes, layouts: layouts)
  }

  /// Reads the model cache of a Core Data store: the value of `Z_MODELCACHE.Z_CONTENT`, a compressed compiled model.
  ///
  /// - Parameter file: the name to use in errors and warnings.
  /// - Throws: ``ModelError``: unreadable, or inconsistent.
  public convenience init(modelCache data: Data, file: String) throws {
    try self.init(modelCache: data, file: file, isKept: true)
  }

  /// The same, for a program that reads many stores.
  ///
  /// - Parameter isKept: false to free the model with the last reference to it. Its descriptions must not be used any more
  ///   then, so whoever uses one keeps the model.
  package convenience init(modelCache data: Data, file: String, isKept: Bool) throws {
    try self.init(
      CompiledModelReader.read(cache: data, file: file), file: file, classes: [:], layouts: [:], isKept: isKept)
  }

  private convenience init(
    _ contents: ModelReader.Contents, file: String, classes: [String: ManagedObject.Type],
    layouts: [String: ClassLayout], isKept: Bool = true
  ) throws {
    guard contents.mistakes.isEmpty else { throw ModelError.malformed(contents.allMistakes(file: file)) }
    try self.init(
      contents.entities, contents.configurations, contents.templates, contents.versionIdentifier, classes: classes,
      layouts: layouts, warnings: contents.warnings, isKept: isKept)
  }

  private convenience init(
    _ data: Data, file: String, classes: [String: ManagedObject.Type], layouts: [String: ClassLayout]
  ) throws {
    let contents = ModelReader.read(try ModelXML.parse(data, file: file), file: file)
    try self.init(contents, file: file, classes: classes, layouts: layouts)
  }

  /// The versions of a model, by name: the `.xcdatamodel` folders of an `.xcdatamodeld`, the `.mom` files
  /// of a `.momd`, or the one model that `url` is.
  ///
  /// - Throws: ``ModelError/unreadable(path:reason:)`` if there is no model.
  public static func versions(of url: URL) throws -> [String: URL] { try ModelLocation.versions(of: url) }
}

extension ManagedObjectModel {
  /// The `.mom` of a compiled model: the current version's of a `.momd`.
  /// - Throws: ``ModelError/unreadable(path:reason:)``, also for a model that isn't compiled.
  package static func compiledFile(of url: URL) throws -> URL {
    guard case .compiled(let file) = try ModelLocation.file(of: url) else {
      throw ModelError.unreadable(
        path: url.path, reason: "it isn't a compiled model: give the .momd from the app's bundle")
    }
    return file
  }

  /// The `contents` file of a model's current version, and its text.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  package static func currentContents(of url: URL) throws -> (file: URL, text: String) {
    let file = try ModelLocation.contentsFile(of: url)
    let data = try ModelFile.read(file, limit: ModelXML.sizeLimit)
    return (file, String(decoding: data, as: UTF8.self))
  }
}
