import ManagedObjects
import Testing

@testable import Importing

@Suite("The order of files by their references")
struct ImportOrderTests {
  private static func entity(
    _ name: String, file: String? = nil, refersTo others: [(String, Bool)] = []
  ) -> EntityDefinition {
    EntityDefinition(
      name, attributes: [AttributeDefinition("code", .string)],
      relationships: others.map { other, isOptional in
        RelationshipDefinition("to\(other)", to: other, isOptional: isOptional, userInfo: ["mappedKeyName": other])
      },
      uniquenessConstraints: [["code"]], userInfo: file.map { [ImportOrder.fileNameKey: $0] } ?? [:])
  }

  private static func order(_ entities: [EntityDefinition], _ files: [String]) throws -> ImportOrder {
    ImportOrder(try ManagedObjectModel(entities: entities).entities, files: files)
  }

  @Test("a file comes after those it refers to, and otherwise as given")
  func order() throws {
    let entities = [
      Self.entity("StopTime", refersTo: [("Trip", true), ("Stop", true)]),
      Self.entity("Trip", refersTo: [("Route", true)]),
      Self.entity("Stop", refersTo: [("Stop", true)]), Self.entity("Route"), Self.entity("Agency"),
    ]
    let order = try Self.order(
      entities, ["stop_times.txt", "feed/trips.txt", "stops.txt", "routes.txt", "agency.txt", "licence.txt"])
    #expect(order.steps.map(\.file) == ["stops.txt", "routes.txt", "feed/trips.txt", "stop_times.txt", "agency.txt"])
    #expect(order.steps.map(\.entity) == ["Stop", "Route", "Trip", "StopTime", "Agency"])
    #expect(order.cycles.isEmpty)
    #expect(order.unmatched == ["licence.txt"])
  }

  @Test("an entity's user info takes precedence over file names, and an entity may have several files")
  func fileNames() throws {
    let entities = [Self.entity("Place", file: "stops.txt"), Self.entity("Stop", file: "halts"), Self.entity("Person")]
    let order = try Self.order(entities, ["stops.txt", "Halts.csv.gz", "b/people.json", "person.csv", "places.csv"])
    #expect(order.steps.map(\.entity) == ["Place", "Stop", "Person", "Person"])
    #expect(order.unmatched == ["places.csv"])
  }

  @Test("a cycle is reported, and begins where no target has to exist")
  func ring() throws {
    let entities = [
      Self.entity("Team", refersTo: [("Player", false)]), Self.entity("Player", refersTo: [("Team", true)]),
      Self.entity("Match", refersTo: [("Team", false)]),
    ]
    let order = try Self.order(entities, ["matches.csv", "teams.csv", "players.csv"])
    #expect(order.steps.map(\.entity) == ["Player", "Team", "Match"])
    #expect(order.cycles == [["Player", "Team"]])
  }

  @Test("in a one-to-one relationship, the side with the key refers")
  func oneToOne() throws {
    let entities = [
      EntityDefinition(
        "Badge", attributes: [AttributeDefinition("code", .string)],
        relationships: [
          RelationshipDefinition("owner", to: "Person", inverse: "badge", userInfo: ["relatedByAttribute": "name"])
        ]),
      EntityDefinition(
        "Person", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("badge", to: "Badge", inverse: "owner")]),
    ]
    let order = try Self.order(entities, ["badges.csv", "people.csv"])
    #expect(order.steps.map(\.entity) == ["Person", "Badge"])
    #expect(order.cycles.isEmpty)
  }

  @Test("a file refers to all possible targets of a relationship, and abstract entities have no file")
  func inheritance() throws {
    let entities = [
      Self.entity("Visit", refersTo: [("Place", true)]),
      EntityDefinition(
        "Place", isAbstract: true, attributes: [AttributeDefinition("code", .string)],
        uniquenessConstraints: [["code"]]),
      EntityDefinition("Museum", parent: "Place"), EntityDefinition("Park", parent: "Place"),
    ]
    let order = try Self.order(entities, ["visits.csv", "places.csv", "parks.csv", "museums.csv"])
    #expect(order.steps.map(\.entity) == ["Park", "Museum", "Visit"])
    #expect(order.unmatched == ["places.csv"])
  }

  @Test(
    "names of files become names of entities",
    arguments: [
      ("stop_times.txt", "StopTime"), ("agency.txt", "Agency"), ("calendar_dates.txt", "CalendarDate"),
      ("companies.csv", "Company"), ("ADDRESSES.csv.gz", "Address"), ("order-items.json", "OrderItem"),
      ("people.ndjson", "Person"), ("status.csv", "Status"), ("boxes.tsv", "Box"), ("houses.csv", "House"),
      ("buses.csv", "Bus"), ("2024 sales.csv", "Record2024Sale"), ("data/classes.xml", "Class"),
      ("Straßen.csv", "Strassen"), ("fare_attributes.txt", "FareAttribute"), ("series.csv", "Series"),
      ("???.csv", "Record"), ("salesOrders.csv", "SalesOrder"), ("v1.2/branches.csv", "Branch"),
    ])
  func entityNames(_ file: String, _ entity: String) {
    #expect(EntityNames.entity(of: FileNames.base(of: file)) == entity)
  }

  @Test(
    "columns become names that Xcode takes",
    arguments: [
      ("stop_id", "stop_id"), ("Name", "name"), ("First Name", "firstName"), ("2nd line", "column2ndLine"),
      ("description", "descriptionValue"), ("Größe (cm)", "grosseCm"), ("%", "column"), ("class", "classValue"),
      ("ID", "id"), ("customer-id", "customerId"), ("_x", "x"),
    ])
  func propertyNames(_ column: String, _ name: String) {
    #expect(NameText.property(of: column) == name)
    #expect(NameText.isProperty(name))
  }
}
