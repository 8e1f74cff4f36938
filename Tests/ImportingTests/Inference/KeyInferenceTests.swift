import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Keys and references between files")
struct KeyInferenceTests {
  private static let customers = "id,name,country\n1,Ada,DE\n2,Bob,FR\n3,Cy,DE\n"

  @Test("a unique column with the name of a key is one; an earlier one takes precedence")
  func single() throws {
    let model = try InferenceRoom().infer([
      ("people.csv", "name,person_id,code\nAda,1,x\nBob,2,y\n"), ("things.csv", "size,uuid,thing_code\n1,a,b\n2,c,d\n"),
    ])
    #expect(model.keys == ["Person": ["person_id"], "Thing": ["uuid"]])
  }

  @Test("a column with a gap, a repeated value or a fraction isn't a key")
  func none() throws {
    let model = try InferenceRoom().infer([
      ("a.csv", "id,n\n1,1\n,2\n"), ("b.csv", "id,n\n1,1\n1,1\n"), ("c.csv", "id,n\n1.5,1\n2.5,1\n"),
    ])
    #expect(model.keys == ["A": [], "B": [], "C": []])
    #expect(model.entities.allSatisfy { $0.notes.contains { $0.contains("no key was found") } })
  }

  @Test("several columns form a key, the fewest that are unique")
  func composite() throws {
    let model = try InferenceRoom().infer([
      ("lines.csv", "order_id,line,amount\n1,1,5\n1,2,5\n2,1,5\n2,2,5\n"),
      ("scores.csv", "team_id,year,round_no,points\n1,1,1,3\n1,1,2,3\n1,2,1,3\n2,1,1,3\n2,1,2,3\n1,2,2,3\n2,2,1,3\n"),
    ])
    #expect(model.keys == ["Line": ["order_id", "line"], "Score": ["team_id", "year", "round_no"]])
    #expect(model.entity("Line")?.columns.map(\.type) == ["Integer 64", "Integer 64", "Integer 64"])
  }

  @Test("a key of three columns is found among many, most of which are measures")
  func keyAmongMany() throws {
    var rows = ""
    for hour in 0..<8 {
      for (number, carrier) in ["UA", "AA", "B6"].enumerated() {
        for flight in [1, 15] {
          let origin = ["JFK", "LGA", "EWR"][(hour + number) % 3]
          let values = [
            "2013", "1", "1", "\(500 + hour)", "\(hour % 3)", carrier, "\(flight)", "N\(flight + hour % 2)", origin,
            "\(100 + flight)", "\(hour)", "0", "2013-01-01T0\(hour):00:00Z",
          ]
          rows += values.joined(separator: ",") + "\n"
        }
      }
    }
    let header = "year,month,day,dep_time,dep_delay,carrier,flight,tailnum,origin,distance,hour,minute,time_hour\n"
    #expect(
      try InferenceRoom().infer([("flights.csv", header + rows)]).keys
        == ["Flight": ["carrier", "flight", "hour"]])
    // The hour of one day isn't a key of two days.
    let next = rows.replacing("2013-01-01T", with: "2013-01-02T").replacing("2013,1,1,", with: "2013,1,2,")
    #expect(
      try InferenceRoom().infer([("flights.csv", header + rows + next)]).keys
        == ["Flight": ["carrier", "flight", "time_hour"]])
  }

  @Test("two spellings of one day aren't two keys")
  func spellings() throws {
    let rows = "1,2024-01-01\n1,2024-01-01T00:00:00Z\n2,2024-01-01\n2,2024-01-02\n"
    #expect(try InferenceRoom().infer([("a.csv", "room_id,date\n" + rows)]).keys == ["A": []])
  }

  @Test("past the limit of remembered values no column counts as unique, and a note says so")
  func bound() throws {
    let rows = (1...500).map { "\($0),\($0 % 7)\n" }.joined()
    for model in [
      try InferenceRoom().infer([("a.csv", "id,n\n" + rows)], keyLimit: 100),
      try InferenceRoom().infer([("a.csv", "id,n\n" + rows)], hashLimit: 300),
    ] {
      #expect(model.keys == ["A": []])
      #expect(model.entities[0].columns[0].notes.joined().contains("wasn't determined"))
    }
    #expect(try InferenceRoom().infer([("a.csv", "id,n\n" + rows)]).keys == ["A": ["id"]])
  }

  @Test("a column named after another file, with only that file's keys as values, is a reference with an inverse")
  func references() throws {
    let room = try InferenceRoom()
    let model = try room.infer([
      ("customers.csv", Self.customers),
      ("orders.csv", "order_id,customer_id,ship_to_customer_id,qty\n10,1,1,1\n11,1,,2\n12,3,2,1\n"),
      ("countries.csv", "code,name\nDE,Germany\nFR,France\n"),
    ])
    #expect(
      model.references == [
        "Customer.country -> Country.code", "Order.customer -> Customer.id", "Order.ship_to_customer -> Customer.id",
      ])
    #expect(model.order == ["countries.csv", "customers.csv", "orders.csv"])
    let order = try #require(model.definitions.first { $0.name == "Order" })
    #expect(order.attributes.map(\.name) == ["order_id", "qty"])
    #expect(order.relationships.map(\.name) == ["customer", "ship_to_customer"])
    #expect(
      order.relationships[0].userInfo
        == ["mappedKeyName": "customer_id", "relatedByAttribute": "id", "columnName": "customer_row"])
    let customer = try #require(model.definitions.first { $0.name == "Customer" })
    #expect(
      customer.relationships.map(\.name).sorted() == ["country", "orders_by_customer", "orders_by_ship_to_customer"])
  }

  @Test("small numbers that happen to be another file's keys aren't a reference unless a name suggests it")
  func smallNumbers() throws {
    let model = try InferenceRoom().infer([
      ("customers.csv", Self.customers), ("orders.csv", "order_id,qty,status\n10,1,2\n11,2,2\n12,3,1\n"),
    ])
    #expect(model.references.isEmpty)
  }

  @Test("a column with a value missing from the other file isn't a reference, and a note names the value")
  func misses() throws {
    let model = try InferenceRoom().infer([
      ("customers.csv", Self.customers), ("orders.csv", "order_id,customer_id\n10,1\n11,9\n"),
    ])
    #expect(model.references.isEmpty)
    let notes = model.entity("Order")?.columns[1].notes.joined() ?? ""
    #expect(notes.contains("1 of 2 values") && notes.contains("“9”"), "\(notes)")
  }

  @Test("texts that are all keys of another file are a reference by their values alone")
  func byValues() throws {
    let airports = (0..<30).map { "AP\($0),x\n" }.joined()
    let flights = (0..<60).map { "\($0),AP\($0 % 30)\n" }.joined()
    let model = try InferenceRoom().infer([
      ("airports.csv", "code,city\n" + airports), ("flights.csv", "id,departs\n" + flights),
    ])
    #expect(model.references == ["Flight.departs -> Airport.code"])
  }

  @Test("files that refer to each other are reported as a cycle")
  func ring() throws {
    let model = try InferenceRoom().infer([
      ("teams.csv", "id,captain_player_id\n1,1\n2,2\n"), ("players.csv", "id,team_id\n1,1\n2,2\n"),
    ])
    #expect(model.references == ["Player.team -> Team.id", "Team.captain_player -> Player.id"])
    #expect(model.notes.contains { $0.contains("in a ring") })
  }

  @Test("names that Core Data doesn't allow are mapped, and the model reads back as intended")
  func roundTrip() throws {
    let room = try InferenceRoom()
    let model = try room.infer([
      ("my things.csv", "ID,First \"&\" <Name>,2nd,description,class\n1,a,b,c,d\n2,a,b,c,d\n"),
      ("parts.csv", "part_id,My thing ID\n1,1\n2,1\n"),
    ])
    let path = room.file("Out.xcdatamodel")
    try ModelFileWriter(model.definitions).write(to: path.path, overwrites: false)
    let read = try ManagedObjectModel(contentsOf: path)
    #expect(read.warnings.isEmpty)
    #expect(read.entities.map(\.definition) == model.definitions)
    let thing = try #require(read.entitiesByName["MyThing"])
    #expect(
      thing.attributes.map(\.name) == ["id", "firstName", "column2nd", "descriptionValue", "classValue"])
    #expect(thing.attributes[1].userInfo["mappedKeyName"] == "First \"&\" <Name>")
    #expect(thing.userInfo[ImportOrder.fileNameKey] == "my things.csv")
    #expect(model.references == ["Part.myThing -> MyThing.ID"])
  }

  @Test("an existing model is overwritten only on request, and nothing else ever is")
  func overwriting() throws {
    let room = try InferenceRoom()
    let writer = ModelFileWriter(try room.infer([("a.csv", "id\n1\n")]).definitions)
    let path = room.file("A.xcdatamodel").path
    try writer.write(to: path, overwrites: false)
    #expect(throws: InferenceError.exists(path: path)) { try writer.write(to: path, overwrites: false) }
    try writer.write(to: path, overwrites: true)
    #expect(throws: InferenceError.self) { try writer.write(to: room.file("A.txt").path, overwrites: true) }
    let folder = room.file("B.xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    #expect(throws: InferenceError.self) { try writer.write(to: folder.path, overwrites: true) }
  }

  @Test("the report shows each column and its place in the model")
  func report() throws {
    let room = try InferenceRoom()
    let text = try room.infer([
      ("customers.csv", Self.customers), ("orders.csv", "order_id,customer_id\n10,1\n11,1\n"),
    ]).text
    #expect(text.contains("Order  (orders.csv, 2 records)\n  key: order_id\n"), "\(text)")
    #expect(text.contains("Customer.id, 2 matched"), "\(text)")
    #expect(text.contains("Order of import: customers.csv, orders.csv"), "\(text)")
    #expect(!(try room.infer([("a.csv", "id,n\n1,\u{1B}[31mred\n")]).text.contains("\u{1B}")))
  }

  @Test("an unreadable file is an error with the file's name; so is nothing to read")
  func errors() throws {
    let room = try InferenceRoom()
    #expect(throws: InferenceError.self) { try ModelInference().run([room.file("none.csv").path]) }
    let wrong = try room.write("[{\"a\":1},", as: "wrong.json")
    #expect {
      try ModelInference().run([wrong])
    } throws: {
      "\($0)".contains("wrong.json")
    }
    try room.write("", as: "folder/x.md")
    #expect(throws: InferenceError.noFiles(paths: [room.file("folder").path])) {
      try ModelInference().run([room.file("folder").path])
    }
  }
}
