import Spelling

/// Turns the elements of a model file into definitions.
///
/// Mistakes are collected with their lines, and reading continues with the next value or element, so that the author sees all of
/// them at once. Unknown parts become warnings with a line: a model of a later Xcode still loads, and its author learns what had
/// no effect.
struct ModelReader {
  /// The content of a model file.
  struct Contents {
    var entities: [EntityDefinition] = []
    var configurations: [String: [String]] = [:]
    var templates: [FetchRequestTemplateDefinition] = []
    var versionIdentifier: String?
    var warnings: [ModelWarning] = []
    /// What keeps the file from being a model.
    var mistakes: [ModelMistake] = []
    /// Whether no element was left out for a mistake in it.
    var isComplete = true

    /// The mistakes, and where what was read doesn't fit together, unless a part that is missing may be the reason.
    func allMistakes(file: String) -> [ModelMistake] {
      let read = mistakes.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
      guard isComplete else { return read }
      var assembly = ModelAssembly(entities, classes: [:])
      do throws(ModelError) {
        _ = try assembly.assemble()
        return read
      } catch {
        guard case .inconsistent(let problems) = error else { return read }
        return read + problems.map { ModelMistake(file: file, line: nil, reason: $0) }
      }
    }
  }

  let file: String
  private var contents = Contents()
  /// The elements of the model's composite types, by type name.
  private var composites: [String: [AttributeDefinition]] = [:]

  init(file: String) { self.file = file }

  /// Reads the whole document.
  static func read(_ root: ModelElement, file: String) -> Contents {
    var reader = ModelReader(file: file)
    reader.attempt { reader throws(ModelMistake) in try reader.readModel(root) }
    return reader.contents
  }

  /// Reads an element. One that can't be read is left out.
  mutating func attempt(_ read: (inout ModelReader) throws(ModelMistake) -> Void) {
    do throws(ModelMistake) {
      try read(&self)
    } catch {
      contents.mistakes.append(error)
      contents.isComplete = false
    }
  }

  private mutating func readModel(_ root: ModelElement) throws(ModelMistake) {
    guard root.name == "model" else {
      throw ModelMistake(
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
    attempt { reader throws(ModelMistake) in try reader.readComposites(root.children) }
    for child in root.children where !Self.compositeElements.contains(child.name) {
      attempt { reader throws(ModelMistake) in
        switch child.name {
        case "entity": try reader.readEntity(child)
        case "fetchRequest": try reader.readTemplate(child)
        case "configuration": try reader.readConfiguration(child)
        case "elements": break  // Positions in Xcode's diagram.
        default: reader.warnUnknown(child, in: root)
        }
      }
    }
  }

  private mutating func readTemplate(_ element: ModelElement) throws(ModelMistake) {
    var attributes = ElementAttributes(element, file: file)
    var template = try readFetchRequest(&attributes)
    template.name = try attributes.required("name")
    finish(attributes)
    for child in element.children { warnUnknown(child, in: element) }
    guard !contents.templates.contains(where: { $0.name == template.name }) else {
      throw attributes.mistake("a second fetch request is named \(template.name)")
    }
    contents.templates.append(template)
  }

  /// The part of a fetch request that templates and fetched properties share.
  mutating func readFetchRequest(
    _ attributes: inout ElementAttributes
  ) throws(ModelMistake) -> FetchRequestTemplateDefinition {
    var template = FetchRequestTemplateDefinition(
      attributes.text("name") ?? "", entityName: try attributes.required("entity"),
      predicateFormat: attributes.nonEmpty("predicateString"), fetchLimit: attributes.count("fetchLimit") ?? 0)
    template.fetchBatchSize = attributes.count("fetchBatchSize") ?? 0
    template.includesSubentities = attributes.flag("includeSubentities", default: true)
    template.returnsDistinctResults = attributes.flag("returnDistinctResults")
    // Hints on when to read from the store, which don't change the result.
    attributes.ignore("returnObjectsAsFaults", "includePropertyValues")
    return template
  }

  private mutating func readConfiguration(_ element: ModelElement) throws(ModelMistake) {
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
  mutating func readUserInfo(_ element: ModelElement) -> [String: String] {
    finish(ElementAttributes(element, file: file))
    var entries: [String: String] = [:]
    for child in element.children {
      guard child.name == "entry" else {
        warnUnknown(child, in: element)
        continue
      }
      var attributes = ElementAttributes(child, file: file)
      guard let key = attributes.text("key") else {
        attributes.note("<entry> has no key")
        finish(attributes)
        continue
      }
      if entries.updateValue(attributes.text("value") ?? "", forKey: key) != nil {
        warn(child.line, "the userInfo key “\(key)” stands here a second time; the last one counts")
      }
      finish(attributes)
    }
    return entries
  }

  /// Notes the mistakes in an element's attributes, and warns about unread ones and about text.
  mutating func finish(_ attributes: ElementAttributes) {
    let element = attributes.element
    contents.mistakes += attributes.mistakes
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

extension ModelReader {
  /// Reads one entity with its properties.
  mutating func readEntity(_ element: ModelElement) throws(ModelMistake) {
    var attributes = ElementAttributes(element, file: file)
    var entity = EntityDefinition(
      try attributes.required("name"), parent: attributes.nonEmpty("parentEntity"),
      isAbstract: attributes.flag("isAbstract"),
      className: className(attributes.nonEmpty("representedClassName")))
    entity.codeGenerationType = attributes.nonEmpty("codeGenerationType")
    entity.renamingIdentifier = attributes.nonEmpty("elementID")
    entity.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    attributes.ignore("syncable", "coreSpotlightDisplayNameExpression")
    finish(attributes)

    var oldIndexes: [FetchIndexDefinition] = []
    for child in element.children {
      attempt { reader throws(ModelMistake) in
        switch child.name {
        case "attribute":
          let (attribute, isIndexed) = try reader.readAttribute(child)
          entity.attributes.append(attribute)
          if isIndexed { oldIndexes.append(reader.index(over: [attribute.name])) }
        case "relationship": entity.relationships.append(try reader.readRelationship(child))
        case "fetchedProperty": entity.fetchedProperties.append(try reader.readFetchedProperty(child))
        case "uniquenessConstraints": entity.uniquenessConstraints += try reader.readConstraints(child)
        case "fetchIndex": entity.indexes.append(try reader.readIndex(child))
        case "compoundIndexes": oldIndexes += try reader.readCompoundIndexes(child)
        case "userInfo": entity.userInfo.merge(reader.readUserInfo(child)) { $1 }
        default: reader.warnUnknown(child, in: element)
        }
      }
    }
    for index in oldIndexes where !entity.indexes.contains(where: { $0.elements == index.elements }) {
      entity.indexes.append(index)
    }
    contents.entities.append(entity)
  }

  /// `.Name` is Xcode's way to write “in the current module”; `NSManagedObject` means no class of its own.
  private func className(_ name: String?) -> String? {
    guard let name, name != "NSManagedObject" else { return nil }
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }

  private mutating func readFetchedProperty(
    _ element: ModelElement
  ) throws(ModelMistake) -> FetchedPropertyDefinition {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    // A fetched property is never stored, so these have no effect.
    attributes.ignore("optional", "transient", "syncable", "elementID", "versionHashModifier", "indexed")
    finish(attributes)
    var request: FetchRequestTemplateDefinition?
    var userInfo: [String: String] = [:]
    for child in element.children {
      switch child.name {
      case "fetchRequest":
        var inner = ElementAttributes(child, file: file)
        request = try readFetchRequest(&inner)
        finish(inner)
      case "userInfo": userInfo.merge(readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    guard let request else { throw attributes.mistake("the fetched property \(name) has no fetchRequest") }
    var property = FetchedPropertyDefinition(
      name, entityName: request.entityName, predicateFormat: request.predicateFormat, userInfo: userInfo)
    property.fetchLimit = request.fetchLimit
    property.includesSubentities = request.includesSubentities
    return property
  }
}

extension ModelReader {
  /// Reads one attribute, and whether it carries the `indexed` flag of old files.
  mutating func readAttribute(
    _ element: ModelElement
  ) throws(ModelMistake) -> (AttributeDefinition, isIndexed: Bool) {
    var attributes = ElementAttributes(element, file: file)
    var attribute = AttributeDefinition(
      try attributes.required("name"), readType(&attributes), isOptional: attributes.flag("optional"),
      isTransient: attributes.flag("transient"), regularExpression: attributes.nonEmpty("regularExpressionString"))
    readValues(into: &attribute, from: &attributes)
    attribute.derivationExpression = attributes.nonEmpty("derivationExpression")
    if attributes.flag("derived", default: attribute.derivationExpression != nil) {
      if attribute.derivationExpression == nil {
        attributes.note("\(attribute.name) is derived and has no derivationExpression")
      }
    } else {
      attribute.derivationExpression = nil
    }
    attribute.usesScalarValueType = attributes.flag("usesScalarValueType")
    attribute.valueTransformerName = attributes.nonEmpty("valueTransformerName")
    attribute.attributeValueClassName = attributes.nonEmpty("customClassName")
    attribute.allowsExternalBinaryDataStorage = attributes.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = attributes.flag(
      "preserveAfterDeletion", default: attributes.flag("preservesValueInHistoryOnDeletion"))
    attribute.renamingIdentifier = attributes.nonEmpty("elementID")
    attribute.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    let isIndexed = attributes.flag("indexed")
    if attribute.type == .composite { readComposite(of: &attribute, from: &attributes) }
    attributes.ignore("syncable", "spotlightIndexingEnabled", "storedInTruthFile", "allowsCloudEncryption")
    finish(attributes)
    for child in element.children {
      switch child.name {
      case "userInfo": attribute.userInfo.merge(readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    return (attribute, isIndexed && !attribute.isTransient)
  }

  private mutating func readType(_ attributes: inout ElementAttributes) -> AttributeType {
    guard let name = attributes.text("attributeType") else { return .undefined }
    if let type = AttributeType(rawValue: name) { return type }
    if name == "Object ID" { return .objectID }
    let known = AttributeType.allCases.map(\.rawValue)
    let advice =
      NearestName.of(name, among: known).map { "did you mean “\($0)”?" } ?? "it can be \(known.joined(separator: ", "))"
    warn(
      attributes.element.line,
      "\(attributes.describe("attributeType")) “\(name)” isn't known, and is read as Undefined; \(advice)")
    return .undefined
  }

  /// The default and the bounds, each in the notation of the attribute's type.
  private mutating func readValues(
    into attribute: inout AttributeDefinition, from attributes: inout ElementAttributes
  ) {
    func value(_ name: String, _ parse: (String) -> ModelValueText.Result) -> Value? {
      guard let text = attributes.text(name) else { return nil }
      switch parse(text) {
      case .value(let value): return value
      case .wrong(let expected):
        attributes.note("\(attributes.describe(name)) is “\(text)”; \(expected)")
        return nil
      case .unsupported:
        warn(
          attributes.element.line,
          "\(attributes.describe(name)) has no effect on an attribute of type \(attribute.type.rawValue)")
        return nil
      }
    }
    let type = attribute.type
    let seconds = { (text: String) in type == .date ? ModelValueText.interval(text) : .unsupported }
    let text = { (text: String) in ModelValueText.defaultValue(text, type: type) }
    let bound = { (text: String) in ModelValueText.bound(text, type: type) }
    attribute.defaultValue =
      value("defaultDateTimeInterval", seconds) ?? value("defaultValueString", text) ?? .null
    attribute.minimumValue = value("minDateTimeInterval", seconds) ?? value("minValueString", bound) ?? .null
    attribute.maximumValue = value("maxDateTimeInterval", seconds) ?? value("maxValueString", bound) ?? .null
  }
}

extension ModelReader {
  /// Reads one relationship.
  mutating func readRelationship(_ element: ModelElement) throws(ModelMistake) -> RelationshipDefinition {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    let destination = try attributes.required("destinationEntity")
    let isToMany = attributes.flag("toMany")
    let maximum = attributes.count("maxCount")
    var relationship = RelationshipDefinition(
      name, to: destination, inverse: attributes.nonEmpty("inverseName"), isToMany: isToMany,
      isOrdered: attributes.flag("ordered"), isOptional: attributes.flag("optional"),
      minimumCount: attributes.count("minCount") ?? 0, maximumCount: isToMany ? maximum : 1)
    if !isToMany, let maximum, maximum != 1 {
      warn(element.line, "\(name) has maxCount \(maximum) and isn't toMany; it is read as to-one")
    }
    if let rule = attributes.text("deletionRule") {
      if let known = DeleteRule(rawValue: rule) {
        relationship.deleteRule = known
      } else {
        attributes.note("\(name)'s deletionRule is “\(rule)”; it can be No Action, Nullify, Cascade or Deny")
      }
    }
    if let entity = attributes.nonEmpty("inverseEntity"), entity != destination {
      warn(
        element.line, "\(name) leads to \(destination), but its inverse is said to be of \(entity); the former counts")
    }
    relationship.isTransient = attributes.flag("transient")
    relationship.renamingIdentifier = attributes.nonEmpty("elementID")
    relationship.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    // Old files mark every relationship as `indexed`; stores index foreign keys anyway.
    attributes.ignore("syncable", "indexed", "spotlightIndexingEnabled", "storedInTruthFile")
    finish(attributes)
    for child in element.children {
      switch child.name {
      case "userInfo": relationship.userInfo.merge(readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    return relationship
  }
}

extension ModelReader {
  /// The element names of composite types at the top level of a model.
  static let compositeElements: Set<String> = ["composite", "compositeType", "compositeAttribute"]

  /// Reads the model's composite types, nested ones first.
  mutating func readComposites(_ elements: [ModelElement]) throws(ModelMistake) {
    var waiting = elements.filter { Self.compositeElements.contains($0.name) }
    while !waiting.isEmpty {
      let names = Set(waiting.compactMap { $0.attributes["name"] })
      let ready = waiting.filter { element in
        !element.children.contains { names.contains(compositeName(in: $0.attributes) ?? "") }
      }
      guard !ready.isEmpty else {
        throw ModelMistake(
          file: file, line: waiting[0].line,
          reason: "the composite types \(names.sorted().joined(separator: ", ")) contain each other")
      }
      for element in ready {
        attempt { reader throws(ModelMistake) in try reader.readCompositeType(element) }
      }
      waiting.removeAll { element in ready.contains { $0 === element } }
    }
  }

  private mutating func readCompositeType(_ element: ModelElement) throws(ModelMistake) {
    var attributes = ElementAttributes(element, file: file)
    let name = try attributes.required("name")
    attributes.ignore("elementID", "versionHashModifier", "syncable")
    finish(attributes)
    var members: [AttributeDefinition] = []
    for child in element.children {
      switch child.name {
      case "attribute":
        attempt { reader throws(ModelMistake) in members.append(try reader.readAttribute(child).0) }
      case "userInfo": _ = readUserInfo(child)
      default: warnUnknown(child, in: element)
      }
    }
    guard composites.updateValue(members, forKey: name) == nil else {
      throw attributes.mistake("a second composite type is named \(name)")
    }
  }

  /// Adds the elements of the composite type to an attribute.
  mutating func readComposite(
    of attribute: inout AttributeDefinition, from attributes: inout ElementAttributes
  ) {
    for key in Self.compositeNameKeys { attributes.ignore(key) }
    guard let name = compositeName(in: attributes.element.attributes) else {
      warn(attributes.element.line, "the composite attribute \(attribute.name) doesn't say which composite type it has")
      return
    }
    guard let members = composites[name] else {
      return attributes.note("\(attribute.name) has the composite type \(name), which isn't in the model")
    }
    attribute.compositeName = name
    attribute.compositeElements = members
  }

  private static let compositeNameKeys = ["compositeName", "compositeAttributeName", "compositeType", "elementName"]

  private func compositeName(in attributes: [String: String]) -> String? {
    for key in Self.compositeNameKeys {
      if let name = attributes[key], !name.isEmpty { return name }
    }
    return nil
  }
}

extension ModelReader {
  /// Reads `uniquenessConstraints`: each constraint's attributes.
  mutating func readConstraints(_ element: ModelElement) throws(ModelMistake) -> [[String]] {
    try readLists(element, list: "uniquenessConstraint", item: "constraint")
  }

  /// Reads one `fetchIndex`.
  mutating func readIndex(_ element: ModelElement) throws(ModelMistake) -> FetchIndexDefinition {
    var attributes = ElementAttributes(element, file: file)
    var index = FetchIndexDefinition(try attributes.required("name"), elements: [])
    index.partialPredicateFormat =
      attributes.nonEmpty("partialIndexPredicate") ?? attributes.nonEmpty("predicateString")
    finish(attributes)
    for child in element.children {
      guard child.name == "fetchIndexElement" else {
        warnUnknown(child, in: element)
        continue
      }
      index.elements.append(try readIndexElement(child))
    }
    guard !index.elements.isEmpty else { throw attributes.mistake("the index \(index.name) has no elements") }
    return index
  }

  private mutating func readIndexElement(
    _ element: ModelElement
  ) throws(ModelMistake) -> FetchIndexDefinition.Element {
    var attributes = ElementAttributes(element, file: file)
    var result = FetchIndexDefinition.Element(
      property: attributes.nonEmpty("property"), expression: attributes.nonEmpty("expression"))
    guard result.property != nil || result.expression != nil else {
      throw attributes.mistake("<fetchIndexElement> names neither a property nor an expression")
    }
    if let type = attributes.text("type") {
      if !["binary", "rtree"].contains(type.lowercased()) {
        attributes.note("<fetchIndexElement>'s type is “\(type)”; it can be Binary or RTree")
      }
      result.collation = type.lowercased() == "rtree" ? "RTree" : "Binary"
    }
    switch attributes.text("order") {
    case nil, "ascending": break
    case "descending": result.isAscending = false
    case let order?:
      attributes.note("<fetchIndexElement>'s order is “\(order)”; it can be ascending or descending")
    }
    attributes.ignore("expressionType")
    finish(attributes)
    return result
  }

  /// Reads `compoundIndexes`, as Xcode wrote them until version 8.
  mutating func readCompoundIndexes(_ element: ModelElement) throws(ModelMistake) -> [FetchIndexDefinition] {
    let lists = try readLists(element, list: "compoundIndex", item: "index")
    return lists.map { index(over: $0) }
  }

  /// The index for an old file's flag or list, named as Xcode does on conversion.
  func index(over properties: [String]) -> FetchIndexDefinition {
    let name = properties.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return FetchIndexDefinition("by\(name)Index", elements: properties.map { .init(property: $0) })
  }

  private mutating func readLists(
    _ element: ModelElement, list: String, item: String
  ) throws(ModelMistake) -> [[String]] {
    finish(ElementAttributes(element, file: file))
    var lists: [[String]] = []
    for child in element.children {
      guard child.name == list else {
        warnUnknown(child, in: element)
        continue
      }
      let attributes = ElementAttributes(child, file: file)
      finish(attributes)
      var names: [String] = []
      for entry in child.children {
        guard entry.name == item else {
          warnUnknown(entry, in: child)
          continue
        }
        var inner = ElementAttributes(entry, file: file)
        names.append(try inner.required("value"))
        finish(inner)
      }
      guard !names.isEmpty else { throw attributes.mistake("<\(list)> names nothing") }
      lists.append(names)
    }
    return lists
  }
}
