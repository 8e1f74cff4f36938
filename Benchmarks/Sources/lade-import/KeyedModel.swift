import ManagedObjects

/// Entities whose objects are found by keys of several kinds.
enum KeyedModel {
  /// The same attributes under four names, each with another uniqueness constraint.
  static var readings: [EntityDefinition] {
    [("ByNumber", ["number"]), ("ByTwo", ["station", "at"]), ("ByDate", ["at"]), ("ByText", ["code"])].map {
      name, key in
      EntityDefinition(
        name,
        attributes: [
          AttributeDefinition("number", .integer64), AttributeDefinition("code", .string),
          AttributeDefinition("station", .string), AttributeDefinition("at", .date),
          AttributeDefinition("level", .double), AttributeDefinition("grade", .integer16),
          AttributeDefinition("note", .string),
        ], uniquenessConstraints: [key])
    }
  }

  /// Parents and their parts.
  static var parents: [EntityDefinition] {
    [
      EntityDefinition(
        "Parent", attributes: [AttributeDefinition("number", .integer64), AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("parts", to: "Part", inverse: "parent", isToMany: true)],
        uniquenessConstraints: [["number"]]),
      EntityDefinition(
        "Part", attributes: [AttributeDefinition("code", .string), AttributeDefinition("size", .integer32)],
        relationships: [RelationshipDefinition("parent", to: "Parent", inverse: "parts")],
        uniquenessConstraints: [["code"]]),
    ]
  }

  /// Four files of a transit feed.
  static var feed: [EntityDefinition] {
    [
      EntityDefinition(
        "Stop",
        attributes: [
          AttributeDefinition("stop_id", .string), AttributeDefinition("stop_name", .string),
          AttributeDefinition("stop_lat", .double), AttributeDefinition("stop_lon", .double),
        ],
        relationships: [RelationshipDefinition("times", to: "StopTime", inverse: "atStop", isToMany: true)],
        uniquenessConstraints: [["stop_id"]], userInfo: ["mappedFileName": "stops.txt"]),
      EntityDefinition(
        "Route",
        attributes: [
          AttributeDefinition("route_id", .string), AttributeDefinition("route_short_name", .string),
          AttributeDefinition("route_type", .integer16),
        ],
        relationships: [RelationshipDefinition("trips", to: "Trip", inverse: "onRoute", isToMany: true)],
        uniquenessConstraints: [["route_id"]], userInfo: ["mappedFileName": "routes.txt"]),
      EntityDefinition(
        "Trip",
        attributes: [AttributeDefinition("trip_id", .string), AttributeDefinition("service_id", .string)],
        relationships: [
          RelationshipDefinition(
            "onRoute", to: "Route", inverse: "trips",
            userInfo: ["mappedKeyName": "route_id", "relatedByAttribute": "route_id"]),
          RelationshipDefinition("times", to: "StopTime", inverse: "ofTrip", isToMany: true),
        ],
        uniquenessConstraints: [["trip_id"]], userInfo: ["mappedFileName": "trips.txt"]),
      EntityDefinition(
        "StopTime",
        attributes: [
          AttributeDefinition("trip_id", .string), AttributeDefinition("stop_sequence", .integer32),
          AttributeDefinition("arrival_time", .string), AttributeDefinition("departure_time", .string),
        ],
        relationships: [
          RelationshipDefinition(
            "ofTrip", to: "Trip", inverse: "times",
            userInfo: ["mappedKeyName": "trip_id", "relatedByAttribute": "trip_id"]),
          RelationshipDefinition(
            "atStop", to: "Stop", inverse: "times",
            userInfo: ["mappedKeyName": "stop_id", "relatedByAttribute": "stop_id"]),
        ],
        uniquenessConstraints: [["trip_id", "stop_sequence"]], userInfo: ["mappedFileName": "stop_times.txt"]),
    ]
  }
}
