public import Foundation

/// Turns a compiled mapping model into a ``MappingModel``: a keyed archive of an `NSMappingModel`, as Xcode compiles an
/// `.xcmappingmodel` to a `.cdm`.
///
/// Source: `V2toV3.cdm` of CoreDataPlus.
struct CompiledMappingReader {
  private let file: String
  private let archive: KeyedArchive
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private let policies: [String: EntityMigrationPolicy.Type]
  private(set) var mistakes: [ModelMistake] = []

  init(
    _ data: Data, file: String, _ source: ManagedObjectModel, _ destination: ManagedObjectModel,
    _ policies: [String: EntityMigrationPolicy.Type]
  ) throws(ArchiveDamage) {
    (self.file, self.source, self.destination, self.policies) = (file, source, destination, policies)
    archive = try KeyedArchive(data)
  }

  mutating func read() throws(ArchiveDamage) -> [EntityMapping] {
    let model = try archive.root("NSMappingModel")
    var mappings: [EntityMapping] = []
    for item in try archive.elements("NSEntityMappings", of: model) {
      guard case .coded(let object) = item else { continue }
      if let mapping = try readEntity(object) { mappings.append(mapping) }
    }
    return mappings
  }

  private mutating func note(_ reason: String) {
    mistakes.append(ModelMistake(file: file, line: nil, reason: reason))
  }

  private mutating func readEntity(_ object: KeyedArchive.Coded) throws(ArchiveDamage) -> EntityMapping? {
    let name = try archive.text("NSMappingName", of: object) ?? "a mapping without a name"
    let from = try entity("NSSourceEntityName", of: object, in: source, name)
    let to = try entity("NSDestinationEntityName", of: object, in: destination, name)
    let type: EntityMapping.MappingType
    switch try archive.integer("NSMappingType", of: object) {
    case 1: type = .custom
    case 2: type = .add
    case 3: type = .remove
    case 4: type = .copy
    default: type = .transform
    }
    var policy: EntityMigrationPolicy.Type?
    if let className = try archive.text("NSEntityMigrationPolicyClassName", of: object), !className.isEmpty {
      let last = className.split(separator: ".").last.map(String.init) ?? className
      policy = policies[className] ?? policies[last]
      if policy == nil { note("\(name) is converted by the class \(className), which isn't among the given policies") }
    }
    if let expression = try archive.object("NSSourceExpression", of: object),
      try !MappingExpression(archive).takesAll(expression)
    {
      note("\(name) takes only some of the objects of its source, which a mapping can't say here")
    }
    let attributes = try readProperties("NSAttributeMappings", of: object, to, name)
    let relationships = try readProperties("NSRelationshipMappings", of: object, to, name)
    return EntityMapping(
      name, type, from: from, to: to, attributeMappings: attributes, relationshipMappings: relationships, policy: policy
    )
  }

  private mutating func entity(
    _ field: String, of object: KeyedArchive.Coded, in model: ManagedObjectModel, _ mapping: String
  ) throws(ArchiveDamage) -> EntityDescription? {
    guard let name = try archive.text(field, of: object), !name.isEmpty else { return nil }
    if let found = model.entitiesByName[name] { return found }
    note("\(mapping) names the entity \(name), which its model doesn't have")
    return nil
  }

  private mutating func readProperties(
    _ field: String, of object: KeyedArchive.Coded, _ entity: EntityDescription?, _ mapping: String
  ) throws(ArchiveDamage) -> [PropertyMapping] {
    var mappings: [PropertyMapping] = []
    for item in try archive.elements(field, of: object) {
      guard case .coded(let property) = item, let name = try archive.text("NSDestinationPropertyName", of: property)
      else { continue }
      guard let expression = try archive.object("NSValueExpression", of: property) else {
        mappings.append(PropertyMapping(name, nil))
        continue
      }
      if let source = try MappingExpression(archive).source(expression, entity?.attributesByName[name]?.type) {
        mappings.append(PropertyMapping(name, source))
      } else {
        note("\(mapping) computes \(name) by an expression that a mapping can't hold here: give its value in a policy")
      }
    }
    return mappings
  }
}

extension MappingModel {
  /// Reads a mapping model as Xcode has it: an `.xcmappingmodel`, or a `.cdm`, to which Xcode compiles it.
  ///
  /// Core Data looks both models up by their hashes; here they are given. Source: `NSMappingModel.init(contentsOf:)`.
  ///
  /// - Parameters:
  ///   - policies: the classes that convert objects, by the names in the file, with or without their module.
  /// - Throws: ``ModelError``: unreadable, or malformed with everything that a mapping can't express here.
  public init(
    contentsOf url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    policies: [String: EntityMigrationPolicy.Type] = [:]
  ) throws {
    let (mapping, mistakes) = try Self.read(url, from: source, to: destination, policies: policies)
    guard mistakes.isEmpty else { throw ModelError.malformed(mistakes) }
    self = mapping
  }

  /// Reads a mapping model as far as a mapping can express it, with what it can't.
  package static func read(
    _ url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    policies: [String: EntityMigrationPolicy.Type] = [:]
  ) throws -> (MappingModel, mistakes: [ModelMistake]) {
    let mappings: [EntityMapping]
    let mistakes: [ModelMistake]
    if isSource(url) {
      var reader = try sourceReader(url)
      mappings = reader.read(source, destination, policies)
      mistakes = reader.mistakes
    } else {
      let data = try ModelFile.read(url, limit: CompiledModelLimits.size)
      do throws(ArchiveDamage) {
        var reader = try CompiledMappingReader(data, file: url.path, source, destination, policies)
        mappings = try reader.read()
        mistakes = reader.mistakes
      } catch {
        throw ModelError.unreadable(path: url.path, reason: error.reason)
      }
    }
    return (MappingModel(from: source, to: destination, entityMappings: mappings), mistakes)
  }

  /// The files of the two models that an `.xcmappingmodel` names, as far as they are there: by their paths from one of the folders
  /// around it, as in a project, or beside it. A `.cdm` names none.
  package static func models(of url: URL) throws -> (source: URL?, destination: URL?) {
    guard isSource(url) else { return (nil, nil) }
    let paths = try sourceReader(url).modelPaths
    return (paths.source.flatMap { find($0, around: url) }, paths.destination.flatMap { find($0, around: url) })
  }

  private static func find(_ path: String, around url: URL) -> URL? {
    var folder = url.deletingLastPathComponent().standardizedFileURL
    while true {
      // The path may begin in a folder above the one that was copied here.
      var parts = path.split(separator: "/").map(String.init)
      while !parts.isEmpty {
        let found = folder.appending(path: parts.joined(separator: "/"))
        if FileManager.default.fileExists(atPath: found.path) { return found }
        parts.removeFirst()
      }
      let above = folder.deletingLastPathComponent()
      guard above.path != folder.path else { return nil }
      folder = above
    }
  }

  /// Whether it is the source of a mapping model, or the file in it.
  private static func isSource(_ url: URL) -> Bool {
    url.pathExtension.lowercased() == "xcmappingmodel" || url.lastPathComponent.hasSuffix(".xml")
  }

  private static func sourceReader(_ url: URL) throws -> SourceMappingReader {
    let isFolder = url.pathExtension.lowercased() == "xcmappingmodel"
    let file = isFolder ? url.appending(path: "xcmapping.xml") : url
    return try SourceMappingReader(ModelFile.read(file, limit: ModelXML.sizeLimit), file: file.path)
  }
}
