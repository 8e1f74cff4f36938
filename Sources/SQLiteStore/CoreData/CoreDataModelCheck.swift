import Foundation
import ManagedObjects

/// Compares a model with the one that a Core Data store keeps, as far as Core Data's version hashes tell versions apart: not by
/// defaults, classes, validation, delete rules or user info.
///
/// The hashes themselves can't be computed: Apple doesn't document them.
struct CoreDataModelCheck {
  /// The differences in words; none if the model fits.
  static func differences(
    of entities: [EntityDescription], from kept: ManagedObjectModel, in names: Set<String>
  ) -> [String] {
    var differences = self.differences(of: Set(entities.map(\.name)), in: names)
    for entity in entities {
      if names.contains(entity.name), let other = kept.entitiesByName[entity.name] {
        differences += self.differences(of: entity, from: other)
      }
    }
    return differences
  }

  /// The differences from a file that keeps no model: of its entities alone.
  static func differences(of held: Set<String>, in names: Set<String>) -> [String] {
    names.subtracting(held).sorted().map { "the model has no entity \($0)" }
      + held.subtracting(names).sorted().map { "the file has no entity \($0)" }
  }

  private static func differences(of entity: EntityDescription, from kept: EntityDescription) -> [String] {
    var differences: [String] = []
    func compare(_ what: String, _ ours: String, _ theirs: String) {
      if ours != theirs { differences.append("\(what) is \(ours) in the model and \(theirs) in the file") }
    }
    compare("\(entity.name)'s parent", entity.superentity?.name ?? "none", kept.superentity?.name ?? "none")
    compare(entity.name, entity.isAbstract ? "abstract" : "concrete", kept.isAbstract ? "abstract" : "concrete")
    compare("\(entity.name)'s hash modifier", entity.versionHashModifier ?? "none", kept.versionHashModifier ?? "none")
    let ours = words(of: entity)
    let theirs = words(of: kept)
    for name in Set(ours.keys).union(theirs.keys).sorted() {
      switch (ours[name], theirs[name]) {
      case (let a?, let b?): compare("\(entity.name).\(name)", a, b)
      case (_?, nil): differences.append("the file has no \(entity.name).\(name)")
      case (nil, _): differences.append("the model has no \(entity.name).\(name)")
      }
    }
    return differences
  }

  /// What tells versions of an entity's own stored properties apart, by their names.
  private static func words(of entity: EntityDescription) -> [String: String] {
    var words: [String: String] = [:]
    for property in entity.properties where property.entity === entity && !property.isTransient {
      words[property.name] = self.words(of: property)
    }
    return words
  }

  private static func words(of property: PropertyDescription) -> String {
    var words = [property.isOptional ? "optional" : "required"]
    if let attribute = property as? AttributeDescription {
      words.append(attribute.type.rawValue)
      if attribute.definition.allowsExternalBinaryDataStorage { words.append("allowing external storage") }
      if attribute.definition.preservesValueInHistoryOnDeletion { words.append("preserved in history") }
    } else if let relationship = property as? RelationshipDescription {
      words.append(relationship.isToMany ? (relationship.isOrdered ? "ordered to-many" : "to-many") : "to-one")
      words.append("of \(relationship.definition.minimumCount) to \(relationship.definition.maximumCount)")
      words.append("leading to \(relationship.destinationEntity.name)")
    }
    if let modifier = property.versionHashModifier { words.append("modified by \(modifier)") }
    return words.joined(separator: " ")
  }
}
