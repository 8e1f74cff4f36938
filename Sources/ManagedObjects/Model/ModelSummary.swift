/// The content of a model as plain values, for `ladectl model show`: text or JSON.
package struct ModelSummary: Codable, Sendable, Hashable {
  /// One attribute.
  package struct Attribute: Codable, Sendable, Hashable {
    package var name: String
    /// The type's name in model files, with the composite type's name for a composite.
    package var type: String
    package var isOptional: Bool
    package var isTransient: Bool
    /// The default value as text, nil if there is none.
    package var defaultValue: String?
    package var minimum: String?
    package var maximum: String?
    package var regularExpression: String?
    package var derivationExpression: String?
    /// The elements of a composite with full names such as `address.city`; empty for other attributes.
    package var elements: [Attribute]
    package var valueTransformer: String?
    package var renamingIdentifier: String?
    package var userInfo: [String: String]
  }

  /// One relationship.
  package struct Relationship: Codable, Sendable, Hashable {
    package var name: String
    package var destination: String
    package var inverse: String?
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional: Bool
    /// 0 for no bound.
    package var minimumCount: Int
    /// 0 for no bound.
    package var maximumCount: Int
    package var deleteRule: DeleteRule
    package var renamingIdentifier: String?
    package var userInfo: [String: String]
  }

  /// One index.
  package struct Index: Codable, Sendable, Hashable {
    package var name: String
    /// Its columns, each with its direction where it descends.
    package var elements: [String]
    package var partialPredicate: String?
  }

  /// One fetched property or fetch request template.
  package struct Fetch: Codable, Sendable, Hashable {
    package var name: String
    package var entity: String
    package var predicate: String?
  }

  /// One entity with its own properties; inherited ones are listed with the parent.
  package struct Entity: Codable, Sendable, Hashable {
    package var name: String
    package var parent: String?
    package var isAbstract: Bool
    package var className: String?
    package var attributes: [Attribute]
    package var relationships: [Relationship]
    package var fetchedProperties: [Fetch]
    package var uniquenessConstraints: [[String]]
    package var indexes: [Index]
    package var renamingIdentifier: String?
    package var userInfo: [String: String]
  }

  /// One warning with its location.
  package struct Warning: Codable, Sendable, Hashable {
    package var file: String
    package var line: Int
    package var message: String
  }

  package var versionIdentifier: String?
  package var entities: [Entity]
  package var fetchRequestTemplates: [Fetch]
  /// Names of entities by configuration.
  package var configurations: [String: [String]]
  package var warnings: [Warning]
}

extension ManagedObjectModel {
  /// The content of the model as plain values, in the order of definition.
  package func summary() -> ModelSummary {
    ModelSummary(
      versionIdentifier: versionIdentifier, entities: entities.map { ModelSummary.Entity($0.definition) },
      fetchRequestTemplates: fetchRequestTemplates.values.sorted { $0.name < $1.name }.map {
        ModelSummary.Fetch(name: $0.name, entity: $0.entityName, predicate: $0.predicateFormat)
      },
      configurations: configurations,
      warnings: warnings.map { ModelSummary.Warning(file: $0.file, line: $0.line, message: $0.message) })
  }
}

extension ModelSummary.Entity {
  init(_ definition: EntityDefinition) {
    self.init(
      name: definition.name, parent: definition.parent, isAbstract: definition.isAbstract,
      className: definition.className, attributes: definition.attributes.map(ModelSummary.Attribute.init),
      relationships: definition.relationships.map(ModelSummary.Relationship.init),
      fetchedProperties: definition.fetchedProperties.map {
        ModelSummary.Fetch(name: $0.name, entity: $0.entityName, predicate: $0.predicateFormat)
      },
      uniquenessConstraints: definition.uniquenessConstraints,
      indexes: definition.indexes.map(ModelSummary.Index.init), renamingIdentifier: definition.renamingIdentifier,
      userInfo: definition.userInfo)
  }
}

extension ModelSummary.Attribute {
  init(_ definition: AttributeDefinition) {
    func words(_ value: Value) -> String? { value.isNull ? nil : value.plainText }
    self.init(
      name: definition.name,
      type: definition.type.rawValue + (definition.compositeName.map { " \($0)" } ?? ""),
      isOptional: definition.isOptional, isTransient: definition.isTransient,
      defaultValue: words(definition.defaultValue), minimum: words(definition.minimumValue),
      maximum: words(definition.maximumValue), regularExpression: definition.regularExpression,
      derivationExpression: definition.derivationExpression,
      elements: definition.compositeElements.map { element in
        var element = element
        element.name = definition.name + "." + element.name
        return ModelSummary.Attribute(element)
      }, valueTransformer: definition.valueTransformerName,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo)
  }
}

extension ModelSummary.Relationship {
  init(_ definition: RelationshipDefinition) {
    self.init(
      name: definition.name, destination: definition.destination, inverse: definition.inverse,
      isToMany: definition.isToMany, isOrdered: definition.isOrdered, isOptional: definition.isOptional,
      minimumCount: definition.minimumCount, maximumCount: definition.maximumCount, deleteRule: definition.deleteRule,
      renamingIdentifier: definition.renamingIdentifier, userInfo: definition.userInfo)
  }
}

extension ModelSummary.Index {
  init(_ definition: FetchIndexDefinition) {
    self.init(
      name: definition.name,
      elements: definition.elements.map { element in
        let what = element.property ?? element.expression.map { "(\($0))" } ?? ""
        return what + (element.isAscending ? "" : " descending")
          + (element.collation == "Binary" ? "" : " \(element.collation)")
      },
      partialPredicate: definition.partialPredicateFormat)
  }
}
