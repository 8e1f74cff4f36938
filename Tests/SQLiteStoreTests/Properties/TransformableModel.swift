import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport

/// A store of objects with transformable attributes of each sort.
final class TransformableStack {
  let directory: ScratchDirectory
  let coordinator: PersistentStoreCoordinator
  let file: URL

  static let model: ManagedObjectModel = {
    func attribute(_ name: String, _ type: String? = nil, transformer: String? = nil) -> AttributeDefinition {
      var definition = AttributeDefinition(name, .transformable)
      definition.attributeValueClassName = type
      definition.valueTransformerName = transformer
      return definition
    }
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Picture",
          attributes: [
            attribute("color", "Color", transformer: "NSSecureUnarchiveFromData"), attribute("tags", "[String]"),
            attribute("point", "Point", transformer: "PointAsText"), attribute("lost", "Point", transformer: "Nowhere"),
            attribute("open"), attribute("list", "NSArray"), attribute("plain", "Plain"),
            AttributeDefinition("title", .string),
          ])
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  init(_ kind: StoreKind) throws {
    ValueTransformer.setValueTransformer(Point.asText, forName: "PointAsText")
    directory = try ScratchDirectory()
    file = directory.file("pictures.sqlite")
    coordinator = PersistentStoreCoordinator(model: Self.model)
    try coordinator.addPersistentStore(kind.store(at: file))
  }

  func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  /// The one picture of the store, in a context of its own.
  func picture(in context: ManagedObjectContext) throws -> ManagedObject? {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Picture")).first
  }
}

struct Color: Codable, Hashable {
  var red = 0.5
  var green = 0.25
  var blue = Double.infinity
}

/// Not Codable: its transformer writes text.
struct Point: Hashable {
  var x: Int
  var y: Int

  struct Malformed: Error {}

  static let asText = ValueTransformer(
    Point.self, encode: { Data("\($0.x),\($0.y)".utf8) },
    decode: { data in
      let numbers = String(decoding: data, as: UTF8.self).split(separator: ",").compactMap { Int($0) }
      guard numbers.count == 2 else { throw Malformed() }
      return Point(x: numbers[0], y: numbers[1])
    })
}

struct Plain: Hashable {}
