import ManagedObjects

@testable import Importing

/// Reads an input as a recipe's filter, and evaluates it on two rows. It must give the same results twice.
final class FilterTarget: FuzzTarget {
  /// Kept between inputs, unlike its content.
  private let model: ManagedObjectModel
  private let entity: EntityDescription
  private let rows: [ContiguousArray<Value>]

  init() throws {
    let attributes = [
      AttributeDefinition("name", .string), AttributeDefinition("age", .integer32),
      AttributeDefinition("price", .double), AttributeDefinition("day", .date),
    ]
    model = try ManagedObjectModel(entities: [EntityDefinition("E", attributes: attributes)])
    guard let entity = model.entities.first else { throw BrokenPromise(description: "the model has no entity") }
    self.entity = entity
    var row = entity.initialValues
    for attribute in entity.attributes {
      switch attribute.type {
      case .string: row[attribute.slot] = .string("Zoë 7")
      case .integer32: row[attribute.slot] = .int(7)
      case .double: row[attribute.slot] = .double(-0.5)
      default: break
      }
    }
    rows = [row, entity.initialValues]
  }

  func run(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    // Regular expressions are the system's, whose time isn't bounded.
    guard !text.lowercased().contains("matches") else { return }
    do {
      let filter = try RecordFilter(text, of: entity, MappingOptions())
      for row in rows where try filter.takes(row, keys: [], of: []) != filter.takes(row, keys: [], of: []) {
        throw BrokenPromise(description: "a filter doesn't say the same twice")
      }
      let written = try FetchPredicate(format: text).description
      let again = try RecordFilter(written, of: entity, MappingOptions())
      for row in rows where try filter.takes(row, keys: [], of: []) != again.takes(row, keys: [], of: []) {
        throw BrokenPromise(description: "a filter says something else when it is written as \(written)")
      }
    } catch let error as MappingError {
      _ = "\(error)"
    }
  }
}
