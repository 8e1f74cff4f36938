/// The keys of the files of GTFS, by which transit agencies publish their timetables. They are tried before others, and
/// taken only if the values are unique.
///
/// Source: gtfs.org, "GTFS Schedule Reference", the primary key of each file.
enum KnownKeys {
  /// The keys for a file with this name; the first whose columns all exist is tried.
  static func of(base: String) -> [[String]] { gtfs[base.lowercased()] ?? [] }

  private static let gtfs: [String: [[String]]] = [
    "agency": [["agency_id"]], "stops": [["stop_id"]], "routes": [["route_id"]], "trips": [["trip_id"]],
    "stop_times": [["trip_id", "stop_sequence"]], "calendar": [["service_id"]],
    "calendar_dates": [["service_id", "date"]], "fare_attributes": [["fare_id"]],
    "fare_rules": [
      ["fare_id", "route_id", "origin_id", "destination_id", "contains_id"],
      ["fare_id", "route_id", "origin_id", "destination_id"], ["fare_id", "route_id"],
    ],
    "shapes": [["shape_id", "shape_pt_sequence"]], "frequencies": [["trip_id", "start_time"]],
    "transfers": [
      ["from_stop_id", "to_stop_id", "from_route_id", "to_route_id", "from_trip_id", "to_trip_id"],
      ["from_stop_id", "to_stop_id"],
    ],
    "pathways": [["pathway_id"]], "levels": [["level_id"]], "attributions": [["attribution_id"]],
    "translations": [["table_name", "field_name", "language", "record_id"]], "areas": [["area_id"]],
    "stop_areas": [["area_id", "stop_id"]], "networks": [["network_id"]], "route_networks": [["route_id"]],
    "fare_media": [["fare_media_id"]], "fare_products": [["fare_product_id", "fare_media_id"], ["fare_product_id"]],
    "timeframes": [["timeframe_group_id", "start_time", "end_time", "service_id"]],
    "booking_rules": [["booking_rule_id"]], "location_groups": [["location_group_id"]],
    "location_group_stops": [["location_group_id", "stop_id"]],
  ]
}
