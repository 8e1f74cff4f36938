import Importing
import ManagedObjects

/// Items of every type of attribute, their makers, labels and shelves.
enum WarehouseModel {
  static let model: Result<ManagedObjectModel, any Error> = Result {
    try ImportModel.adding(
      to: ManagedObjectModel(entities: [item, book, maker, label, shelf, permit, trilogy, volume]))
  }

  private static let item = EntityDefinition(
    "Item",
    attributes: [
      AttributeDefinition("code", .string, isOptional: false, userInfo: ["mappedKeyName": "item_code"]),
      AttributeDefinition("small", .integer16, maximumValue: .int(1000)), AttributeDefinition("middle", .integer32),
      AttributeDefinition("large", .integer64), AttributeDefinition("price", .decimal),
      AttributeDefinition("ratio", .double), AttributeDefinition("part", .float), AttributeDefinition("text", .string),
      AttributeDefinition("flag", .boolean), AttributeDefinition("moment", .date),
      AttributeDefinition("stamp", .date, userInfo: ["dateFormat": "UnixTime"]),
      AttributeDefinition("due", .date, userInfo: ["dateFormat": "EEE, d. MMM yyyy"]),
      AttributeDefinition("blob", .binaryData), AttributeDefinition("key", .uuid), AttributeDefinition("link", .uri),
      tags, size,
    ],
    relationships: [
      RelationshipDefinition("maker", to: "Maker", inverse: "items", userInfo: ["mappedKeyName": "made_by"]),
      RelationshipDefinition("shelf", to: "Shelf", inverse: "items"),
      RelationshipDefinition(
        "labels", to: "Label", inverse: "items", isToMany: true, userInfo: ["mappedSeparator": "|"]),
      RelationshipDefinition("twin", to: "Item"), RelationshipDefinition("permit", to: "Permit", inverse: "item"),
    ],
    uniquenessConstraints: [["code"]])

  private static let book = EntityDefinition(
    "Book", parent: "Item", attributes: [AttributeDefinition("title", .string)])

  private static let maker = EntityDefinition(
    "Maker",
    attributes: [
      AttributeDefinition("name", .string, isOptional: false), AttributeDefinition("founded", .integer16),
    ],
    relationships: [
      RelationshipDefinition("items", to: "Item", inverse: "maker", isToMany: true, deleteRule: .cascade)
    ],
    uniquenessConstraints: [["name"]])

  private static let label = EntityDefinition(
    "Label", attributes: [AttributeDefinition("name", .string, isOptional: false)],
    relationships: [RelationshipDefinition("items", to: "Item", inverse: "labels", isToMany: true)],
    uniquenessConstraints: [["name"]])

  /// Can't go while something is on it.
  private static let shelf = EntityDefinition(
    "Shelf", attributes: [AttributeDefinition("number", .integer32, isOptional: false)],
    relationships: [
      RelationshipDefinition("items", to: "Item", inverse: "shelf", isToMany: true, maximumCount: 2, deleteRule: .deny)
    ],
    uniquenessConstraints: [["number"]])

  /// Of one item, and of a maker that it needs.
  private static let permit = EntityDefinition(
    "Permit", attributes: [AttributeDefinition("number", .integer32, isOptional: false)],
    relationships: [
      RelationshipDefinition("item", to: "Item", inverse: "permit"),
      RelationshipDefinition("owner", to: "Maker", isOptional: false),
    ],
    uniquenessConstraints: [["number"]])

  /// With its volumes in an order that isn't theirs by number.
  private static let trilogy = EntityDefinition(
    "Trilogy", attributes: [AttributeDefinition("name", .string, isOptional: false)],
    relationships: [
      RelationshipDefinition("volumes", to: "Volume", inverse: "trilogy", isToMany: true, isOrdered: true)
    ],
    uniquenessConstraints: [["name"]])

  private static let volume = EntityDefinition(
    "Volume", attributes: [AttributeDefinition("number", .integer32, isOptional: false)],
    relationships: [RelationshipDefinition("trilogy", to: "Trilogy", inverse: "volumes")],
    uniquenessConstraints: [["number"]])

  private static let tags: AttributeDefinition = {
    var tags = AttributeDefinition("tags", .transformable)
    tags.attributeValueClassName = "[String]"
    return tags
  }()

  private static let size: AttributeDefinition = {
    var size = AttributeDefinition("size", .composite)
    size.compositeName = "Size"
    size.compositeElements = [AttributeDefinition("width", .integer32), AttributeDefinition("unit", .string)]
    return size
  }()
}
