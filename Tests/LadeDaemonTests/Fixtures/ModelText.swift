import Foundation

/// A model as Xcode writes it, put together in few words: the text of a `.xcdatamodeld`.
struct ModelText: Sendable {
  /// An attribute or relationship.
  struct Property: Sendable {
    fileprivate let xml: String

    /// - Parameters:
    ///   - type: as in Xcode's files: `String`, `Integer 32`, `Date`, …
    ///   - column: the `mappedKeyName`, where the file calls it otherwise.
    static func attribute(
      _ name: String, _ type: String = "String", optional: Bool = false, column: String? = nil,
      dateFormat: String? = nil
    ) -> Property {
      let info = userInfo([("mappedKeyName", column), ("dateFormat", dateFormat)])
      return Property(
        xml: "<attribute name=\"\(name)\" attributeType=\"\(type)\"\(optional ? " optional=\"YES\"" : "")>"
          + "\(info)</attribute>")
    }

    static func toOne(
      _ name: String, _ entity: String, inverse: String, column: String? = nil, template: String? = nil,
      by attribute: String? = nil
    ) -> Property {
      let info = userInfo([
        ("mappedKeyName", column), ("mappedKeyTemplate", template), ("relatedByAttribute", attribute),
      ])
      return Property(
        xml: "<relationship name=\"\(name)\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" "
          + "destinationEntity=\"\(entity)\" inverseName=\"\(inverse)\" inverseEntity=\"\(entity)\">\(info)</relationship>"
      )
    }

    static func toMany(_ name: String, _ entity: String, inverse: String) -> Property {
      Property(
        xml: "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" "
          + "destinationEntity=\"\(entity)\" inverseName=\"\(inverse)\" inverseEntity=\"\(entity)\"/>")
    }

    /// A line of XML as it is.
    static func raw(_ xml: String) -> Property { Property(xml: xml) }

    private static func userInfo(_ entries: [(key: String, value: String?)]) -> String {
      let lines = entries.compactMap { key, value in
        value.map { "<entry key=\"\(key)\" value=\"\($0.replacingOccurrences(of: "&", with: "&amp;"))\"/>" }
      }
      return lines.isEmpty ? "" : "<userInfo>\(lines.joined())</userInfo>"
    }
  }

  private let entities: [String]

  init(_ entities: String...) { self.entities = entities }

  /// - Parameter unique: the attributes of its uniqueness constraint; none when empty.
  static func entity(_ name: String, unique: [String] = [], _ properties: [Property]) -> String {
    let constraint =
      unique.isEmpty
      ? ""
      : "<uniquenessConstraints><uniquenessConstraint>"
        + unique.map { "<constraint value=\"\($0)\"/>" }.joined()
        + "</uniquenessConstraint></uniquenessConstraints>"
    let lines = properties.map { "    " + $0.xml + "\n" }.joined()
    return "  <entity name=\"\(name)\" representedClassName=\"\(name)\">\n\(lines)    \(constraint)\n  </entity>\n"
  }

  /// Writes the model's folder, with one version that is the current one. Who reads a model that was there finds it as it was,
  /// or the new one.
  func write(to path: String) throws {
    let folder = URL(fileURLWithPath: path)
    let version = folder.appendingPathComponent("Model 1.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    let header = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    let text =
      header
      + "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\" sourceLanguage=\"Swift\">\n"
      + entities.joined() + "</model>\n"
    try Data(text.utf8).write(to: version.appendingPathComponent("contents"), options: .atomic)
    let current =
      header + "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key>"
      + "<string>Model 1.xcdatamodel</string></dict></plist>\n"
    try Data(current.utf8).write(to: folder.appendingPathComponent(".xccurrentversion"), options: .atomic)
  }
}
