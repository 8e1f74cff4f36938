package import ManagedObjects
import SQLSchema

/// The type that a column is declared with.
enum ColumnType {
  /// - Throws: ``SchemaError/unsupportedAttribute(entity:attribute:type:)``.
  static func declared(_ attribute: AttributeDescription) throws(SchemaError) -> String {
    switch attribute.type {
    case .integer16, .integer32, .integer64: return "INTEGER"
    case .double, .float: return "REAL"
    case .string, .uuid, .uri, .objectID: return "TEXT"
    case .boolean: return "BOOLEAN"
    case .decimal: return "NUMERIC"
    case .date: return DateStorage(attribute) == .iso ? "TEXT" : "NUMERIC"
    case .binaryData, .transformable: return "BLOB"
    case .composite, .undefined:
      throw .unsupportedAttribute(
        entity: attribute.entity.name, attribute: attribute.name, type: attribute.type.rawValue)
    }
  }
}

/// How a date attribute is stored: `dateStorage` in its user info, `iso` unless it says `unix`.
package enum DateStorage: Sendable, Hashable {
  /// Text in UTC, `YYYY-MM-DD HH:MM:SS[.ffffff]`.
  case iso
  /// Seconds since 1970, an integer where they are whole.
  case unix

  package init(_ attribute: AttributeDescription) {
    self = attribute.userInfo["dateStorage"]?.lowercased() == "unix" ? .unix : .iso
  }
}
