package import Foundation
package import GRDB
package import ManagedObjects
package import SQLSchema

// The forms of values in SQLite: this library's are ``ValueCodec``'s.

extension StoredForms {
  /// The kind of an attribute's column; nil for one that has no column.
  package func kind(of attribute: AttributeDescription) -> ColumnKind? {
    guard self == .coreData, let kind = ColumnKind(attribute) else { return ColumnKind(attribute) }
    switch kind {
    case .isoDate, .unixDate: return .referenceDate
    case .uuid: return .uuidBytes
    case .decimal: return .roundedDecimal
    default: return kind
    }
  }

  /// The stored form of a value of `attribute`.
  package func databaseValue(of value: Value, for attribute: AttributeDescription) -> DatabaseValue {
    guard self == .coreData else { return ValueCodec.databaseValue(of: value, for: attribute) }
    switch value {
    case .date(let date): return date.timeIntervalSinceReferenceDate.databaseValue
    case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { Data($0) }.databaseValue
    case .decimal(let number):
      if case .integer(let whole) = ValueCodec.storage(of: number) { return whole.databaseValue }
      let double = Double(number.description) ?? .nan
      return double.isNaN ? .null : double.databaseValue
    default: return ValueCodec.databaseValue(of: value)
    }
  }

  /// What stands in the column for a value that isn't written into a file.
  func columnValue(of value: Value, for attribute: AttributeDescription) -> DatabaseValue {
    if case .data(let data) = value, attribute.allowsFiles { return inlineValue(data) }
    return databaseValue(of: value, for: attribute)
  }

  /// Whether two date columns hold the same instants as the same values.
  func holdAlike(_ a: AttributeDescription, _ b: AttributeDescription) -> Bool {
    self == .coreData || DateStorage(a) == DateStorage(b)
  }

  /// A column as an operand of computed values, which have this library's forms.
  func computedTerm(_ column: String, _ kind: ValueKind?) -> String {
    switch (self, kind) {
    case (.own, .date?): return "lade_microseconds(\(column))"
    case (.coreData, .date?): return "lade_reference_microseconds(\(column))"
    case (.coreData, .uuid?): return "lade_uuid_text(\(column))"
    default: return column
    }
  }

  /// A computed date in the form of a column.
  func storedDate(_ computed: String) -> String {
    self == .own ? "lade_stored_date(\(computed))" : "lade_reference_date(\(computed))"
  }

  /// A decimal that Core Data has stored: a double holds fifteen digits of it.
  package static func decimal(rounding double: Double) -> Decimal? {
    double.isFinite ? Decimal(string: String(format: "%.15g", double)) : nil
  }

  /// The functions that read Core Data's forms in SQL. Every connection to such a file needs them.
  static func registerReading(on db: Database) {
    db.add(
      function: DatabaseFunction("lade_reference_microseconds", argumentCount: 1, pure: true) { arguments in
        switch arguments[0].storage {
        case .int64(let seconds):
          return ISODate.microseconds(of: Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case .double(let seconds): return ISODate.microseconds(of: Date(timeIntervalSinceReferenceDate: seconds))
        case .string, .blob, .null: return nil
        }
      })
    db.add(
      function: DatabaseFunction("lade_reference_date", argumentCount: 1, pure: true) { arguments in
        guard case .date(let date) = ComputedValue.value(of: arguments[0], "t") else { return nil }
        return date.timeIntervalSinceReferenceDate
      })
    db.add(
      function: DatabaseFunction("lade_uuid_text", argumentCount: 1, pure: true) { arguments in
        switch arguments[0].storage {
        case .blob(let bytes): return uuid(of: bytes)?.uuidString.lowercased()
        case .string(let text): return text
        case .int64, .double, .null: return nil
        }
      })
    db.add(
      function: DatabaseFunction("lade_rounded_decimal", argumentCount: 1, pure: true) { arguments in
        guard case .double(let double) = arguments[0].storage else { return arguments[0] }
        return decimal(rounding: double).map { ValueCodec.databaseValue(of: .decimal($0)) }
      })
  }

  /// The UUID in 16 bytes.
  static func uuid(of bytes: some Collection<UInt8>) -> UUID? {
    guard bytes.count == 16 else { return nil }
    var uuid = emptyUUID
    withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
    return UUID(uuid: uuid)
  }

  private static let emptyUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}
