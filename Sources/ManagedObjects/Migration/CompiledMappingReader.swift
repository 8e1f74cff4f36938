public import Foundation

/// Turns a compiled mapping model into a ``MappingModel``: a keyed archive of an `NSMappingModel`, as Xcode compiles an
/// `.xcmappingmodel` to a `.cdm`.
///
/// Source: `V2toV3.cdm` of CoreDataPlus.
private struct CompiledMappingReader {
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
    if let expression = try archive.object("NSSourceExpression", of: object), try !takesAll(expression) {
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

  /// Whether the source's objects are fetched without a condition.
  private func takesAll(_ expression: KeyedArchive.Coded) throws(ArchiveDamage) -> Bool {
    guard let request = try archive.object("NSFRExpression", of: expression),
      try archive.text("NSSelectorName", of: request) == "fetchRequestForSourceEntityNamed:predicateString:",
      let condition = try archive.elements("NSArguments", of: request).last, case .coded(let constant) = condition
    else { return false }
    return try archive.text("NSConstantValue", of: constant) == "TRUEPREDICATE"
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
      if let source = try readSource(expression, entity?.attributesByName[name]?.type) {
        mappings.append(PropertyMapping(name, source))
      } else {
        note("\(mapping) computes \(name) by an expression that a mapping can't hold here: give its value in a policy")
      }
    }
    return mappings
  }

  /// Functions of the migration manager that give what objects were converted to: by a mapping, or by the one mapping that
  /// follows from the relationship.
  private static let conversions: Set<String> = [
    "destinationInstancesForEntityMappingNamed:sourceInstances:",
    "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
  ]

  /// `$source.name`; a constant; or, for a relationship, what the objects of `$source.name` were converted to.
  /// - Parameter type: the type of the attribute that gets the value; nil for a relationship.
  private func readSource(
    _ expression: KeyedArchive.Coded, _ type: AttributeType?
  ) throws(ArchiveDamage) -> PropertyMapping.Source? {
    switch expression.className {
    case "NSKeyPathExpression": return try sourceProperty(expression).map { .property($0) }
    case "NSConstantValueExpression":
      let item = try archive.item("NSConstantValue", of: expression)
      return try type.flatMap { type throws(ArchiveDamage) in try archive.value(item, type) }.map { .value($0) }
    case "NSFunctionExpression":
      guard let selector = try archive.text("NSSelectorName", of: expression), Self.conversions.contains(selector),
        let last = try archive.elements("NSArguments", of: expression).last, case .coded(let path) = last
      else { return nil }
      return try sourceProperty(path).map { .property($0) }
    default: return nil
    }
  }

  /// The name after `$source.`.
  private func sourceProperty(_ expression: KeyedArchive.Coded) throws(ArchiveDamage) -> String? {
    guard expression.className == "NSKeyPathExpression",
      let base = try archive.object("NSOperand", of: expression),
      try archive.text("NSVariable", of: base) == "source",
      let first = try archive.elements("NSArguments", of: expression).first, case .coded(let path) = first,
      let name = try archive.text("NSKeyPath", of: path), !name.contains(".")
    else { return nil }
    return name
  }
}

extension MappingModel {
  /// Reads a compiled mapping model, a `.cdm`, as Xcode makes it of an `.xcmappingmodel`.
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
    guard url.pathExtension.lowercased() != "xcmappingmodel" else {
      throw ModelError.unreadable(
        path: url.path, reason: "it is the source of a mapping model; give the .cdm that Xcode compiles it to")
    }
    let data = try ModelFile.read(url, limit: CompiledModelLimits.size)
    let mappings: [EntityMapping]
    let mistakes: [ModelMistake]
    do throws(ArchiveDamage) {
      var reader = try CompiledMappingReader(data, file: url.path, source, destination, policies)
      mappings = try reader.read()
      mistakes = reader.mistakes
    } catch {
      throw ModelError.unreadable(path: url.path, reason: error.reason)
    }
    guard mistakes.isEmpty else { throw ModelError.malformed(mistakes) }
    self.init(from: source, to: destination, entityMappings: mappings)
  }
}
