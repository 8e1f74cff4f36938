/// Turns the elements of a model file into definitions.
///
/// Mistakes are errors with a line. Unknown parts become warnings with a line and reading continues, so that a model of a
/// later Xcode still loads and its author learns what had no effect.
struct ModelReader {
  /// The content of a model file.
  struct Contents {
    var entities: [EntityDefinition] = []
    var configurations: [String: [String]] = [:]
    var templates: [FetchRequestTemplateDefinition] = []
    var versionIdentifier: String?
    var warnings: [ModelWarning] = []
  }

  let file: String
  var contents = Contents()
  /// The elements of the model's composite types, by type name.
  var composites: [String: [AttributeDefinition]] = [:]

  init(file: String) { self.file = file }

  /// Reads the whole document.
  /// - Throws: ``ModelError/malformed(file:line:reason:)``.
  static func read(_ root: ModelElement, file: String) throws -> Contents {
    var reader = ModelReader(file: file)
    try reader.readModel(root)
    return reader.contents
  }

  private mutating func readModel(_ root: ModelElement) throws {
    guard root.name == "model" else {
      throw ModelError.malformed(
        file: file, line: root.line, reason: "not a Core Data model: the first element is <\(root.name)>, not <model>")
    }
    var attributes = ElementAttributes(root, file: file)
    contents.versionIdentifier = attributes.nonEmpty("userDefinedModelVersionIdentifier")
    if let type = attributes.text("type"), type != "com.apple.IDECoreDataModeler.DataModel" {
      warn(root.line, "the model's type is “\(type)”, which isn't known")
    }
    if let version = attributes.text("documentVersion"), version != "1.0" {
      warn(root.line, "the format's version is \(version); this library knows 1.0")
    }
    attributes.ignore(
      "name", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage", "macOSVersion",
      "iOSVersion", "watchOSVersion", "tvOSVersion", "visionOSVersion", "usedWithCloudKit", "usedWithSwiftData")
    finish(attributes)

    // Composite types first, since attributes refer to them from anywhere in the file.
    try readComposites(root.children)
    for child in root.children where !Self.compositeElements.contains(child.name) {
      switch child.name {
      case "entity": try readEntity(child)
      case "fetchRequest": try readTemplate(child)
      case "configuration": try readConfiguration(child)
      case "elements": break  // Positions in Xcode's diagram.
      default: warnUnknown(child, in: root)
      }
    }
  }

  private mutating func readTemplate(_ element: ModelElement) throws {
    var attributes = ElementAttributes(element, file: file)
    var template = try readFetchRequest(&attributes)
    template.name = try attributes.required("name")
    finish(attributes)
    for child in element.children { warnUnknown(child, in: element) }
    guard !contents.templates.contains(where: { $0.name == template.name }) else {
      throw attributes.malformed("a second fetch request is named \(template.name)")
    }
    contents.templates.append(template)
  }

  /// The part of a fetch request that templates and fetched properties share.
  mutating func readFetchRequest(_ attributes: inout ElementAttributes) throws -> FetchRequestTemplateDefinition {
    var template = FetchRequestTemplateDefinition(
      attributes.text("name") ?? "", entityName: try attributes.required("entity"),
      predicateFormat: attributes.nonEmpty("predicateString"), fetchLimit: try attributes.count("fetchLimit") ?? 0)
    template.fetchBatchSize = try attributes.count("fetchBatchSize") ?? 0
    template.includesSubentities = try attributes.flag("includeSubentities", default: true)
    template.returnsDistinctResults = try attributes.flag("returnDistinctResults")
    // Hints on when to read from the store, which don't change the result.
    attributes.ignore("returnObjectsAsFaults", "includePropertyValues")
    return template
  }

  private mutating func readConfiguration(_ element: ModelElement) throws {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    attributes.ignore("usedWithCloudKit")
    finish(attributes)
    var members: [String] = []
    for child in element.children {
      guard child.name == "memberEntity" else {
        warnUnknown(child, in: element)
        continue
      }
      var member = ElementAttributes(child, file: file)
      members.append(try member.required("name"))
      finish(member)
    }
    contents.configurations[name, default: []] += members
  }

  // MARK: What every element has

  /// The entries of a `userInfo` element.
  mutating func readUserInfo(_ element: ModelElement) throws -> [String: String] {
    finish(ElementAttributes(element, file: file))
    var entries: [String: String] = [:]
    for child in element.children {
      guard child.name == "entry" else {
        warnUnknown(child, in: element)
        continue
      }
      var attributes = ElementAttributes(child, file: file)
      guard let key = attributes.text("key") else { throw attributes.malformed("<entry> has no key") }
      if entries.updateValue(attributes.text("value") ?? "", forKey: key) != nil {
        warn(child.line, "the userInfo key “\(key)” stands here a second time; the last one counts")
      }
      finish(attributes)
    }
    return entries
  }

  /// Warns about unread attributes and about text.
  mutating func finish(_ attributes: ElementAttributes) {
    let element = attributes.element
    for name in attributes.unread {
      warn(element.line, "\(attributes.describe(name)) isn't known and has no effect")
    }
    if let line = element.strayTextLine { warn(line, "text inside <\(element.name)> has no effect") }
  }

  mutating func warnUnknown(_ child: ModelElement, in parent: ModelElement) {
    let place = parent.attributes["name"].map { "\(parent.name) \($0)" } ?? parent.name
    warn(child.line, "<\(child.name)> in \(place) isn't known and has no effect")
  }

  mutating func warn(_ line: Int, _ message: String) {
    contents.warnings.append(ModelWarning(file: file, line: line, message: message))
  }
}
