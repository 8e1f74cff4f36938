import ManagedObjects

/// The rules for importing an entity, from MagicalRecord's keys in the model's `userInfo`, computed once for an import.
///
/// | key | on | meaning |
/// |---|---|---|
/// | `mappedKeyName`, `mappedKeyName.1` … `.9` | attribute, relationship | key paths in the data; the first that exists is used. The default is the property's name |
/// | `relatedByAttribute` | entity, relationship | the attribute that identifies an object. The default is `entityNameID` |
/// | `dateFormat` | date attribute | a format of `DateFormatter`, in UTC; `UnixTime` or `UnixTimeMillis` for milliseconds and `UnixTimeMicros` for microseconds since 1970 |
/// | `useDefaultValueWhenNotPresent` | attribute | whether an attribute that the data doesn't have gets the model's default |
struct ImportKeys {
  struct Attribute {
    let attribute: AttributeDescription
    let lookup: Lookup
    let usesDefault: Bool
  }

  struct Relationship {
    let relationship: RelationshipDescription
    let lookup: Lookup
    /// The attribute of the destination by which objects are found; nil when it has none of that name.
    let relatedBy: Attribute?
  }

  /// Key paths in the order in which they are tried.
  struct Lookup {
    let paths: [ArraySlice<String>]

    init(_ property: PropertyDescription) {
      var names = [property.userInfo["mappedKeyName"] ?? property.name]
      for number in 1...9 {
        guard let name = property.userInfo["mappedKeyName.\(number)"] else { break }
        names.append(name)
      }
      paths = names.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...] }
    }

    func callAsFunction(_ data: ImportedValue) -> ImportedValue? {
      for path in paths {
        if let value = data.value(along: path) { return value }
      }
      return nil
    }
  }

  let attributes: [Attribute]
  let relationships: [Relationship]
  let relatedBy: Attribute?

  init(_ entity: EntityDescription) {
    attributes = entity.attributes.filter { $0.definition.derivationExpression == nil }.map(ImportKeys.attribute)
    relatedBy = ImportKeys.attribute(entity, named: entity.importKey)
    relationships = entity.relationships.map { relationship in
      let destination = relationship.destinationEntity
      return Relationship(
        relationship: relationship, lookup: Lookup(relationship),
        relatedBy: ImportKeys.attribute(
          destination, named: relationship.userInfo["relatedByAttribute"] ?? destination.importKey))
    }
  }

  private static func attribute(_ attribute: AttributeDescription) -> Attribute {
    let flag = attribute.userInfo["useDefaultValueWhenNotPresent"]?.lowercased() ?? ""
    return Attribute(
      attribute: attribute, lookup: Lookup(attribute), usesDefault: ["yes", "true", "1", "y", "t"].contains(flag))
  }

  private static func attribute(_ entity: EntityDescription, named name: String) -> Attribute? {
    (entity.propertiesByName[name] as? AttributeDescription).map(attribute)
  }
}

extension EntityDescription {
  /// The name of the attribute by which imported objects are found again, by `relatedByAttribute` or by default.
  fileprivate var importKey: String {
    userInfo["relatedByAttribute"] ?? name.prefix(1).lowercased() + name.dropFirst() + "ID"
  }
}
