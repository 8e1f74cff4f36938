import Foundation

/// Turns the source of a mapping model, the `xcmapping.xml` in an `.xcmappingmodel`, into entity mappings. It is an XML store of
/// Xcode's own objects: one for the mapping model, one for each entity mapping and one for each property.
///
/// What is chosen where the file says nothing is what Xcode compiles it to: the names of mappings, their types, and the source's
/// property of the same name.
///
/// Source: `V2toV3.xcmappingmodel` of CoreDataPlus beside the `.cdm` that Xcode made of it, and those of objc.io's Moody.
struct SourceMappingReader {
  private let file: String
  private let objects: [String: ModelElement]
  private(set) var mistakes: [ModelMistake] = []

  private static let documentType = "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">"

  /// - Throws: ``ModelError``.
  init(_ data: Data, file: String) throws {
    self.file = file
    let root = try ModelXML.parse(data, file: file, documentType: Self.documentType, keepsText: true)
    objects = Dictionary(
      root.children.compactMap { element in element.attributes["id"].map { ($0, element) } },
      uniquingKeysWith: { first, _ in first })
    guard root.name == "database", model != nil else {
      throw ModelError.mistake(file: file, line: root.line, reason: "the file holds no mapping model")
    }
  }

  private var model: ModelElement? { objects.values.first { $0.attributes["type"] == "XDDEVMAPPINGMODEL" } }

  /// The paths of the two models, as the project of the mapping model has them.
  var modelPaths: (source: String?, destination: String?) {
    guard let model else { return (nil, nil) }
    return (text("sourcemodelpath", model), text("destinationmodelpath", model))
  }

  mutating func read(
    _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ policies: [String: EntityMigrationPolicy.Type]
  ) -> [EntityMapping] {
    guard let model else { return [] }
    let elements = references("entitymappings", model)
      .sorted { number($0) < number($1) }
    return elements.compactMap { readEntity($0, source, destination, policies) }
  }

  private mutating func readEntity(
    _ element: ModelElement, _ source: ManagedObjectModel, _ destination: ManagedObjectModel,
    _ policies: [String: EntityMigrationPolicy.Type]
  ) -> EntityMapping? {
    let (from, to) = (text("sourcename", element), text("destinationname", element))
    let whole = [from, to].compactMap { $0 }.joined(separator: "To")
    let name = text("name", element) ?? whole
    for (entity, model) in [(from, source), (to, destination)] {
      if let entity, model.entitiesByName[entity] == nil {
        note(element, "\(name) names the entity \(entity), which its model doesn't have")
        return nil
      }
    }
    let origin = from.flatMap { source.entitiesByName[$0] }
    let target = to.flatMap { destination.entitiesByName[$0] }
    var policy: EntityMigrationPolicy.Type?
    let className = text("migrationpolicyclassname", element)
    if let className {
      policy = policies[className] ?? className.split(separator: ".").last.flatMap { policies[String($0)] }
      if policy == nil {
        note(element, "\(name) is converted by the class \(className), which isn't among the given policies")
      }
    }
    let condition = text("sourcefilterpredicatestring", element)
    if text("sourceexpressiondata", element) != nil || (condition.map { $0 != "TRUEPREDICATE" } ?? false) {
      note(element, "\(name) takes only some of the objects of its source, which a mapping can't say here")
    }
    let type: EntityMapping.MappingType
    switch (origin, target) {
    case (nil, _): type = .add
    case (_, nil): type = .remove
    case (let origin?, let target?):
      type = className != nil ? .custom : origin.versionHash == target.versionHash ? .copy : .transform
    }
    var properties: [Bool: [PropertyMapping]] = [:]
    for isAttribute in [true, false] {
      properties[isAttribute] = references(isAttribute ? "attributemappings" : "relationshipmappings", element)
        .compactMap { readProperty($0, name, origin, target) }.sorted { $0.name < $1.name }
    }
    return EntityMapping(
      name, type, from: origin, to: target, attributeMappings: properties[true] ?? [],
      relationshipMappings: properties[false] ?? [], policy: policy)
  }

  private mutating func readProperty(
    _ element: ModelElement, _ mapping: String, _ origin: EntityDescription?, _ target: EntityDescription?
  ) -> PropertyMapping? {
    guard let name = text("name", element) else { return nil }
    if let written = text("valueexpressiondata", element) {
      return readExpression(written, of: name, target?.attributesByName[name]?.type, mapping, element)
    }
    if let path = text("sourcekeypath", element) {
      let prefix = "$source."
      let key = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
      if origin?.propertiesByName[key] != nil { return PropertyMapping(name, .property(key)) }
      note(element, "\(mapping) fills \(name) from \(path), which isn't a property of its source: give it in a policy")
      return nil
    }
    return PropertyMapping(name, origin?.propertiesByName[name] == nil ? nil : .property(name))
  }

  private mutating func readExpression(
    _ written: String, of name: String, _ type: AttributeType?, _ mapping: String, _ element: ModelElement
  ) -> PropertyMapping? {
    let reason: String
    do throws(ArchiveDamage) {
      guard let data = Data(base64Encoded: written, options: .ignoreUnknownCharacters) else {
        throw ArchiveDamage("it isn't base64")
      }
      let archive = try KeyedArchive(data)
      let expression = try archive.rootObject()
      if let source = try MappingExpression(archive).source(expression, type) {
        return PropertyMapping(name, source)
      }
      reason = "by an expression that a mapping can't hold here: give its value in a policy"
    } catch {
      reason = "by an expression that can't be read: \(error.reason)"
    }
    note(element, "\(mapping) computes \(name) \(reason)")
    return nil
  }

  private mutating func note(_ element: ModelElement, _ reason: String) {
    mistakes.append(ModelMistake(file: file, line: element.line, reason: reason))
  }

  // MARK: The file

  private func number(_ element: ModelElement) -> Int { text("mappingnumber", element).flatMap { Int($0) } ?? 0 }

  /// An attribute's text; nil without one.
  private func text(_ name: String, _ element: ModelElement) -> String? {
    let found = element.children.first { $0.name == "attribute" && $0.attributes["name"] == name }
    guard let text = found?.text.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
    return text
  }

  private func references(_ name: String, _ element: ModelElement) -> [ModelElement] {
    let found = element.children.first { $0.name == "relationship" && $0.attributes["name"] == name }
    return (found?.attributes["idrefs"] ?? "").split(separator: " ").compactMap { objects[String($0)] }
  }
}
