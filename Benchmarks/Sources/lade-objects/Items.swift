import Foundation
import ManagedObjects
import SQLiteStore

/// A row of ten integers, as GRDB's own comparison has it; `box` is for fetches over a key path.
final class Item: ManagedObject {
  override class var propertyNames: [String]? { (0..<10).map { "i\($0)" } + ["box"] }
  var i0: Int? {
    get { self[0] }
    set { self[0] = newValue }
  }
  var i1: Int? {
    get { self[1] }
    set { self[1] = newValue }
  }
  var i9: Int? {
    get { self[9] }
    set { self[9] = newValue }
  }
}

enum Items {
  static func coordinator(_ file: String) throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition(
          "Item", className: "Item",
          attributes: (0..<10).map { AttributeDefinition("i\($0)", .integer64) },
          relationships: [RelationshipDefinition("box", to: "Box")],
          indexes: [FetchIndexDefinition("byI1", elements: [.init(property: "i1")])]),
        EntityDefinition("Box", attributes: [AttributeDefinition("rank", .integer64)]),
      ],
      classes: ["Item": Item.self])
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.sqlite(at: URL(fileURLWithPath: file)))
    return coordinator
  }

  /// Creates the file that both sides read, with items in a hundred boxes.
  static func prepare(_ file: String, count: Int) throws {
    let context = ContextQueue(.privateQueue, coordinator: try coordinator(file))
    try context.performAndWait { context in
      let boxes = try (0..<100).map { rank in
        let box = try context.insert("Box")
        try box.setValue(.int(Int64(rank)), forKey: "rank")
        return box
      }
      for number in 0..<count {
        let item = try context.insert(Item.self)
        for slot in 0..<10 { item[slot] = value(number, slot) }
        item.setObject(boxes[number % 100], 10)
        if number % 10_000 == 9_999 { try context.save() }
      }
      try context.save()
    }
    try context.persistentStoreCoordinator.close()
  }

  /// The value of an item's column: the same on both sides.
  static func value(_ number: Int, _ slot: Int) -> Int { (number &* 7919 &+ slot &* 104_729) % 1_000_003 }
}
