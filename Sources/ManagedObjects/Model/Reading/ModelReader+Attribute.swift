extension ModelReader {
  /// Reads one attribute, and whether it carries the `indexed` flag of old files.
  mutating func readAttribute(_ element: ModelElement) throws -> (AttributeDefinition, isIndexed: Bool) {
    var attributes = ElementAttributes(element, file: file)
    var attribute = AttributeDefinition(
      try attributes.required("name"), readType(&attributes), isOptional: try attributes.flag("optional"),
      isTransient: try attributes.flag("transient"), regularExpression: attributes.nonEmpty("regularExpressionString"))
    try readValues(into: &attribute, from: &attributes)
    attribute.derivationExpression = attributes.nonEmpty("derivationExpression")
    if try attributes.flag("derived", default: attribute.derivationExpression != nil) {
      guard attribute.derivationExpression != nil else {
        throw attributes.malformed("\(attribute.name) is derived and has no derivationExpression")
      }
    } else {
      attribute.derivationExpression = nil
    }
    attribute.usesScalarValueType = try attributes.flag("usesScalarValueType")
    attribute.valueTransformerName = attributes.nonEmpty("valueTransformerName")
    attribute.attributeValueClassName = attributes.nonEmpty("customClassName")
    attribute.allowsExternalBinaryDataStorage = try attributes.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = try attributes.flag("preservesValueInHistoryOnDeletion")
    attribute.renamingIdentifier = attributes.nonEmpty("elementID")
    attribute.versionHashModifier = attributes.nonEmpty("versionHashModifier")
    let isIndexed = try attributes.flag("indexed")
    if attribute.type == .composite { try readComposite(of: &attribute, from: &attributes) }
    attributes.ignore("syncable", "spotlightIndexingEnabled", "storedInTruthFile", "allowsCloudEncryption")
    finish(attributes)
    for child in element.children {
      switch child.name {
      case "userInfo": attribute.userInfo.merge(try readUserInfo(child)) { $1 }
      default: warnUnknown(child, in: element)
      }
    }
    return (attribute, isIndexed && !attribute.isTransient)
  }

  private mutating func readType(_ attributes: inout ElementAttributes) -> AttributeType {
    guard let name = attributes.text("attributeType") else { return .undefined }
    if let type = AttributeType(rawValue: name) { return type }
    if name == "Object ID" { return .objectID }
    warn(
      attributes.element.line, "\(attributes.describe("attributeType")) “\(name)” isn't known; it is read as Undefined")
    return .undefined
  }

  /// The default and the bounds, each in the notation of the attribute's type.
  private mutating func readValues(
    into attribute: inout AttributeDefinition, from attributes: inout ElementAttributes
  ) throws {
    func value(_ name: String, _ parse: (String) -> ModelValueText.Result) throws -> Value? {
      guard let text = attributes.text(name) else { return nil }
      switch parse(text) {
      case .value(let value): return value
      case .wrong(let expected):
        throw attributes.malformed("\(attributes.describe(name)) is “\(text)”; \(expected)")
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
      try value("defaultDateTimeInterval", seconds) ?? value("defaultValueString", text) ?? .null
    attribute.minimumValue = try value("minDateTimeInterval", seconds) ?? value("minValueString", bound) ?? .null
    attribute.maximumValue = try value("maxDateTimeInterval", seconds) ?? value("maxValueString", bound) ?? .null
  }
}
