import ManagedObjects

/// Clubs and players, who refer to each other.
enum ClubModel {
  static let entities = [club, player]

  private static let club = EntityDefinition(
    "Club",
    attributes: [AttributeDefinition("name", .string, isOptional: false)],
    relationships: [
      RelationshipDefinition("captain", to: "Player", userInfo: ["relatedByAttribute": "number"]),
      RelationshipDefinition("players", to: "Player", inverse: "club", isToMany: true),
    ],
    uniquenessConstraints: [["name"]])

  private static let player = EntityDefinition(
    "Player",
    attributes: [
      AttributeDefinition("number", .integer32, isOptional: false), AttributeDefinition("age", .integer16),
    ],
    relationships: [
      RelationshipDefinition(
        "club", to: "Club", inverse: "players", isOptional: false, userInfo: ["relatedByAttribute": "name"])
    ],
    uniquenessConstraints: [["number"]])
}
