import Foundation
import GRDB
import ManagedObjects
import Testing

@testable import Importing

@Suite("The model of a transit feed")
struct FeedInferenceTests {
  /// The real feed, in a folder `shared` beside the project or above it.
  private static let realFeed = sequence(first: URL(fileURLWithPath: #filePath)) { $0.deletingLastPathComponent() }
    .prefix { $0.path != "/" }.map { $0.appendingPathComponent("shared/data/gtfs/caltrain2016.zip") }
    .first { FileManager.default.fileExists(atPath: $0.path) }

  /// A feed of one line between two stations.
  private static let small: [(String, String)] = [
    ("agency.txt", "agency_id,agency_name,agency_url\nHB,\"Harbour, Boats & Sons\",https://boats.example.org\n"),
    (
      "routes.txt",
      "route_id,agency_id,route_short_name,route_type,route_color\nF1,HB,F1,4,0055AA\nF2,HB,F2,4,\n"
    ),
    (
      "calendar.txt",
      "service_id,monday,sunday,start_date,end_date\nweek,1,0,20260301,20261231\nnight,0,1,20260301,20261231\n"
    ),
    ("calendar_dates.txt", "service_id,date,exception_type\nweek,20261225,2\nnight,20261225,2\n"),
    (
      "stops.txt",
      "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\nQ1,\"Quay, berth 1\",55.95,-3.18,0,Q\n"
        + "Q2,\"Quay, berth 2\",55.9512,-3.18,0,Q\nI1,Island,55.99,-3.101,0,I\nQ,Quay,55.95,-3.18,1,\nI,Island,55.99,-3.10,1,\n"
    ),
    (
      "trips.txt",
      "route_id,service_id,trip_id,trip_headsign,direction_id\nF1,week,F1-1,Island,0\nF1,week,F1-2,Quay,1\n"
        + "F2,night,F2-1,Island,0\n"
    ),
    (
      "stop_times.txt",
      "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nF1-1,8:00:00,8:05:00,Q1,1\nF1-1,8:30:00,8:30:00,I1,2\n"
        + "F1-2,9:00:00,9:00:00,I1,1\nF1-2,9:25:00,9:25:00,Q2,2\nF2-1,24:10:00,24:15:00,Q1,10\nF2-1,24:40:00,24:40:00,I1,20\n"
    ),
    ("fare_attributes.txt", "fare_id,price,currency_type\nsingle,4.50,GBP\n"),
    ("fare_rules.txt", "fare_id,route_id,origin_id,destination_id\nsingle,F1,q,i\nsingle,F2,q,i\n"),
    ("shapes.txt", "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\nsea,55.95,-3.18,1\nsea,55.97,-3.14,2\n"),
    ("LICENCE", "free\n"),
  ]

  private static let references = [
    "CalendarDate.service -> Calendar.service_id", "FareRule.fare -> FareAttribute.fare_id",
    "FareRule.route -> Route.route_id", "Stop.parent_station -> Stop.stop_id", "StopTime.stop -> Stop.stop_id",
    "StopTime.trip -> Trip.trip_id", "Trip.route -> Route.route_id", "Trip.service -> Calendar.service_id",
  ]
  private static let keys = [
    "Agency": ["agency_id"], "Calendar": ["service_id"], "CalendarDate": ["service_id", "date"],
    "FareAttribute": ["fare_id"], "FareRule": ["fare_id", "route_id", "origin_id", "destination_id"],
    "Route": ["route_id"], "Shape": ["shape_id", "shape_pt_sequence"], "Stop": ["stop_id"],
    "StopTime": ["trip_id", "stop_sequence"], "Trip": ["trip_id"],
  ]

  @Test("of a few lines has its keys and references, and imports the feed twice, the second time without a change")
  func small() throws {
    let room = try InferenceRoom()
    for (name, text) in Self.small { try room.write(text, as: "feed/" + name) }
    let folder = room.file("feed").path
    let model = try ModelInference().run([folder])
    #expect(model.keys == Self.keys)
    #expect(model.references == (Self.references + ["Route.agency -> Agency.agency_id"]).sorted())
    #expect(model.notes.contains { $0.contains("LICENCE was skipped") })
    #expect(model.entity("StopTime")?.columns.first { $0.name == "arrival_time" }?.type == "String")
    try check(model, source: folder, isArchive: false, room)
  }

  @Test("joined by SQL, gives the right rows by the columns that hold row numbers, and none by the names of keys")
  func joins() throws {
    let room = try InferenceRoom()
    for (name, text) in Self.small { try room.write(text, as: "feed/" + name) }
    let folder = room.file("feed").path
    let model = try ModelInference().run([folder])
    let coordinator = try room.store(model)
    _ = try room.importAll(model, from: folder, isArchive: false, into: coordinator)
    try coordinator.close()
    let database = try DatabaseQueue(path: room.file("store.sqlite").path)
    func rows(_ sql: String) throws -> [String] { try database.read { try String.fetchAll($0, sql: sql) } }
    #expect(
      try rows("SELECT trip_id || ' ' || Route.route_id FROM Trip JOIN Route ON Route.id = Trip.route_row ORDER BY 1")
        == ["F1-1 F1", "F1-2 F1", "F2-1 F2"])
    #expect(
      try rows(
        """
        SELECT Stop.stop_id || ' ' || StopTime.stop_sequence FROM StopTime JOIN Trip ON Trip.id = trip_row
        JOIN Stop ON Stop.id = stop_row WHERE Trip.trip_id = 'F1-2' ORDER BY 1
        """) == ["I1 1", "Q2 2"])
    // Both are the key here.
    #expect(try rows("SELECT count(*) || '' FROM StopTime JOIN Trip USING (trip_id)") == ["6"])
    // A row number isn't called like a key.
    for join in ["Trip JOIN Route USING (route_id)", "StopTime JOIN Stop USING (stop_id)"] {
      #expect(throws: DatabaseError.self) { try rows("SELECT count(*) || '' FROM \(join)") }
    }
  }

  @Test(
    "of Caltrain is inferred without help, and imports the zip twice, the second time without a change",
    .enabled(if: realFeed != nil, "the shared data aren't beside the package"))
  func caltrain() throws {
    let room = try InferenceRoom()
    let feed = try #require(Self.realFeed).path
    let model = try ModelInference().run([feed])
    #expect(model.keys == Self.keys)
    #expect(model.references == Self.references)
    let coordinator = try check(model, source: feed, isArchive: true, room)
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "looking")
    func count(_ entity: String, _ format: String) throws -> Int {
      try context.count(
        for: FetchRequest<ManagedObject>(entityName: entity, predicate: try FetchPredicate(format: format)))
    }
    #expect(try count("StopTime", "trip != nil AND stop != nil") == 3103)
    #expect(try count("Stop", "parent_station != nil") == 64)
    #expect(try count("Trip", "route != nil AND service != nil") == 218)
    #expect(try count("Stop", "children.@count > 0") == 31)
    #expect(try count("CalendarDate", "service.service_id BEGINSWITH 'CT'") == 8)
  }

  @discardableResult
  private func check(
    _ model: InferredModel, source: String, isArchive: Bool, _ room: InferenceRoom
  ) throws -> PersistentStoreCoordinator {
    let coordinator = try room.store(model)
    #expect(coordinator.model.warnings.isEmpty)
    let first = try room.importAll(model, from: source, isArchive: isArchive, into: coordinator)
    #expect(first.count == model.entities.count)
    for entity in model.entities {
      let counts = try #require(first[entity.name])
      #expect(counts.inserted == entity.records, "\(entity.name)")
      #expect((counts.rejected, counts.unresolved) == (0, 0), "\(entity.name)")
    }
    let second = try room.importAll(model, from: source, isArchive: isArchive, into: coordinator)
    for entity in model.entities {
      let counts = try #require(second[entity.name])
      #expect((counts.inserted, counts.updated, counts.rejected) == (0, 0, 0), "\(entity.name)")
      #expect(counts.unchanged == entity.records, "\(entity.name)")
    }
    return coordinator
  }

  @Test("every table of a database is an entity, with its references")
  func tables() throws {
    let room = try InferenceRoom()
    let path = room.file("shop.sqlite").path
    let database = try DatabaseQueue(path: path)
    try database.write { db in
      try db.execute(
        sql: """
          CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
          CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, total REAL);
          INSERT INTO customers VALUES (7, 'Ada'), (9, 'Bob');
          INSERT INTO orders VALUES (1, 9, 1.5), (2, 7, 2), (3, 9, 4.25);
          """)
    }
    try database.close()
    let model = try ModelInference().run([path])
    #expect(model.keys == ["Customer": ["id"], "Order": ["order_id"]])
    #expect(model.references == ["Order.customer -> Customer.id"])
    #expect(model.order == ["customers", "orders"])
    #expect(model.notes.contains { $0.contains("has 2 tables") && $0.contains("table=customers") })
    let one = try ModelInference(named: ["table": ["orders"]]).run([path])
    #expect(one.entities.map(\.records) == [3])
  }

  @Test("archives in a folder are read, and packed files inside them are skipped")
  func archives() throws {
    let room = try InferenceRoom()
    let people = ("people.csv", Array("id,name\n1,Ann\n2,Bob\n".utf8))
    try room.write(Data(Packing.tar([people])), as: "feed/a.tar")
    try room.write(
      Data(
        Packing.zip([("towns.csv", Array("id,name\n1,Graz\n".utf8)), ("old.csv.gz", [1, 2]), ("more.tar.gz", [3])])),
      as: "feed/b.zip")
    let model = try ModelInference().run([room.file("feed").path])
    #expect(model.entities.map(\.name).sorted() == ["Person", "Town"])
    #expect(model.notes.count { $0.contains("was skipped") } == 2)
  }
}
