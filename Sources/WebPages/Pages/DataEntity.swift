import ControlAPI

/// An entity of a store, with what its key paths lead to, and with the words by which its objects are asked for.
struct DataEntity: Sendable, Hashable {
  let store: Store
  let entity: Store.Entity

  /// Nil where the store has no such entity.
  init?(_ name: String, in store: Store) {
    guard let entity = store.entities.first(where: { $0.name == name }) else { return nil }
    self.store = store
    self.entity = entity
  }

  var name: String { entity.name }

  /// What a key path leads to.
  enum End: Sendable, Hashable {
    case attribute(Store.Attribute)
    case relationship(Store.Relationship)
    /// A number of objects.
    case count
    /// Nothing that the pages know.
    case unknown
  }

  func end(of keyPath: String) -> End {
    if keyPath.hasSuffix(".@count") { return .count }
    var here = entity
    var rest = keyPath[...]
    while true {
      // The name of a composite attribute's element has a dot.
      if let attribute = here.attributes.first(where: { $0.name == rest }) { return .attribute(attribute) }
      let name = rest.prefix { $0 != "." }
      guard let relationship = here.relationships.first(where: { $0.name == name }) else { return .unknown }
      if name.endIndex == rest.endIndex { return .relationship(relationship) }
      guard let next = store.entities.first(where: { $0.name == relationship.entity }) else { return .unknown }
      rest = rest[rest.index(after: name.endIndex)...]
      here = next
    }
  }

  /// What a form offers as columns: attributes, what to-one relationships lead to, and the sizes of to-many ones.
  var allColumns: [String] {
    entity.attributes.map(\.name) + entity.relationships.map { $0.isToMany ? $0.name + ".@count" : $0.name }
  }

  /// The columns that are shown unless others are chosen: no binary data, which can be large, and no counts, which take
  /// long.
  var usualColumns: [String] {
    entity.attributes.filter { !$0.isBinary }.map(\.name) + entity.relationships.filter { !$0.isToMany }.map(\.name)
  }

  /// The name that stands for the object itself, which has its number.
  var numberName: String { entity.properties.contains("objectID") ? "SELF" : "objectID" }

  /// The column with the numbers of the objects that a to-one relationship leads to; nil for other key paths, and where
  /// the store shows no such entity.
  func numberColumn(of keyPath: String) -> String? {
    guard case .relationship(let relationship) = end(of: keyPath), !relationship.isToMany else { return nil }
    return DataEntity(relationship.entity, in: store).map { keyPath + "." + $0.numberName }
  }

  /// The predicate for one object.
  func predicate(of number: Int64) -> String { "\(numberName) == \(number)" }

  /// The objects at the other end of a relationship of one object; nil where nothing leads back.
  func predicate(ofInverse relationship: Store.Relationship, to number: Int64) -> String? {
    guard let other = DataEntity(relationship.entity, in: store),
      let inverse = other.entity.relationships.first(where: { $0.name == relationship.inverse })
    else { return nil }
    return predicate(of: inverse, to: number)
  }

  /// The objects of another entity whose relationship leads to an object of this one.
  func predicate(of relationship: Store.Relationship, to number: Int64) -> String {
    let path = DataPredicate.keyPath(relationship.name) + "." + numberName
    return (relationship.isToMany ? "ANY " : "") + "\(path) == \(number)"
  }

  /// The relationships of the store that lead to this entity and that none of its own leads back over.
  var oneWayReferences: [(entity: String, relationship: Store.Relationship)] {
    store.entities.flatMap { other in
      other.relationships.filter { $0.entity == name && $0.inverse == nil }
        .map { (entity: other.name, relationship: $0) }
    }
  }
}

extension Store.Attribute {
  /// Whether its values are shown by their length.
  var isBinary: Bool { type == "Binary" || type == "Transformable" }

  var isNumber: Bool { type.hasPrefix("Integer") || ["Decimal", "Double", "Float"].contains(type) }

  /// Whether a store can sort by it.
  var isSortable: Bool { !isBinary && !["ObjectID", "Composite", "Undefined"].contains(type) }
}

/// Words of the format language.
enum DataPredicate {
  /// Words that need a mark to be the name of a property.
  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "ANY", "SOME", "ALL",
    "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "YES", "FALSE", "NO", "NIL", "NULL", "SELF", "CAST", "SUBQUERY",
    "TERNARY", "FUNCTION",
  ]

  /// A text as a predicate has it.
  static func literal(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }

  /// A key path as a predicate has it.
  static func keyPath(_ path: String) -> String {
    path.split(separator: ".").map { keywords.contains($0.uppercased()) ? "#\($0)" : String($0) }
      .joined(separator: ".")
  }
}
