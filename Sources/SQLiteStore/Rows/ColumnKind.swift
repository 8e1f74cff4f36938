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
  case decimal
  case blob
  case uuid
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
    switch (a, b) {
    case (.integer, .integer), (.real, .real), (.number, .number), (.boolean, .boolean), (.text, .text),
      (.isoDate, .isoDate),
      (.unixDate, .unixDate), (.decimal, .decimal), (.blob, .blob), (.uuid, .uuid), (.uri, .uri):
      return true
    case (.reference(let a), .reference(let b)): return a === b
    case (.integer, _), (.real, _), (.number, _), (.boolean, _), (.text, _), (.isoDate, _), (.unixDate, _),
      (.decimal, _), (.blob, _),
      (.uuid, _), (.uri, _), (.reference, _):
      return false
    }
  }
}
