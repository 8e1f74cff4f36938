// A version hash decides whether a store that was made with one version of an entity can be opened with another. It is the
// SHA-256 of a canonical text, so it is the same in every process and on every machine.
//
// It covers what Core Data's "Understanding Versions" lists: an entity's name, parent, abstractness and properties,
// inherited ones included; a property's name and optionality; an attribute's type; a relationship's destination, inverse,
// order, bounds and delete rule; and hash modifiers. It doesn't cover class names, defaults, validation, user info, indexes,
// fetched properties, or the order of definition. Beyond that list:
// - it doesn't cover transient properties, which leave no trace in the file;
// - it covers uniqueness constraints, derivations and the elements of composites, which have indexes and columns in the file;
// - it covers two keys of the user info, which change the file: `primaryKey` and `dateStorage`.

public import Foundation

extension PropertyDescription {
  /// 32 bytes that are the same for two versions of the property which a store can't tell apart.
  /// Source: `versionHash` of Core Data's `NSPropertyDescription`.
  public var versionHash: Data { HashText(fields).digest }

  /// A text of the author's that makes versions differ which look alike.
  /// Source: `versionHashModifier` of Core Data's `NSPropertyDescription`.
  public var versionHashModifier: String? {
    (self as? AttributeDescription)?.definition.versionHashModifier
      ?? (self as? RelationshipDescription)?.definition.versionHashModifier
  }

  fileprivate var fields: [String?] {
    if let attribute = self as? AttributeDescription { return attribute.definition.fields }
    return (self as? RelationshipDescription)?.definition.fields ?? []
  }
}

extension AttributeDefinition {
  fileprivate var fields: [String?] {
    [
      "attribute", name, type.rawValue, isOptional ? "optional" : "required", derivationExpression,
      type == .date ? userInfo["dateStorage"]?.lowercased() : nil, versionHashModifier,
    ] + compositeElements.map { HashText($0.fields).text }
  }
}

extension RelationshipDefinition {
  fileprivate var fields: [String?] {
    [
      "relationship", name, isOptional ? "optional" : "required", destination, inverse, isToMany ? "to-many" : "to-one",
      isOrdered ? "ordered" : "unordered", String(minimumCount), String(maximumCount), deleteRule.rawValue,
      versionHashModifier,
    ]
  }
}

extension EntityDescription {
  /// 32 bytes that are the same for two versions of the entity which a store can't tell apart. A store keeps them to know
  /// whether a model fits. The top of this file lists what they cover.
  /// Source: `versionHash` of Core Data's `NSEntityDescription`.
  public var versionHash: Data {
    let stored = properties.filter { !$0.isTransient }
    var texts = stored.map { HashText($0.fields).text }.sorted()
    texts += uniquenessConstraints.map { HashText(["unique"] + $0.map(\.name)).text }.sorted()
    return HashText(
      ["entity", name, superentity?.name, isAbstract ? "abstract" : "concrete", primaryKey?.name, versionHashModifier]
        + texts
    ).digest
  }

  /// A text of the author's that makes versions differ which look alike.
  /// Source: `versionHashModifier` of Core Data's `NSEntityDescription`.
  public var versionHashModifier: String? { definition.versionHashModifier }

  /// The name it had in an earlier version, for migration.
  /// Source: `renamingIdentifier` of Core Data's `NSEntityDescription`, which is the name when none was given.
  public var renamingIdentifier: String? { definition.renamingIdentifier }
}

/// Fields as one unambiguous text: each with its length in front.
struct HashText {
  let text: String

  init(_ fields: [String?]) {
    text = fields.map { field in field.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: ",")
  }

  var digest: Data { SHA256.digest(text.utf8) }
}
