import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// Objects whose values share memory, because one fetch has read them.
@Suite("Many rows of one fetch")
struct PackedRowsTests {
  private static let model = Result {
    try ManagedObjectModel(entities: [
      EntityDefinition(
        "Thing",
        attributes: [
          AttributeDefinition("number", .integer64), AttributeDefinition("weight", .double),
          AttributeDefinition("isNew", .boolean), AttributeDefinition("name", .string),
          AttributeDefinition("made", .date), AttributeDefinition("price", .decimal),
          AttributeDefinition("key", .uuid), AttributeDefinition("bytes", .binaryData),
          AttributeDefinition("link", .uri), AttributeDefinition("draft", .string, isTransient: true),
        ],
        relationships: [RelationshipDefinition("box", to: "Box", inverse: "things")]),
      EntityDefinition(
        "Box", attributes: [AttributeDefinition("name", .string)],
        relationships: [RelationshipDefinition("things", to: "Thing", inverse: "box", isToMany: true)]),
    ])
  }

  private static let count = 700
  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: try Self.model.get())
    try coordinator.addPersistentStore(.sqlite(at: directory.file("things.sqlite")))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let boxes = try (0..<3).map { number in
      let box = try context.insert("Box")
      try box.setValue(.string("box \(number)"), forKey: "name")
      return box
    }
    for number in 0..<Self.count {
      let thing = try context.insert("Thing")
      for (key, value) in Self.values(number) { try thing.setValue(value, forKey: key) }
      if number % 4 > 0 { thing.setObject(boxes[number % 4 - 1], try #require(thing.entity.slot(of: "box"))) }
    }
    try context.save()
  }

  /// Values of each kind: some null, and some with the bits of null.
  private static func values(_ number: Int) -> [String: Value] {
    if number % 10 == 9 { return ["number": .int(Int64(number))] }
    return [
      "number": .int(Int64(number)), "weight": .double(Double(number % 3) / 3),
      "isNew": .bool(number.isMultiple(of: 2)),
      "name": .string(number % 5 == 0 ? "" : "a name that doesn't fit into sixteen bytes, \(number)"),
      "made": .date(Date(timeIntervalSince1970: Double(number) * 1000)), "price": .decimal(Decimal(number) / 100),
      "key": .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number % 256)))),
      "bytes": .data(Data(repeating: UInt8(number % 256), count: number % 40)),
      "link": .uri(URL(filePath: "/things/\(number)")),
    ]
  }

  private func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  private var all: FetchRequest<ManagedObject> {
    FetchRequest(entityName: "Thing", sortDescriptors: [FetchSortDescriptor("number")])
  }

  private func check(_ thing: ManagedObject, _ number: Int, except key: String = "") {
    let values = Self.values(number)
    for attribute in thing.entity.attributes where attribute.name != key {
      #expect(thing.value(forKey: attribute.name) == values[attribute.name] ?? .null, "\(attribute.name) of \(number)")
    }
  }

  @Test("have each the values of its own row, of every type")
  func values() throws {
    let context = context()
    let things = try context.fetch(all)
    #expect(things.count == Self.count)
    let box = try #require(things.first?.entity.slot(of: "box"))
    for (number, thing) in things.enumerated() {
      check(thing, number)
      let expected: Value = number % 4 > 0 ? .string("box \(number % 4 - 1)") : .null
      #expect((thing.object(box) as ManagedObject?)?.value(forKey: "name") ?? .null == expected)
    }
  }

  @Test("change one by one, without touching their neighbours")
  func changing() throws {
    let context = context()
    let things = try context.fetch(all)
    for number in stride(from: 0, to: Self.count, by: 3) { try things[number].setValue("changed", forKey: "name") }
    for (number, thing) in things.enumerated() {
      check(thing, number, except: "name")
      let name = number % 3 == 0 ? "changed" : Self.values(number)["name"] ?? .null
      #expect(thing.value(forKey: "name") == name)
      #expect(thing.isUpdated == (number % 3 == 0))
    }
    try context.save()
    let again = try self.context().fetch(all)
    #expect(again.count { $0.value(forKey: "name") == "changed" } == (Self.count + 2) / 3)
    try things[3].setValue("again", forKey: "name")
    context.rollback()
    #expect(things[3].value(forKey: "name") == "changed")
  }

  @Test("live as long as somebody holds one of them")
  func holding() throws {
    let context = context()
    var held: [Int: ManagedObject] = [:]
    try {
      for (number, thing) in try context.fetch(all).enumerated() where number % 97 == 0 { held[number] = thing }
    }()
    context.reset()
    for (number, thing) in held { check(thing, number) }
    #expect(held.count == 8)
  }

  @Test("come in parts, and in children, as single ones do")
  func partsAndChildren() throws {
    let parent = context()
    var partial = all
    partial.propertiesToFetch = [.property("name")]
    let parts = try parent.fetch(partial)
    #expect(parts.allSatisfy { $0.isFault })
    check(parts[8], 8)
    #expect(!parts[8].isFault && parts[7].isFault)
    let child = ManagedObjectContext(.confinement, parent: parent)
    for (number, thing) in try child.fetch(all).enumerated() { check(thing, number) }
    let boxes = try child.fetch(FetchRequest<ManagedObject>(entityName: "Box"))
    #expect(boxes.map { $0.value(forKey: "things")?.plainText ?? "" } == Array(repeating: "175 object(s)", count: 3))
  }

  @Test("are the context's objects, whoever looks for them")
  func registering() throws {
    let context = context()
    let things = try context.fetch(all)
    #expect(context.registeredObjectCount == Self.count)
    #expect(context.registeredObject(for: things[500].objectID) === things[500])
    let again = try context.fetch(all)
    #expect(zip(things, again).allSatisfy { $0 === $1 })
    #expect(context.registeredObjectCount == Self.count)
  }
}
