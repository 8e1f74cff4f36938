import ControlAPI
import ControlServer

/// Objects in memory, which have numbers, so that a table of them has pages and each has a page of its own. Of other
/// entities the backend always answers the same.
enum MemoryObjects {
  static let numbers: ClosedRange<Int64> = 1...120
  /// What would run if a page didn't escape it.
  static let hostile = "<img src=x onerror=alert(1)>\u{202E}"

  /// The entities of the backend's store.
  static func entities(counted: Bool) -> [Store.Entity] {
    [
      .init(
        name: "Stop", count: counted ? 12 : nil, properties: ["name", "height"],
        attributes: [.init(name: "name", type: "String"), .init(name: "height", type: "Double")],
        relationships: [
          .init(name: "routes", entity: "Route", isToMany: true, inverse: "stops"),
          .init(name: "home", entity: "Depot"),
        ]),
      .init(name: "Place", isAbstract: true, count: counted ? 0 : nil),
      .init(
        name: "Depot", count: counted ? 3 : nil, properties: ["title", "routes"],
        attributes: [.init(name: "title", type: "String")],
        relationships: [.init(name: "routes", entity: "Route", isToMany: true, inverse: "depot")]),
      .init(
        name: "Route", count: counted ? numbers.count : nil,
        properties: ["code", "title", "night", "map", "opened", "in", "depot", "stops", "signs"],
        attributes: [
          .init(name: "code", type: "Integer 64"), .init(name: "title", type: "String"),
          .init(name: "night", type: "Boolean"), .init(name: "map", type: "Binary"),
          .init(name: "opened", type: "Date"), .init(name: "in", type: "Boolean"),
        ],
        relationships: [
          .init(name: "depot", entity: "Depot", inverse: "routes"),
          .init(name: "stops", entity: "Stop", isToMany: true, inverse: "routes"),
          .init(name: "signs", entity: "Depot", isToMany: true),
        ]),
    ]
  }

  /// The objects that a query finds; nil for an entity that has none here.
  static func page(_ query: ObjectQuery) throws -> ObjectPage? {
    guard ["Route", "Depot"].contains(query.entity) else { return nil }
    let found = try found(query)
    let sorted = query.sort.first?.ascending == false ? found.reversed() : found
    let rows = try sorted.dropFirst(query.offset).prefix(query.limit).map { number in
      try query.columns.map { try value(of: $0, number) }
    }
    return ObjectPage(entity: query.entity, columns: query.columns, rows: rows)
  }

  /// How many match; nil for an entity that has none here.
  static func count(_ query: ObjectQuery) throws -> Int? {
    guard ["Route", "Depot"].contains(query.entity) else { return nil }
    return try found(query).count
  }

  /// Of predicates, only those that name one object narrow anything.
  private static func found(_ query: ObjectQuery) throws -> [Int64] {
    let predicate = query.predicate ?? ""
    if predicate.contains("nobody") {
      throw ControlError.invalid(
        field: "where", reason: "\(query.entity) has no property nobody", hint: "If nobody is a text, it needs quotes.")
    }
    if predicate.contains("MATCHES") { throw ControlError.forbidden(reason: "Only operators may use MATCHES.") }
    let mark = "objectID == "
    guard predicate.hasPrefix(mark) else { return Array(numbers) }
    return Int64(predicate.dropFirst(mark.count)).map { numbers.contains($0) ? [$0] : [] } ?? []
  }

  private static func value(of column: String, _ number: Int64) throws -> JSONValue {
    switch column {
    case "objectID": return .int(number)
    case "code": return .int(.max - number)
    case "title":
      return .string(number == 1 ? hostile : number == 2 ? String(repeating: "long ", count: 100) : "Title \(number)")
    case "night": return .bool(number % 2 == 0)
    case "map": return .string("AQIDBA==")
    case "opened": return .string("2026-03-01T12:00:00Z")
    case "in": return .null
    case "depot": return .string("D\(number % 3)")
    case "depot.objectID": return .int(number % 3 + 1)
    case "stops.@count": return .int(4)
    case "signs.@count", "routes.@count": return .int(40)
    default: throw ControlError.invalid(field: "columns", reason: "there is no property \(column)")
    }
  }
}
