package import ManagedObjects

/// A column to be written: its name, and the form of its values.
package struct WrittenColumn: Sendable {
  /// How dates are written, so that the importer reads the same instant.
  enum DateForm: Sendable {
    /// ISO 8601, in UTC.
    case iso
    /// A number of units since 1970.
    case unix(UnixTimeUnit)
    case pattern(DatePattern, format: String)
  }

  package let name: String
  /// The type of its values; nil for counts, which are whole numbers but not attributes.
  let type: AttributeType?
  let dates: DateForm
  /// Whether data is JSON, and embedded as it is in JSON.
  let isJSON: Bool

  /// A column of an attribute's values.
  /// - Parameter keepsModelDates: whether dates are written in the form in which the model's user info (`dateFormat`) has them read;
  ///   otherwise they are ISO 8601.
  /// - Throws: ``ConverterError`` for a date format that isn't one.
  package init(_ attribute: AttributeDescription, name: String, keepsModelDates: Bool = true) throws(ConverterError) {
    self.name = name
    type = attribute.type
    isJSON = attribute.isCodable
    guard attribute.type == .date, keepsModelDates else {
      dates = .iso
      return
    }
    switch attribute.userInfo["dateFormat"] {
    case nil, "": dates = .iso
    case let format?:
      if let unit = UnixTimeUnit(rawValue: format) {
        dates = .unix(unit)
      } else {
        dates = .pattern(try DatePattern(format, attribute: attribute.name), format: format)
      }
    }
  }

  /// A column of whole numbers, texts or object IDs.
  package init(name: String, type: AttributeType? = nil) {
    self.name = name
    self.type = type
    dates = .iso
    isJSON = false
  }
}

/// A column that holds several values in each record: the keys of a to-many relationship, or objects in it.
package struct WrittenCollection: Sendable {
  package let name: String
  /// The columns of each object: one value if they are keys, otherwise members of an object by their names.
  package let columns: [WrittenColumn]
  package let isOfKeys: Bool
  /// The separator of keys in one text; nil where there is none.
  let separator: String?

  /// A column of keys.
  package init(keys column: WrittenColumn, name: String, separator: String?) {
    self.name = name
    columns = [column]
    isOfKeys = true
    self.separator = separator
  }

  /// A column of objects.
  package init(objects columns: [WrittenColumn], name: String) {
    self.name = name
    self.columns = columns
    isOfKeys = false
    separator = nil
  }
}
