/// GTFS, the form in which transit agencies publish their timetables (gtfs.org/schedule/reference).
enum Transit {
  static let model = ModelText(
    ModelText.entity(
      "Agency", unique: ["agencyID"],
      [
        .attribute("agencyID", column: "agency_id"), .attribute("name", column: "agency_name"),
        .attribute("url", "URI", optional: true, column: "agency_url"),
        .attribute("timezone", column: "agency_timezone"), .toMany("routes", "Route", inverse: "agency"),
      ]),
    ModelText.entity(
      "Route", unique: ["routeID"],
      [
        .attribute("routeID", column: "route_id"), .attribute("longName", optional: true, column: "route_long_name"),
        .attribute("type", "Integer 16", column: "route_type"),
        .attribute("color", optional: true, column: "route_color"),
        .toOne("agency", "Agency", inverse: "routes", column: "agency_id", by: "agencyID"),
        .toMany("trips", "Trip", inverse: "route"), .toMany("fareRules", "FareRule", inverse: "route"),
      ]),
    ModelText.entity(
      "Calendar", unique: ["serviceID"],
      [.attribute("serviceID", column: "service_id")]
        + ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].map {
          .attribute($0, "Boolean")
        }
        + [
          .attribute("startDate", "Date", column: "start_date", dateFormat: "yyyyMMdd"),
          .attribute("endDate", "Date", column: "end_date", dateFormat: "yyyyMMdd"),
          .toMany("trips", "Trip", inverse: "service"), .toMany("exceptions", "CalendarDate", inverse: "service"),
        ]),
    ModelText.entity(
      "CalendarDate", unique: ["serviceID", "date"],
      [
        .attribute("serviceID", column: "service_id"), .attribute("date", "Date", dateFormat: "yyyyMMdd"),
        .attribute("exceptionType", "Integer 16", column: "exception_type"),
        .toOne("service", "Calendar", inverse: "exceptions", column: "service_id", by: "serviceID"),
      ]),
    ModelText.entity(
      "Stop", unique: ["stopID"],
      [
        .attribute("stopID", column: "stop_id"), .attribute("name", column: "stop_name"),
        .attribute("latitude", "Double", column: "stop_lat"), .attribute("longitude", "Double", column: "stop_lon"),
        .toOne("parent", "Stop", inverse: "platforms", column: "parent_station", by: "stopID"),
        .toMany("platforms", "Stop", inverse: "parent"), .toMany("stopTimes", "StopTime", inverse: "stop"),
      ]),
    ModelText.entity(
      "Trip", unique: ["tripID"],
      [
        .attribute("tripID", column: "trip_id"), .attribute("headsign", optional: true, column: "trip_headsign"),
        .attribute("direction", "Integer 16", optional: true, column: "direction_id"),
        .toOne("route", "Route", inverse: "trips", column: "route_id", by: "routeID"),
        .toOne("service", "Calendar", inverse: "trips", column: "service_id", by: "serviceID"),
        .toMany("stopTimes", "StopTime", inverse: "trip"),
      ]),
    ModelText.entity(
      "StopTime", unique: ["tripID", "sequence"],
      [
        .attribute("tripID", column: "trip_id"), .attribute("sequence", "Integer 32", column: "stop_sequence"),
        .attribute("arrival", optional: true, column: "arrival_time"),
        .attribute("departure", optional: true, column: "departure_time"),
        .toOne("trip", "Trip", inverse: "stopTimes", column: "trip_id", by: "tripID"),
        .toOne("stop", "Stop", inverse: "stopTimes", column: "stop_id", by: "stopID"),
      ]),
    ModelText.entity(
      "FareAttribute", unique: ["fareID"],
      [
        .attribute("fareID", column: "fare_id"), .attribute("price", "Decimal"),
        .attribute("currency", column: "currency_type"), .toMany("rules", "FareRule", inverse: "fare"),
      ]),
    ModelText.entity(
      "FareRule", unique: ["fareID", "routeID", "origin", "destination"],
      [
        .attribute("fareID", column: "fare_id"), .attribute("routeID", column: "route_id"),
        .attribute("origin", column: "origin_id"), .attribute("destination", column: "destination_id"),
        .toOne("fare", "FareAttribute", inverse: "rules", column: "fare_id", by: "fareID"),
        .toOne("route", "Route", inverse: "fareRules", column: "route_id", by: "routeID"),
      ]),
    ModelText.entity(
      "ShapePoint", unique: ["shapeID", "sequence"],
      [
        .attribute("shapeID", column: "shape_id"), .attribute("sequence", "Integer 32", column: "shape_pt_sequence"),
        .attribute("latitude", "Double", column: "shape_pt_lat"),
        .attribute("longitude", "Double", column: "shape_pt_lon"),
        .raw("<userInfo><entry key=\"mappedFileName\" value=\"shapes.txt\"/></userInfo>"),
      ]))

  /// The files, which are the names of the recipes too, and what their rows become: whatever is pointed at comes first.
  static let files = [
    ("agency", "Agency"), ("routes", "Route"), ("calendar", "Calendar"), ("calendar_dates", "CalendarDate"),
    ("stops", "Stop"), ("trips", "Trip"), ("stop_times", "StopTime"), ("fare_attributes", "FareAttribute"),
    ("fare_rules", "FareRule"), ("shapes", "ShapePoint"),
  ]

  static let recipes = files.map { "  \($0.0): { store: main, entity: \($0.1), batch_size: 500 }" }
    .joined(separator: "\n")

  /// One recipe for all of them in an archive.
  static let wholeRecipe = "  feed: { store: main, entity: \"*\", batch_size: 500 }"

  /// A feed of one line between two stations, with what others leave out: an agency for its route, a time after midnight,
  /// a quoted name with a comma in it.
  static let small: [String: String] = [
    "agency": """
    agency_id,agency_name,agency_url,agency_timezone
    HB,"Harbour, Boats & Sons",https://boats.example.org,Europe/London
    """,
    "routes": """
    route_id,agency_id,route_short_name,route_long_name,route_type,route_color
    F1,HB,F1,Quay to Island,4,0055AA
    F2,HB,F2,Night boat,4,
    """,
    "calendar": """
    service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
    week,1,1,1,1,1,0,0,20260301,20261231
    night,0,0,0,0,1,1,0,20260301,20261231
    """,
    "calendar_dates": """
    service_id,date,exception_type
    week,20261225,2
    night,20261225,2
    """,
    "stops": """
    stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
    Q1,"Quay, berth 1",55.95,-3.18,0,Q
    Q2,"Quay, berth 2",55.95,-3.18,0,Q
    I1,Island,55.99,-3.10,0,I
    Q,Quay,55.95,-3.18,1,
    I,Island,55.99,-3.10,1,
    """,
    "trips": """
    route_id,service_id,trip_id,trip_headsign,direction_id
    F1,week,F1-1,Island,0
    F1,week,F1-2,Quay,1
    F2,night,F2-1,Island,0
    """,
    "stop_times": """
    trip_id,arrival_time,departure_time,stop_id,stop_sequence
    F1-1,8:00:00,8:05:00,Q1,1
    F1-1,8:30:00,8:30:00,I1,2
    F1-2,9:00:00,9:00:00,I1,1
    F1-2,9:25:00,9:25:00,Q2,2
    F2-1,24:10:00,24:15:00,Q1,10
    F2-1,24:40:00,24:40:00,I1,20
    """,
    "fare_attributes": """
    fare_id,price,currency_type,payment_method,transfers
    single,4.50,GBP,0,0
    """,
    "fare_rules": """
    fare_id,route_id,origin_id,destination_id
    single,F1,q,i
    single,F2,q,i
    """,
    "shapes": """
    shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence
    "sea","55.95","-3.18",1
    "sea","55.97","-3.14",2
    """,
  ].mapValues { $0 + "\n" }
}
