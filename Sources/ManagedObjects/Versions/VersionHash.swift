// A version hash decides whether a store that was made with one version of an entity can be opened with another. It is the
// SHA-256 of a canonical text, so it is the same in every process and on every machine.
//
// It covers what Core Data's "Understanding Versions" lists: an entity's name, parent, abstractness and properties,
// inherited ones included; a property's name and optionality; an attribute's type; a relationship's destination, inverse,
// order, bounds and delete rule; and hash modifiers. It doesn't cover class names, defaults, validation, user info, indexes,
// fetched properties, or the order of definition. Beyond that list:
// - it doesn't cover transient properties, which leave no trace in the file;
// - it covers uniqueness constraints, derivations and the elements of composites, which have indexes and columns in the file;
// - it covers three keys of the user info, which change the file: `primaryKey`, `dateStorage` and `columnName`.

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
    ] + (columnName.map { ["column", $0] } ?? [])
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

extension VersionDifference {
  /// Every entity whose hash in a store differs from a model's, by name. With the model that made the store, the differences
  /// are described in words.
  package static func between(
    _ kept: [String: Data], _ wanted: [String: Data], from old: ManagedObjectModel?, to new: ManagedObjectModel
  ) -> [VersionDifference] {
    Set(kept.keys).union(wanted.keys).sorted().compactMap { name in
      guard kept[name] != wanted[name] else { return nil }
      if kept[name] == nil { return VersionDifference(entity: name, kind: .added) }
      if wanted[name] == nil { return VersionDifference(entity: name, kind: .removed) }
      guard let before = old?.entitiesByName[name], let after = new.entitiesByName[name] else {
        return VersionDifference(entity: name, kind: .changed([]))
      }
      return VersionDifference(entity: name, kind: .changed(changes(from: before, to: after)))
    }
  }

  private static func changes(from before: EntityDescription, to after: EntityDescription) -> [String] {
    var changes: [String] = []
    func compare(_ what: String, _ a: String, _ b: String) {
      if a != b { changes.append("\(after.name)\(what) is \(b), was \(a)") }
    }
    compare("'s parent", before.superentity?.name ?? "none", after.superentity?.name ?? "none")
    compare("", before.isAbstract ? "abstract" : "concrete", after.isAbstract ? "abstract" : "concrete")
    compare("'s primary key", before.primaryKey?.name ?? "none", after.primaryKey?.name ?? "none")
    compare("'s hash modifier", before.versionHashModifier ?? "none", after.versionHashModifier ?? "none")
    let constraints = { (entity: EntityDescription) in
      entity.uniquenessConstraints.map { $0.map(\.name).joined(separator: "+") }.sorted().joined(separator: ", ")
    }
    compare("'s uniqueness", constraints(before), constraints(after))
    for property in before.properties where !property.isTransient {
      let other = after.propertiesByName[property.name]
      if other.map(\.isTransient) ?? true { changes.append("\(after.name).\(property.name) is gone") }
    }
    for property in after.properties where !property.isTransient {
      guard let other = before.propertiesByName[property.name], !other.isTransient else {
        changes.append("\(after.name).\(property.name) is new")
        continue
      }
      if other.versionHash != property.versionHash {
        compare("." + property.name, other.versionText, property.versionText)
      }
    }
    return changes
  }
}

extension PropertyDescription {
  /// The parts of the version hash, in words.
  fileprivate var versionText: String {
    var words = [isOptional ? "optional" : "required"]
    if let attribute = self as? AttributeDescription {
      words.append(attribute.type.rawValue)
      if let expression = attribute.definition.derivationExpression { words.append("derived as \(expression)") }
      if attribute.type == .date, let storage = attribute.userInfo["dateStorage"] {
        words.append("stored as \(storage)")
      }
    } else if let relationship = self as? RelationshipDescription {
      words.append(relationship.isToMany ? (relationship.isOrdered ? "ordered to-many" : "to-many") : "to-one")
      words.append("to \(relationship.definition.destination)")
      words.append("with the inverse \(relationship.definition.inverse ?? "none")")
      words.append("\(relationship.definition.minimumCount)...\(relationship.definition.maximumCount)")
      words.append(relationship.deleteRule.rawValue)
      if let column = relationship.definition.columnName { words.append("in the column \(column)") }
    }
    if let modifier = versionHashModifier { words.append("modified by \(modifier)") }
    return words.joined(separator: " ")
  }
}
