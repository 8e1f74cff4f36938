import ManagedObjects

/// Shelves, boxes and parts: what can't be deleted, what goes along, and an entity that inherits from another.
enum StoreroomModel {
  static let entities = [shelf, box, crate, part]

  /// It can't go while there are boxes on it, or the shelf that it stands before is there.
  private static let shelf = EntityDefinition(
    "Shelf", attributes: [AttributeDefinition("code", .string), AttributeDefinition("text", .string)],
    relationships: [
      RelationshipDefinition("boxes", to: "Box", inverse: "shelf", isToMany: true, deleteRule: .deny),
      RelationshipDefinition("before", to: "Shelf", inverse: "after", deleteRule: .deny),
      RelationshipDefinition("after", to: "Shelf", inverse: "before"),
    ],
    uniquenessConstraints: [["code"]])

  private static let box = EntityDefinition(
    "Box", attributes: [AttributeDefinition("code", .string), AttributeDefinition("text", .string)],
    relationships: [
      RelationshipDefinition("shelf", to: "Shelf", inverse: "boxes"),
      RelationshipDefinition("parts", to: "Part", inverse: "box", isToMany: true, deleteRule: .cascade),
    ],
    uniquenessConstraints: [["code"]])

  private static let crate = EntityDefinition(
    "Crate", parent: "Box", attributes: [AttributeDefinition("wood", .string)])

  private static let part = EntityDefinition(
    "Part", attributes: [AttributeDefinition("code", .string)],
    relationships: [RelationshipDefinition("box", to: "Box", inverse: "parts", isOptional: false)],
    uniquenessConstraints: [["code"]])
}
