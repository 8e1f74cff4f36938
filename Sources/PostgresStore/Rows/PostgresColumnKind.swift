package import Foundation
package import ManagedObjects
package import PostgreSQL

/// How a column holds a property's values.
package enum PostgresColumnKind: Sendable {
  case integer
  case real
  case boolean
  case text
  case uri
  case uuid
  case instant
  case decimal
  case bytes
  /// The number of the row that a to-one relationship refers to.
  case reference(IDScope)

  /// Whether the server takes the same values for equal as other stores do.
  var groupsAlike: Bool {
    switch self {
    case .integer, .boolean, .text, .uuid, .instant, .reference: true
    case .real, .uri, .decimal, .bytes: false
    }
  }

  /// The kind of an attribute's column; nil for one that has no column.
  package init?(_ attribute: AttributeDescription) {
    if attribute.isTransient { return nil }
    switch attribute.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .real
    case .boolean: self = .boolean
    case .string: self = .text
    case .uri, .objectID: self = .uri
    case .uuid: self = .uuid
    case .date: self = .instant
    case .decimal: self = .decimal
    case .binaryData, .transformable: self = .bytes
    case .composite, .undefined: return nil
    }
  }

  /// The type of the column. Strings sort by their bytes, as in the other stores.
  package var declaration: String {
    switch self {
    case .integer, .reference: "bigint"
    case .real: "double precision"
    case .boolean: "boolean"
    case .text, .uri: "text COLLATE \"C\""
    case .uuid: "uuid"
    case .instant: "timestamptz"
    case .decimal: "numeric"
    case .bytes: "bytea"
    }
  }

  /// The type as parameters have it.
  package var type: PostgresOID {
    switch self {
    case .integer, .reference: .int8
    case .real: .float8
    case .boolean: .bool
    case .text, .uri: .text
    case .uuid: .uuid
    case .instant: .timestamptz
    case .decimal: .numeric
    case .bytes: .bytea
    }
  }

  /// PostgreSQL's first instant, in microseconds from 1970.
  package static let earliest: Int64 = -210_866_803_200_000_000

  /// The microseconds of a date from 1970, if `timestamptz` has it: from 4714 BC to 294276.
  package static func instant(_ date: Date) -> Int64? {
    guard let microseconds = ISODate.microseconds(of: date), microseconds >= earliest else { return nil }
    return microseconds
  }

  // MARK: Writing

  /// A value as the column has it.
  /// - Parameter number: the number of an object that may be new.
  /// - Throws: ``ManagedObjectError/store(_:)`` for a value that the column can't hold.
  func value(of value: Value, number: (ManagedObjectID) -> Int64?) throws -> PostgresValue {
    switch (self, value) {
    case (.integer, .int(let number)): return .int(number)
    case (.integer, .bool(let flag)): return .int(flag ? 1 : 0)
    case (.real, .double(let number)): return number.isNaN ? .null(.float8) : .double(number)
    case (.real, .int(let number)): return .double(Double(number))
    case (.boolean, .bool(let flag)): return .bool(flag)
    case (.boolean, .int(let number)): return .bool(number != 0)
    case (.text, .string(let text)):
      guard !text.utf8.contains(0) else { throw Self.zeroInText }
      return .text(text)
    case (.uri, .uri(let url)): return .text(url.absoluteString)
    case (.uri, .string(let text)): return .text(text)
    case (.uuid, .uuid(let uuid)): return .uuid(uuid)
    case (.instant, .date(let date)):
      guard let microseconds = Self.instant(date) else { throw Self.farDate(date) }
      return .instant(microseconds)
    case (.decimal, .decimal(let number)): return number.isNaN ? .null(.numeric) : .numeric(number.description)
    case (.decimal, .int(let number)): return .numeric(String(number))
    case (.decimal, .double(let number)):
      return Decimal(string: "\(number)").map { .numeric($0.description) } ?? .null(.numeric)
    case (.bytes, .data(let data)): return .bytes(data)
    case (.reference, .object(let id)):
      return number(id).map { .int($0) } ?? .null(.int8)
    default: return .null(type)
    }
  }

  static let zeroInText = ManagedObjectError.store(
    StoreFailure(
      .outOfRange,
      message: "a string has a character with the code 0, which PostgreSQL's text can't have: remove it, or keep the "
        + "value as binary data"))

  static func farDate(_ date: Date) -> ManagedObjectError {
    .store(
      StoreFailure(
        .outOfRange,
        message:
          "a date \(date.timeIntervalSince1970) seconds from 1970 isn't among PostgreSQL's, from 4714 BC to 294276"))
  }

  // MARK: Reading

  /// The value in a row's column.
  func value(_ rows: PostgresRows, _ row: Int, _ column: Int) -> Value {
    if rows.isNull(row, column) { return .null }
    switch self {
    case .integer: return .int(rows.int(row, column))
    case .real: return .double(rows.double(row, column))
    case .boolean: return .bool(rows.bool(row, column))
    case .text: return .string(rows.text(row, column))
    case .uri: return URL(string: rows.text(row, column)).map(Value.uri) ?? .null
    case .uuid: return .uuid(rows.uuid(row, column))
    case .instant: return .date(ISODate.date(microseconds: rows.instant(row, column)))
    case .decimal:
      return rows.numeric(row, column).flatMap { Decimal(string: $0, locale: nil) }.map(Value.decimal) ?? .null
    case .bytes: return .data(rows.data(row, column))
    case .reference(let scope): return .object(ManagedObjectID(scope: scope, number: rows.int(row, column)))
    }
  }
}
