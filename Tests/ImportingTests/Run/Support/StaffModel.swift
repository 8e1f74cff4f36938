import Importing
import ManagedObjects

/// The model of the import tests: people with a boss and a country, seats with a compound key, and a few oddities.
enum StaffModel {
  static let model: Result<ManagedObjectModel, any Error> = Result {
    try ImportModel.adding(
      to: ManagedObjectModel(
        entities: [
          country, person, seat, booking, reading, device, badge, visit, node, shoe, everything, gauge, tick, mark,
        ]
          + [abstract]
          + ShopModel.entities
          + StoreroomModel.entities + ClubModel.entities))
  }

  private static let country = EntityDefinition(
    "Country",
    attributes: [AttributeDefinition("code", .string, isOptional: false), AttributeDefinition("name", .string)],
    relationships: [
      RelationshipDefinition("people", to: "Person", inverse: "country", isToMany: true),
      RelationshipDefinition("gauges", to: "Gauge", inverse: "site", isToMany: true),
      RelationshipDefinition("regions", to: "Country", inverse: "parent", isToMany: true),
      // A key of two columns: "DE" and "BY" say DE-BY.
      RelationshipDefinition(
        "parent", to: "Country", inverse: "regions", userInfo: ["mappedKeyTemplate": "{land}-{part}"]),
    ],
    uniquenessConstraints: [["code"]])

  private static let person = EntityDefinition(
    "Person",
    attributes: [
      AttributeDefinition("code", .string),
      AttributeDefinition("name", .string, isOptional: false),
      AttributeDefinition("email", .string),
      AttributeDefinition("age", .integer16, minimumValue: .int(0), maximumValue: .int(150)),
      AttributeDefinition(
        "nick", .string, minimumValue: .int(2), maximumValue: .int(6), regularExpression: "[a-z]+"),
      AttributeDefinition(
        "born", .date, userInfo: ["mappedKeyName": "birthday", "dateFormat": "dd.MM.yyyy"]),
      AttributeDefinition("grade", .integer32, isOptional: false, defaultValue: .int(7)),
    ],
    relationships: [
      RelationshipDefinition(
        "country", to: "Country", inverse: "people",
        userInfo: ["mappedKeyName": "country_code", "relatedByAttribute": "code"]),
      RelationshipDefinition("boss", to: "Person", inverse: "staff", userInfo: ["relatedByAttribute": "code"]),
      RelationshipDefinition("staff", to: "Person", inverse: "boss", isToMany: true),
    ],
    uniquenessConstraints: [["code"], ["email"]])

  private static let seat = EntityDefinition(
    "Seat",
    attributes: [
      AttributeDefinition("row", .integer32), AttributeDefinition("number", .integer32),
      AttributeDefinition("price", .decimal),
    ],
    uniquenessConstraints: [["row", "number"]])

  /// What refers to objects by two of their attributes.
  private static let booking = EntityDefinition(
    "Booking",
    attributes: [
      AttributeDefinition("code", .string), AttributeDefinition("part", .integer32),
      AttributeDefinition("text", .string),
    ],
    relationships: [
      RelationshipDefinition("seat", to: "Seat"), RelationshipDefinition("reading", to: "Reading"),
      RelationshipDefinition("before", to: "Booking"), RelationshipDefinition("seats", to: "Seat", isToMany: true),
    ],
    uniquenessConstraints: [["code", "part"]])

  /// Found by a text and an instant.
  private static let reading = EntityDefinition(
    "Reading",
    attributes: [
      AttributeDefinition("station", .string), AttributeDefinition("at", .date),
      AttributeDefinition("level", .double), AttributeDefinition("grade", .integer16, defaultValue: .int(3)),
    ],
    relationships: [RelationshipDefinition("site", to: "Country", userInfo: ["relatedByAttribute": "code"])],
    uniquenessConstraints: [["station", "at"]])

  /// Found by a UUID.
  private static let device = EntityDefinition(
    "Device",
    attributes: [AttributeDefinition("serial", .uuid, isOptional: false), AttributeDefinition("note", .string)],
    uniquenessConstraints: [["serial"]])

  /// Found by an instant.
  private static let tick = EntityDefinition(
    "Tick", attributes: [AttributeDefinition("at", .date), AttributeDefinition("level", .double)],
    uniquenessConstraints: [["at"]])

  /// Found by a whole number that isn't the row's.
  private static let mark = EntityDefinition(
    "Mark", attributes: [AttributeDefinition("code", .integer64), AttributeDefinition("note", .string)],
    uniquenessConstraints: [["code"]])

  /// Numbered by its own attribute, and with an owner that it must have.
  private static let badge = EntityDefinition(
    "Badge",
    attributes: [
      AttributeDefinition("id", .integer64, isOptional: false), AttributeDefinition("text", .string),
    ],
    relationships: [
      RelationshipDefinition("owner", to: "Person", isOptional: false, userInfo: ["relatedByAttribute": "code"]),
      RelationshipDefinition("next", to: "Badge", userInfo: ["relatedByAttribute": "id"]),
      RelationshipDefinition("origin", to: "Badge", userInfo: ["relatedByAttribute": "id"]),
    ],
    userInfo: ["primaryKey": "id"])

  /// Without a key, found by the day it was on.
  private static let visit = EntityDefinition(
    "Visit",
    attributes: [
      AttributeDefinition("day", .date, userInfo: ["dateFormat": "yyyyMMdd"]), AttributeDefinition("note", .string),
    ],
    relationships: [RelationshipDefinition("previous", to: "Visit", userInfo: ["relatedByAttribute": "day"])])

  /// Of a tree whose root is its own root.
  private static let node = EntityDefinition(
    "Node", attributes: [AttributeDefinition("id", .integer32), AttributeDefinition("alias", .string)],
    relationships: [
      RelationshipDefinition("root", to: "Node", isOptional: false, userInfo: ["relatedByAttribute": "id"]),
      RelationshipDefinition("buddy", to: "Node", userInfo: ["relatedByAttribute": "alias"]),
      RelationshipDefinition(
        "twin", to: "Node", userInfo: ["relatedByAttribute": "alias", "mappedKeyTemplate": "{a}-{b}"]),
    ],
    uniquenessConstraints: [["id"]])

  private static let shoe = EntityDefinition(
    "Shoe",
    attributes: [
      AttributeDefinition("id", .integer32), AttributeDefinition("size", .integer16, maximumValue: .int(50)),
    ],
    relationships: [
      RelationshipDefinition("left", to: "Shoe", inverse: "right"),
      RelationshipDefinition("right", to: "Shoe", inverse: "left"),
    ],
    uniquenessConstraints: [["id"]])

  private static let everything = EntityDefinition(
    "Everything",
    attributes: [
      AttributeDefinition("key", .uuid),
      AttributeDefinition("small", .integer16), AttributeDefinition("large", .integer64),
      AttributeDefinition("exact", .decimal), AttributeDefinition("double", .double),
      AttributeDefinition("float", .float), AttributeDefinition("flag", .boolean),
      AttributeDefinition("day", .date), AttributeDefinition("unix", .date, userInfo: ["dateFormat": "UnixTime"]),
      AttributeDefinition("data", .binaryData), AttributeDefinition("link", .uri),
      AttributeDefinition("text", .string), tags,
    ],
    uniquenessConstraints: [["key"]])

  /// Numbered by its own attribute, and referring to objects of another kind.
  private static let gauge = EntityDefinition(
    "Gauge",
    attributes: [
      AttributeDefinition("id", .integer64, isOptional: false),
      AttributeDefinition("label", .string, minimumValue: .int(2)),
      AttributeDefinition("level", .double), AttributeDefinition("isOn", .boolean), AttributeDefinition("at", .date),
      AttributeDefinition("cost", .decimal), AttributeDefinition("size", .integer16, maximumValue: .int(50)),
      AttributeDefinition("grade", .integer32, isOptional: false, defaultValue: .int(7)),
    ],
    relationships: [RelationshipDefinition("site", to: "Country", inverse: "gauges")],
    userInfo: ["primaryKey": "id"])

  /// An array of strings.
  private static let tags: AttributeDefinition = {
    var tags = AttributeDefinition("tags", .transformable)
    tags.attributeValueClassName = "[String]"
    return tags
  }()

  private static let abstract = EntityDefinition(
    "Thing", isAbstract: true, attributes: [AttributeDefinition("name", .string)])
}
