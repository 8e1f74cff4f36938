import Foundation
package import ManagedObjects

/// Writes a model as Xcode does: a folder `NAME.xcdatamodel` with the file `contents`.
///
/// Source: files that Xcode wrote; `ManagedObjectModel(contentsOf:)` reads the same.
package struct ModelFileWriter {
  private let entities: [EntityDefinition]

  /// A writer of inferred entities: attributes without bounds and defaults, relationships, constraints.
  package init(_ entities: [EntityDefinition]) { self.entities = entities }

  /// The text of the file `contents`.
  package var xml: String {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
      #"<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" "#
        + #"systemVersion="23A344" minimumToolsVersion="Automatic" sourceLanguage="Swift" "#
        + #"userDefinedModelVersionIdentifier="">"#,
    ]
    for entity in entities { lines += Self.lines(of: entity) }
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
    parts.append(("syncable", "YES"))
    if let generation = entity.codeGenerationType { parts.append(("codeGenerationType", generation)) }
    var lines = ["    " + element("entity", parts) + ">"]
    for attribute in entity.attributes { lines += with(attribute.userInfo, beginning(of: attribute)) }
    for relationship in entity.relationships {
      var parts = [("name", relationship.name)]
      if relationship.isOptional { parts.append(("optional", "YES")) }
      parts.append(relationship.isToMany ? ("toMany", "YES") : ("maxCount", "1"))
      parts += [("deletionRule", relationship.deleteRule.rawValue), ("destinationEntity", relationship.destination)]
      if let inverse = relationship.inverse {
        parts += [("inverseName", inverse), ("inverseEntity", relationship.destination)]
      }
      lines += with(relationship.userInfo, element("relationship", parts))
    }
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
    parts.append(("attributeType", attribute.type.rawValue))
    if let name = attribute.attributeValueClassName { parts.append(("customClassName", name)) }
    if attribute.usesScalarValueType { parts.append(("usesScalarValueType", "YES")) }
    return element("attribute", parts)
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
