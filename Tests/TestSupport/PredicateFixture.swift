package import Foundation
package import ManagedObjects

/// The model and the rows that every evaluator of predicates is tested with.
package enum PredicateFixture {
  /// One object: its ID, and its values by name; what isn't named is nil. Many-to-many relationships stand on the side of
  /// ``pairs`` alone.
  package struct Row: Sendable {
    package let id: ManagedObjectID
    package let values: [String: Value]
    package var entity: EntityDescription { id.entity }

    package init(id: ManagedObjectID, values: [String: Value]) {
      self.id = id
      self.values = values
    }
  }

  package static let storeIdentifier = "0B5B6A0E-8C9B-4E0F-9B0B-3C6F6E6E6E6E"

  package static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: definitions)
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  private static let seat: AttributeDefinition = {
    var position = AttributeDefinition("position", .composite)
    position.compositeElements = [AttributeDefinition("latitude", .double), AttributeDefinition("longitude", .double)]
    var seat = AttributeDefinition("seat", .composite)
    seat.compositeElements = [AttributeDefinition("street", .string), position]
    return seat
  }()

  private static let definitions: [EntityDefinition] = [
    EntityDefinition(
      "Country",
      attributes: [
        AttributeDefinition("code", .string, isOptional: false), AttributeDefinition("name", .string),
        AttributeDefinition("population", .integer64), AttributeDefinition("founded", .date), seat,
      ],
      relationships: [
        RelationshipDefinition("cities", to: "City", inverse: "country", isToMany: true),
        RelationshipDefinition("capital", to: "City"),
        RelationshipDefinition("route", to: "City", isToMany: true, isOrdered: true),
      ],
      uniquenessConstraints: [["code"]]),
    EntityDefinition(
      "Station",
      attributes: [
        AttributeDefinition("number", .integer64, isOptional: false), AttributeDefinition("label", .string),
      ],
      userInfo: ["primaryKey": "number"]),
    EntityDefinition(
      "City",
      attributes: [
        AttributeDefinition("name", .string), AttributeDefinition("note", .string),
        AttributeDefinition("population", .integer32), AttributeDefinition("area", .double),
        AttributeDefinition("rate", .float), AttributeDefinition("price", .decimal),
        AttributeDefinition("isCapital", .boolean), AttributeDefinition("founded", .date),
        AttributeDefinition("visited", .date, userInfo: ["dateStorage": "unix"]), AttributeDefinition("uid", .uuid),
        AttributeDefinition("site", .uri), AttributeDefinition("flag", .binaryData), AttributeDefinition("in", .string),
        AttributeDefinition("mood", .string, isTransient: true),
      ],
      relationships: [
        RelationshipDefinition("country", to: "Country", inverse: "cities"),
        RelationshipDefinition("twin", to: "City"), RelationshipDefinition("station", to: "Station"),
        RelationshipDefinition("tags", to: "Tag", inverse: "cities", isToMany: true),
      ],
      indexes: [FetchIndexDefinition("byName", elements: [.init(property: "name")])]),
    EntityDefinition(
      "Tag",
      attributes: [
        AttributeDefinition("label", .string), AttributeDefinition("weight", .integer64),
        AttributeDefinition("cost", .decimal), AttributeDefinition("since", .date),
      ],
      relationships: [
        RelationshipDefinition("cities", to: "City", inverse: "tags", isToMany: true),
        RelationshipDefinition("favourites", to: "City", isToMany: true),
      ]),
    EntityDefinition("Vehicle", isAbstract: true, attributes: [AttributeDefinition("plate", .string)]),
    EntityDefinition(
      "Car", parent: "Vehicle", attributes: [AttributeDefinition("seats", .integer16)],
      relationships: [RelationshipDefinition("home", to: "City")]),
    EntityDefinition("Taxi", parent: "Car", attributes: [AttributeDefinition("sign", .string)]),
    EntityDefinition("Truck", parent: "Vehicle", attributes: [AttributeDefinition("load", .double)]),
  ]

  package static func entity(_ name: String) -> EntityDescription {
    guard let entity = model.entitiesByName[name] else { preconditionFailure("the test's model has no \(name)") }
    return entity
  }

  private static let scopes = Dictionary(
    uniqueKeysWithValues: model.entities.map { ($0.name, IDScope.of($0, in: storeIdentifier)) })

  package static func id(_ entity: String, _ number: Int64) -> ManagedObjectID {
    guard let scope = scopes[entity] else { preconditionFailure("the test's model has no \(entity)") }
    return ManagedObjectID(scope: scope, number: number)
  }

  package static func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }
  package static func date(_ text: String) -> Date { ISODate.date(parsing: text) ?? .distantPast }
  /// The UUID whose last byte is `last`.
  package static func uuid(_ last: UInt8) -> UUID {
    UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, last))
  }

  private static func row(_ entity: String, _ number: Int64, _ values: [String: Value?]) -> Row {
    Row(id: id(entity, number), values: values.compactMapValues { $0 })
  }

  private static func country(_ number: Int64) -> Value { .object(id("Country", number)) }
  private static func price(_ text: String) -> Value { .decimal(decimal(text)) }
  private static func on(_ text: String) -> Value { .date(date(text)) }

  package static let rows: [Row] = [
    row(
      "Country", 1,
      [
        "code": .string("CH"), "name": .string("Schweiz"), "capital": .object(id("City", 1)),
        "seat.street": .string("Bundesplatz"),
      ]),
    row(
      "Country", 2,
      [
        "code": .string("DE"), "name": .string("Deutschland"), "population": .int(83_000_000),
        "founded": on("1949-05-23"), "capital": .object(id("City", 12)), "seat.position.latitude": .double(52.5),
      ]),
    row("Country", 3, ["code": .string("FR"), "population": .int(68_000_000)]),
    row("Country", 4, ["code": .string("IT")]),

    row(
      "Tag", 1,
      ["label": .string("river"), "weight": .int(5), "cost": price("0.1"), "since": on("2020-01-01")]),
    row(
      "Tag", 2,
      [
        "label": .string("Capital"), "weight": .int(10), "cost": price("7.1234567890123456789"),
        "since": on("2021-06-01 12:00:00.25"),
      ]),
    row("Tag", 3, [:]),
    row("Tag", 4, ["label": .string("unused"), "weight": .int(-3), "cost": price("2")]),
    row("Tag", 5, ["label": .string("river"), "weight": .int(7)]),

    row("Station", 10, ["number": .int(10), "label": .string("Bahnhof")]),
    row("Station", 20, ["number": .int(20)]),

    row(
      "City", 1,
      [
        "name": .string("Bern"), "note": .string("Capital of CH"), "population": .int(134_000), "area": .double(51.6),
        "rate": .double(Double(Float(0.1))), "price": price("10.10"), "isCapital": .bool(true),
        "founded": on("1191-01-01"), "visited": on("2024-05-31 14:30:00"), "uid": .uuid(uuid(1)),
        "site": .uri(url("https://bern.ch/a")), "flag": .data(Data([1, 2, 3])), "country": country(1),
        "station": .object(id("Station", 10)), "in": .string("Bern"),
      ]),
    row(
      "City", 2,
      [
        "name": .string("Z\u{FC}rich"), "population": .int(434_000), "area": .double(87.88), "price": price("5"),
        "isCapital": .bool(false), "founded": on("1218-06-15 08:00:00.5"), "visited": on("2024-05-31 14:30:00.25"),
        "uid": .uuid(uuid(2)), "country": country(1), "twin": .object(id("City", 3)),
        "station": .object(id("Station", 20)),
      ]),
    row(
      "City", 3,
      [
        "name": .string("Zu\u{308}rich"), "population": .int(1), "price": price("7.1234567890123456789"),
        "twin": .object(id("City", 1)),
      ]),
    row(
      "City", 4,
      [
        "name": .string("bern"), "note": .string("capital"), "price": price("-3.1234567890123456789"),
        "country": country(2),
      ]),
    row(
      "City", 5,
      [
        "name": .string(""), "note": .string("100%"), "population": .int(0), "area": .double(0), "price": price("0"),
        "isCapital": .bool(false), "country": country(3),
      ]),
    row("City", 6, [:]),
    row(
      "City", 7,
      [
        "name": .string("Stra\u{DF}e"), "note": .string("a*b?c\\d"), "population": .int(-5),
        "price": price("100000000000000000000"), "country": country(2), "flag": .data(Data()),
      ]),
    row(
      "City", 8,
      ["name": .string("\u{C9}COLE"), "note": .string("line\nbreak"), "area": .double(0.1), "price": price("0.1")]),
    row(
      "City", 9,
      [
        "name": .string("\u{E9}cole"), "note": .string("O'Neil \"q\""), "area": .double(0.1 + 0.2),
        "price": price("0.30000000000000004"), "twin": .object(id("City", 8)),
      ]),
    row(
      "City", 10,
      [
        "name": .string("\u{6771}\u{4EAC}"), "note": .string("\u{6771}\u{4EAC}\u{30BF}\u{30EF}\u{30FC}"),
        "population": .int(13_960_000), "area": .double(9_007_199_254_740_992), "price": price("9007199254740993"),
        "isCapital": .bool(true), "uid": .uuid(uuid(0xFF)), "visited": on("1969-12-31 23:59:59.75"),
      ]),
    row(
      "City", 11,
      [
        "name": .string("Bernau"), "note": .string("[abc]"), "founded": on("1969-12-31 23:59:59.999999"),
        "country": country(2), "area": .double(.nan),
      ]),
    row(
      "City", 12,
      [
        "name": .string("Berlin"), "note": .string("\u{1F680} launch"), "population": .int(3_645_000),
        "area": .double(.infinity), "isCapital": .bool(true), "founded": on("2024-05-31 12:00:00"),
        "visited": on("2024-05-31 12:00:00"), "country": country(2),
      ]),

    row("Car", 1, ["plate": .string("BE 1"), "seats": .int(4), "home": .object(id("City", 1))]),
    row(
      "Taxi", 2, ["plate": .string("ZH 2"), "seats": .int(5), "sign": .string("free"), "home": .object(id("City", 2))]),
    row("Truck", 3, ["plate": .string("B 3"), "load": .double(7.5)]),
    row("Taxi", 4, ["seats": .int(7)]),
  ]

  /// The objects of many-to-many relationships: tags by city, favourites, which have no inverse, by tag, and routes, which
  /// have an order, by country.
  package static let pairs: [(entity: String, relationship: String, from: Int64, to: [Int64])] = [
    ("City", "tags", 1, [1, 2]), ("City", "tags", 2, [1, 3]), ("City", "tags", 7, [5]), ("City", "tags", 10, [2]),
    ("Country", "route", 1, [2, 1, 3]), ("Country", "route", 2, [12]), ("Country", "route", 3, [6, 5]),
    ("City", "tags", 12, [1, 2]), ("Tag", "favourites", 1, [2, 3]), ("Tag", "favourites", 5, [2, 12]),
  ]

  /// The objects that a to-many relationship of an object holds.
  package static func related(to id: ManagedObjectID, _ relationship: RelationshipDescription) -> [ManagedObjectID] {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      return rows.filter { $0.values[inverse.name] == .object(id) }.map(\.id)
    }
    return pairs.flatMap { pair -> [ManagedObjectID] in
      if pair.relationship == relationship.name, self.id(pair.entity, pair.from) == id {
        return pair.to.map { self.id(relationship.destinationEntity.name, $0) }
      }
      guard let inverse = relationship.inverseRelationship, pair.relationship == inverse.name else { return [] }
      return pair.to.contains(id.number) ? [self.id(pair.entity, pair.from)] : []
    }
  }

  private static func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: text) }

  /// The rows of `entity` and of those that inherit from it.
  package static func rows(of entity: EntityDescription) -> [Row] { rows.filter { $0.entity.isKindOf(entity) } }
}
