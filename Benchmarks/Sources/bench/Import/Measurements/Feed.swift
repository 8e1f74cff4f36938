import BenchSupport
import Foundation

/// A transit feed as one zip: four tables whose rows refer to each other, the largest found by two attributes; against
/// `sqlite3` by temporary tables, of files that are unpacked already.
struct Feed: Measurement {
  let name = "feed"
  let summary = "a transit feed (GTFS) as one zip, against sqlite3's temporary tables and joins; stop times"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    guard let zip = programInPath("zip") else {
      say("  zip isn't installed: left out.")
      return []
    }
    let stopTimes = try bench.load(.stopTimes)
    let members = try [
      ("stops", bench.load(.stops)), ("routes", bench.load(.routes)), ("trips", bench.load(.trips)),
      ("stop_times", stopTimes),
    ]
    let folder = bench.folder.appending(path: "results/load/feed-\(stopTimes.rows)")
    let archive = folder.appendingPathExtension("zip")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, load) in members {
      let file = folder.appending(path: name + ".txt")
      if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
      try FileManager.default.linkItem(at: load.file, to: file)
    }
    if FileManager.default.fileExists(atPath: archive.path) { try FileManager.default.removeItem(at: archive) }
    _ = try MeasuredProgram(
      zip.path, ["-q", "-j", archive.path] + members.map { folder.appending(path: $0.0 + ".txt").path }
    ).run()
    let side = Side(
      name: "ours", run: { try Ours(model: .feed, entity: "*", mode: "upsert").runFeed($0, from: archive) },
      contents: { try bench.sqlite3?.stopTimes(of: $0, trip: "ofTrip_id", stop: "atStop_id", route: "onRoute_id") })
    let standings = try bench.contest([side, bench.sqlite3?.feedSide(folder)])
    guard let ours = standings[0] else { return [] }
    return [
      ImportFigure("transit feed as one zip", rows: stopTimes.rows, ours, standings[1], peer: "sqlite3", atLeast: 2)
    ]
  }
}

extension SQLite3 {
  /// Imports the feed's files into temporary tables, and from them into tables that refer to each other by number.
  func feedSide(_ folder: URL) -> Side {
    let tables = [
      ("stops", "stop_id TEXT, stop_name TEXT, stop_lat REAL, stop_lon REAL"),
      ("routes", "route_id TEXT, route_short_name TEXT, route_type INTEGER"),
      ("trips", "trip_id TEXT, route_id TEXT, service_id TEXT"),
      ("stop_times", "trip_id TEXT, stop_sequence INTEGER, arrival_time TEXT, departure_time TEXT, stop_id TEXT"),
    ]
    return Side(
      name: name,
      run: { database in
        try run(
          database,
          [
            "PRAGMA journal_mode = WAL",
            "CREATE TABLE Stop (id INTEGER PRIMARY KEY, stop_id TEXT UNIQUE, stop_name TEXT, stop_lat REAL, stop_lon REAL)",
            "CREATE TABLE Route (id INTEGER PRIMARY KEY, route_id TEXT UNIQUE, route_short_name TEXT, route_type INTEGER)",
            "CREATE TABLE Trip (id INTEGER PRIMARY KEY, trip_id TEXT UNIQUE, service_id TEXT, route INTEGER)",
            "CREATE INDEX Trip_route ON Trip (route)",
            """
            CREATE TABLE StopTime (trip_id TEXT, stop_sequence INTEGER, arrival_time TEXT, departure_time TEXT, \
            trip INTEGER, stop INTEGER, UNIQUE (trip_id, stop_sequence))
            """,
            "CREATE INDEX StopTime_trip ON StopTime (trip)", "CREATE INDEX StopTime_stop ON StopTime (stop)",
          ]
            + tables.flatMap { table, columns in
              [
                "CREATE TEMP TABLE \(table) (\(columns))",
                ".import --csv --skip 1 --schema temp \"\(folder.path)/\(table).txt\" \(table)",
              ]
            } + [
              "BEGIN",
              """
              INSERT INTO Stop (stop_id, stop_name, stop_lat, stop_lon) SELECT * FROM stops WHERE true \
              ON CONFLICT (stop_id) DO UPDATE SET stop_name = excluded.stop_name
              """,
              """
              INSERT INTO Route (route_id, route_short_name, route_type) SELECT * FROM routes WHERE true \
              ON CONFLICT (route_id) DO UPDATE SET route_type = excluded.route_type
              """,
              """
              INSERT INTO Trip (trip_id, service_id, route) SELECT trip_id, service_id, Route.id FROM trips \
              LEFT JOIN Route USING (route_id) WHERE true ON CONFLICT (trip_id) DO UPDATE SET route = excluded.route
              """,
              """
              INSERT INTO StopTime SELECT trip_id, stop_sequence, arrival_time, departure_time, Trip.id, Stop.id \
              FROM stop_times LEFT JOIN Trip USING (trip_id) LEFT JOIN Stop USING (stop_id) WHERE true \
              ON CONFLICT (trip_id, stop_sequence) DO UPDATE SET arrival_time = excluded.arrival_time, \
              departure_time = excluded.departure_time, trip = excluded.trip, stop = excluded.stop
              """, "COMMIT",
            ])
      }, contents: { try stopTimes(of: $0, trip: "trip", stop: "stop", route: "route") })
  }

  /// Reads the stop times with what they refer to, and checks the file.
  func stopTimes(of database: URL, trip: String, stop: String, route: String) throws -> Contents {
    try contents(
      of: database,
      count: "SELECT count(*) FROM StopTime",
      """
      SELECT count(*), sum(stop_sequence), min(arrival_time), max(departure_time), count(DISTINCT Trip.trip_id), \
      sum(CAST(substr(Stop.stop_id, 2) AS INTEGER)), sum(Route.route_type) FROM StopTime \
      JOIN Trip ON Trip.id = StopTime.\(trip) JOIN Stop ON Stop.id = StopTime.\(stop) \
      JOIN Route ON Route.id = Trip.\(route)
      """)
  }
}
