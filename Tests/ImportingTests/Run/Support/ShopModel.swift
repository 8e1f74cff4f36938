import ManagedObjects

/// Products with makers, tags, chapters and parts: relationships of every kind.
enum ShopModel {
  static let entities = [maker, product, tag, chapter, place]

  private static let maker = EntityDefinition(
    "Maker",
    attributes: [
      AttributeDefinition("name", .string, isOptional: false, regularExpression: "[A-Za-z]+"),
      AttributeDefinition("since", .integer16),
    ],
    relationships: [
      RelationshipDefinition("products", to: "Product", inverse: "maker", isToMany: true),
      RelationshipDefinition("seat", to: "Place"),
    ],
    uniquenessConstraints: [["name"]])

  private static let product = EntityDefinition(
    "Product",
    attributes: [
      AttributeDefinition("sku", .string, isOptional: false), AttributeDefinition("title", .string),
      size, notes,
    ],
    relationships: [
      RelationshipDefinition("maker", to: "Maker", inverse: "products", isOptional: false),
      RelationshipDefinition("brand", to: "Maker"),
      RelationshipDefinition("tags", to: "Tag", inverse: "products", isToMany: true),
      RelationshipDefinition("parts", to: "Product", inverse: "wholes", isToMany: true),
      RelationshipDefinition("wholes", to: "Product", inverse: "parts", isToMany: true),
      RelationshipDefinition("chapters", to: "Chapter", inverse: "product", isToMany: true, isOrdered: true),
      RelationshipDefinition("stores", to: "Place", isToMany: true, isOrdered: true),
    ],
    uniquenessConstraints: [["sku"]])

  private static var size: AttributeDefinition {
    var size = AttributeDefinition("size", .composite)
    size.compositeElements = [
      AttributeDefinition("width", .integer16, maximumValue: .int(100)), AttributeDefinition("height", .integer16),
    ]
    return size
  }

  private static var notes: AttributeDefinition {
    var notes = AttributeDefinition("notes", .transformable)
    notes.attributeValueClassName = "[String]"
    return notes
  }

  private static let tag = EntityDefinition(
    "Tag",
    attributes: [AttributeDefinition("word", .string, isOptional: false), AttributeDefinition("rank", .integer16)],
    relationships: [RelationshipDefinition("products", to: "Product", inverse: "tags", isToMany: true)],
    uniquenessConstraints: [["word"]])

  private static let chapter = EntityDefinition(
    "Chapter",
    attributes: [
      AttributeDefinition("code", .string), AttributeDefinition("heading", .string, maximumValue: .int(10)),
    ],
    relationships: [RelationshipDefinition("product", to: "Product", inverse: "chapters")],
    uniquenessConstraints: [["code"]])

  /// Without a key.
  private static let place = EntityDefinition(
    "Place",
    attributes: [
      AttributeDefinition("street", .string, isOptional: false), AttributeDefinition("city", .string),
      AttributeDefinition("zip", .integer32, userInfo: ["mappedKeyName": "postcode"]),
    ],
    relationships: [RelationshipDefinition("country", to: "Country", userInfo: ["relatedByAttribute": "code"])])
}
