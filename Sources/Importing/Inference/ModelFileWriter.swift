import Foundation
package import ManagedObjects

/// Writes a model as Xcode does: a folder `NAME.xcdatamodel` with the file `contents`.
///
/// Source: files that Xcode wrote; `ManagedObjectModel(contentsOf:)` reads the same.
package struct ModelFileWriter {
  private let entities: [EntityDefinition]
  private let templates: [FetchRequestTemplateDefinition]
  private let configurations: [String: [String]]
  private let versionIdentifier: String

  /// A writer of entities.
  package init(_ entities: [EntityDefinition]) {
    self.entities = entities
    (templates, configurations, versionIdentifier) = ([], [:], "")
  }

  /// A writer of a whole model.
  package init(_ model: ManagedObjectModel) {
    entities = model.entities.map(\.definition)
    templates = model.fetchRequestTemplates.values.sorted { $0.name < $1.name }
    configurations = model.configurations
    versionIdentifier = model.versionIdentifier ?? ""
  }

  /// A writer of a model with other entities.
  init(_ model: ManagedObjectModel, entities: [EntityDefinition]) {
    self.init(
      entities, templates: model.fetchRequestTemplates.values.sorted { $0.name < $1.name },
      configurations: model.configurations.mapValues { $0.filter { !ImportModel.entities.contains($0) } },
      versionIdentifier: model.versionIdentifier ?? "")
  }

  private init(
    _ entities: [EntityDefinition], templates: [FetchRequestTemplateDefinition], configurations: [String: [String]],
    versionIdentifier: String
  ) {
    self.entities = entities
    self.templates = templates
    self.configurations = configurations
    self.versionIdentifier = versionIdentifier
  }

  /// What a model file has no notation for, and is left out.
  package var omissions: [String] {
    entities.flatMap { entity in
      entity.attributes.flatMap { attribute in
        let place = "\(entity.name).\(attribute.name)"
        return attribute.validationPredicates.map {
          "the validation predicate of \(place), which a model file can't hold, is left out: \($0.predicateFormat)"
        }
          + (attribute.type == .binaryData && !attribute.defaultValue.isNull
            ? ["the default value of \(place), which a model file can't hold, is left out"] : [])
      }
    }
  }

  /// The text of the file `contents`.
  package var xml: String {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
      #"<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" "#
        + #"systemVersion="23A344" minimumToolsVersion="Automatic" sourceLanguage="Swift" "#
        + #"userDefinedModelVersionIdentifier=""#
        + XMLText.escaped(versionIdentifier, inLine: true) + #"">"#,
    ]
    for entity in entities { lines += Self.lines(of: entity) }
    for (name, members) in composites.sorted(by: { $0.key < $1.key }) {
      lines.append("    " + Self.element("composite", [("name", name)]) + ">")
      for member in members { lines += Self.with(member.userInfo, Self.beginning(of: member)) }
      lines.append("    </composite>")
    }
    for template in templates { lines.append("    " + Self.element(of: template) + "/>") }
    for (name, members) in configurations.sorted(by: { $0.key < $1.key }) {
      lines.append("    " + Self.element("configuration", [("name", name)]) + ">")
      lines += members.map { "        " + Self.element("memberEntity", [("name", $0)]) + "/>" }
      lines.append("    </configuration>")
    }
    lines.append("    <elements>")
    for (index, entity) in entities.enumerated() {
      let height = 44 + 15 * (entity.attributes.count + entity.relationships.count)
      lines.append(
        "        "
          + Self.element(
            "element",
            [
              ("name", entity.name), ("positionX", "\(index % 5 * 180 - 360)"),
              ("positionY", "\(index / 5 * 300 - 200)"), ("width", "128"), ("height", "\(height)"),
            ]) + "/>")
    }
    lines += ["    </elements>", "</model>"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// The composite types of all attributes, by name.
  private var composites: [String: [AttributeDefinition]] {
    var found: [String: [AttributeDefinition]] = [:]
    var waiting = entities.flatMap(\.attributes)
    while let attribute = waiting.popLast() {
      guard attribute.type == .composite, let name = attribute.compositeName, found[name] == nil else { continue }
      found[name] = attribute.compositeElements
      waiting += attribute.compositeElements
    }
    return found
  }

  /// Writes the model.
  ///
  /// - Parameters:
  ///   - path: ends in `.xcdatamodel`.
  ///   - overwrites: whether one that is there is replaced.
  /// - Throws: ``InferenceError``; an existing model is then unchanged.
  package func write(to path: String, overwrites: Bool) throws {
    let url = URL(fileURLWithPath: path)
    guard url.pathExtension == "xcdatamodel" else {
      throw InferenceError.badPath(path: path, reason: "a model's name ends in .xcdatamodel")
    }
    let isThere = FileManager.default.fileExists(atPath: path)
    if isThere {
      guard overwrites else { throw InferenceError.exists(path: path) }
      // Only a model is replaced, never a folder of something else.
      let contents = url.appendingPathComponent("contents").path
      guard FileManager.default.fileExists(atPath: contents) else {
        throw InferenceError.badPath(path: path, reason: "what is there isn't a model, so it isn't overwritten")
      }
    }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try Data(xml.utf8).write(to: url.appendingPathComponent("contents"), options: .atomic)
    } catch {
      throw InferenceError.fileFailed(path: path, operation: "write", reason: error.localizedDescription)
    }
  }

  private static func lines(of entity: EntityDefinition) -> [String] {
    var parts: [(String, String)] = [("name", entity.name)]
    if let className = entity.className { parts.append(("representedClassName", className)) }
    if entity.isAbstract { parts.append(("isAbstract", "YES")) }
    if let parent = entity.parent { parts.append(("parentEntity", parent)) }
    parts += identifiers(entity.renamingIdentifier, entity.versionHashModifier)
    parts.append(("syncable", "YES"))
    if let generation = entity.codeGenerationType { parts.append(("codeGenerationType", generation)) }
    var lines = ["    " + element("entity", parts) + ">"]
    for attribute in entity.attributes { lines += with(attribute.userInfo, beginning(of: attribute)) }
    for relationship in entity.relationships {
      lines += with(relationship.userInfo, beginning(of: relationship))
    }
    for property in entity.fetchedProperties { lines += Self.lines(of: property) }
    for index in entity.indexes { lines += Self.lines(of: index) }
    if !entity.uniquenessConstraints.isEmpty {
      lines.append("        <uniquenessConstraints>")
      for constraint in entity.uniquenessConstraints {
        lines.append("            <uniquenessConstraint>")
        lines += constraint.map { "                " + element("constraint", [("value", $0)]) + "/>" }
        lines.append("            </uniquenessConstraint>")
      }
      lines.append("        </uniquenessConstraints>")
    }
    lines += userInfo(entity.userInfo, indent: "        ")
    return lines + ["    </entity>"]
  }

  private static func beginning(of attribute: AttributeDefinition) -> String {
    var parts = [("name", attribute.name)]
    if attribute.isOptional { parts.append(("optional", "YES")) }
    if attribute.isTransient { parts.append(("transient", "YES")) }
    parts.append(("attributeType", attribute.type.rawValue))
    let names =
      attribute.type == .date
      ? ("defaultDateTimeInterval", "minDateTimeInterval", "maxDateTimeInterval")
      : ("defaultValueString", "minValueString", "maxValueString")
    for (name, value) in [
      (names.0, attribute.defaultValue), (names.1, attribute.minimumValue), (names.2, attribute.maximumValue),
    ] {
      if let text = Self.text(of: value) { parts.append((name, text)) }
    }
    if let pattern = attribute.regularExpression { parts.append(("regularExpressionString", pattern)) }
    if let expression = attribute.derivationExpression {
      parts += [("derived", "YES"), ("derivationExpression", expression)]
    }
    if let name = attribute.compositeName { parts.append(("compositeName", name)) }
    if let name = attribute.valueTransformerName { parts.append(("valueTransformerName", name)) }
    if let name = attribute.attributeValueClassName { parts.append(("customClassName", name)) }
    if attribute.usesScalarValueType { parts.append(("usesScalarValueType", "YES")) }
    if attribute.allowsExternalBinaryDataStorage { parts.append(("allowsExternalBinaryDataStorage", "YES")) }
    if attribute.preservesValueInHistoryOnDeletion { parts.append(("preserveAfterDeletion", "YES")) }
    parts += identifiers(attribute.renamingIdentifier, attribute.versionHashModifier)
    return element("attribute", parts)
  }

  /// A default value or bound in a model file's notation.
  private static func text(of value: Value) -> String? {
    switch value {
    case .null: nil
    case .bool(let flag): flag ? "YES" : "NO"
    case .date(let date): "\(date.timeIntervalSinceReferenceDate)"
    // A model file has no notation for bytes.
    case .data: nil
    default: value.plainText
    }
  }

  private static func identifiers(_ former: String?, _ modifier: String?) -> [(String, String)] {
    [("elementID", former), ("versionHashModifier", modifier)].compactMap { name, value in value.map { (name, $0) } }
  }

  private static func beginning(of relationship: RelationshipDefinition) -> String {
    var parts = [("name", relationship.name)]
    if relationship.isOptional { parts.append(("optional", "YES")) }
    if relationship.isTransient { parts.append(("transient", "YES")) }
    if relationship.isToMany { parts.append(("toMany", "YES")) }
    if relationship.minimumCount > 0 { parts.append(("minCount", "\(relationship.minimumCount)")) }
    if !relationship.isToMany || relationship.maximumCount > 0 {
      parts.append(("maxCount", "\(relationship.maximumCount)"))
    }
    if relationship.isOrdered { parts.append(("ordered", "YES")) }
    parts += [("deletionRule", relationship.deleteRule.rawValue), ("destinationEntity", relationship.destination)]
    if let inverse = relationship.inverse {
      parts += [("inverseName", inverse), ("inverseEntity", relationship.destination)]
    }
    parts += identifiers(relationship.renamingIdentifier, relationship.versionHashModifier)
    return element("relationship", parts)
  }

  private static func lines(of property: FetchedPropertyDefinition) -> [String] {
    var request = FetchRequestTemplateDefinition(
      "fetchedPropertyFetchRequest", entityName: property.entityName, predicateFormat: property.predicateFormat,
      fetchLimit: property.fetchLimit)
    request.includesSubentities = property.includesSubentities
    return ["        " + element("fetchedProperty", [("name", property.name), ("optional", "YES")]) + ">"]
      + ["            " + element(of: request) + "/>"]
      + userInfo(property.userInfo, indent: "            ") + ["        </fetchedProperty>"]
  }

  private static func element(of request: FetchRequestTemplateDefinition) -> String {
    var parts = [("name", request.name), ("entity", request.entityName)]
    if let predicate = request.predicateFormat { parts.append(("predicateString", predicate)) }
    if request.fetchLimit > 0 { parts.append(("fetchLimit", "\(request.fetchLimit)")) }
    if request.fetchBatchSize > 0 { parts.append(("fetchBatchSize", "\(request.fetchBatchSize)")) }
    if !request.includesSubentities { parts.append(("includeSubentities", "NO")) }
    if request.returnsDistinctResults { parts.append(("returnDistinctResults", "YES")) }
    return element("fetchRequest", parts)
  }

  private static func lines(of index: FetchIndexDefinition) -> [String] {
    var parts = [("name", index.name)]
    if let predicate = index.partialPredicateFormat { parts.append(("partialIndexPredicate", predicate)) }
    let elements = index.elements.map { part -> String in
      var parts: [(String, String)] = []
      if let property = part.property { parts.append(("property", property)) }
      if let expression = part.expression { parts.append(("expression", expression)) }
      parts += [("type", part.collation), ("order", part.isAscending ? "ascending" : "descending")]
      return "            " + element("fetchIndexElement", parts) + "/>"
    }
    return ["        " + element("fetchIndex", parts) + ">"] + elements + ["        </fetchIndex>"]
  }

  /// An attribute's element in one line.
  static func element(of attribute: AttributeDefinition) -> String {
    with(attribute.userInfo, beginning(of: attribute)).map { String($0.trimmingPrefix { $0 == " " }) }.joined()
  }

  /// A property's element, with its user info inside.
  private static func with(_ info: [String: String], _ element: String) -> [String] {
    let inner = userInfo(info, indent: "            ")
    if inner.isEmpty { return ["        " + element + "/>"] }
    let name = element.dropFirst().prefix { $0 != " " }
    return ["        " + element + ">"] + inner + ["        </\(name)>"]
  }

  private static func userInfo(_ info: [String: String], indent: String) -> [String] {
    guard !info.isEmpty else { return [] }
    let entries = info.sorted { $0.key < $1.key }.map {
      indent + "    " + element("entry", [("key", $0.key), ("value", $0.value)]) + "/>"
    }
    return [indent + "<userInfo>"] + entries + [indent + "</userInfo>"]
  }

  /// The beginning of an element, without its last bracket.
  private static func element(_ name: String, _ attributes: [(String, String)]) -> String {
    "<" + name + attributes.map { " \($0.0)=\"\(XMLText.escaped($0.1, inLine: true))\"" }.joined()
  }
}
