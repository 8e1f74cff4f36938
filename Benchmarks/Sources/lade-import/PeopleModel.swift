import Importing
import ManagedObjects

/// The models that people are imported with: entity `Person`, `id` its primary key.
enum PeopleModel: String, CaseIterable {
  /// With an index on `email`: the standard load's.
  case plain
  /// With none.
  case withoutIndex = "without-index"
  /// With the index, and a relationship to a `Club`, found by its `code`, which is unique.
  case clubs

  /// The model, with the entities that imports add to it.
  func make() throws -> ManagedObjectModel {
    try ImportModel.adding(to: ManagedObjectModel(entities: self == .clubs ? [person, club] : [person]))
  }

  private var person: EntityDefinition {
    EntityDefinition(
      "Person",
      attributes: [
        AttributeDefinition("id", .integer64, isOptional: false), AttributeDefinition("name", .string),
        AttributeDefinition("email", .string), AttributeDefinition("age", .integer32),
        AttributeDefinition("balance", .double), AttributeDefinition("created", .date),
        AttributeDefinition("note", .string),
      ],
      relationships: self == .clubs
        ? [RelationshipDefinition("club", to: "Club", inverse: "members", userInfo: ["relatedByAttribute": "code"])]
        : [],
      indexes: self == .withoutIndex
        ? [] : [FetchIndexDefinition("byEmail", elements: [.init(property: "email")])],
      userInfo: ["primaryKey": "id"])
  }

  private var club: EntityDefinition {
    EntityDefinition(
      "Club",
      attributes: [AttributeDefinition("code", .string, isOptional: false), AttributeDefinition("name", .string)],
      relationships: [RelationshipDefinition("members", to: "Person", inverse: "club", isToMany: true)],
      uniquenessConstraints: [["code"]])
  }
}
