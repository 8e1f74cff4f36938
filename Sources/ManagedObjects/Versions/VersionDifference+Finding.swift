package import Foundation

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
    }
    if let modifier = versionHashModifier { words.append("modified by \(modifier)") }
    return words.joined(separator: " ")
  }
}
