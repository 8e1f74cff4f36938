import Importing
import ManagedObjects

/// The models that are imported into: people, with entity `Person` and `id` as its primary key, and three of other objects.
enum PeopleModel: String, CaseIterable {
  /// With an index on `email`: the standard load's.
  case plain
  /// With none.
  case withoutIndex = "without-index"
  /// With the index, and a relationship to a `Club`, found by its `code`, which is unique.
  case clubs
  /// As `clubs`, and each `Club` has a captain among the people: whichever file of a feed comes first, its references lead to
  /// objects that come later.
  case captains
  /// Readings: an entity for each kind of key.
  case readings
  /// Objects with five others in each.
  case parents
  /// A transit feed.
  case feed

  /// The model, with the entities that imports add to it.
  func make() throws -> ManagedObjectModel {
    try ImportModel.adding(to: ManagedObjectModel(entities: entities))
  }

  private var entities: [EntityDefinition] {
    switch self {
    case .plain, .withoutIndex: [person]
    case .clubs, .captains: [person, club]
    case .readings: KeyedModel.readings
    case .parents: KeyedModel.parents
    case .feed: KeyedModel.feed
    }
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
      relationships: self == .clubs || self == .captains
        ? [RelationshipDefinition("club", to: "Club", inverse: "members", userInfo: ["relatedByAttribute": "code"])]
        : [],
      indexes: self == .withoutIndex
        ? [] : [FetchIndexDefinition("byEmail", elements: [.init(property: "email")])],
      userInfo: ["primaryKey": "id", "mappedFileName": "people.csv"])
  }

  private var club: EntityDefinition {
    EntityDefinition(
      "Club",
      attributes: [AttributeDefinition("code", .string, isOptional: false), AttributeDefinition("name", .string)],
      relationships: [RelationshipDefinition("members", to: "Person", inverse: "club", isToMany: true)]
        + (self == .captains
          ? [RelationshipDefinition("captain", to: "Person", userInfo: ["relatedByAttribute": "id"])] : []),
      uniquenessConstraints: [["code"]], userInfo: ["mappedFileName": "clubs.csv"])
  }
}
