package import ManagedObjects

/// How a column holds a property's values.
package enum ColumnKind: Sendable, Equatable {
  case integer
  case real
  /// The result of arithmetic: an integer or a double.
  case number
  case boolean
  case text
  /// SQLite's own text form of an instant.
  case isoDate
  /// Seconds since 1970.
  case unixDate
  /// Seconds since 2001, as Core Data stores instants.
  case referenceDate
  case decimal
  /// A double, of which fifteen digits are the decimal's.
  case roundedDecimal
  case blob
  /// Bytes that may be in a file beside the store.
  case external(ExternalColumn)
  case uuid
  /// A UUID of 16 bytes.
  case uuidBytes
  case uri
  /// The number of the row that a to-one relationship refers to.
  case reference(IDScope)

  /// The kind of an attribute's column; nil for one that has no column.
  package init?(_ attribute: AttributeDescription) {
    if attribute.isTransient { return nil }
    switch attribute.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .real
    case .boolean: self = .boolean
    case .string: self = .text
    case .date: self = DateStorage(attribute) == .unix ? .unixDate : .isoDate
    case .decimal: self = .decimal
    case .binaryData, .transformable: self = .blob
    case .uuid: self = .uuid
    case .uri, .objectID: self = .uri
    case .composite, .undefined: return nil
    }
  }

  package static func == (a: ColumnKind, b: ColumnKind) -> Bool {
    if case (.reference(let a), .reference(let b)) = (a, b) { return a === b }
    return a.number == b.number
  }

  /// A number for each case.
  private var number: Int {
    switch self {
    case .integer: 0
    case .real: 1
    case .number: 2
    case .boolean: 3
    case .text: 4
    case .isoDate: 5
    case .unixDate: 6
    case .referenceDate: 7
    case .decimal: 8
    case .roundedDecimal: 9
    case .blob: 10
    case .uuid: 11
    case .uuidBytes: 12
    case .uri: 13
    case .reference: 14
    case .external: 15
    }
  }
}
