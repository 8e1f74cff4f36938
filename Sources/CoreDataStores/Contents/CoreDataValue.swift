package import Foundation
package import ManagedObjects

/// How Core Data keeps the values of attributes in columns, in both directions.
///
/// | attribute | in the column |
/// |---|---|
/// | Boolean, Integer | an integer |
/// | Double, Float | a real |
/// | Decimal | a real; whole ones become integers by the column's affinity |
/// | Date | seconds since 2001-01-01T00:00:00Z |
/// | String | text |
/// | URI | text |
/// | UUID | 16 bytes |
/// | Binary, Transformable | bytes |
/// | Binary or Transformable that allows external storage | 1 and the bytes, or 2 and the name of a file beside the store |
package enum CoreDataValue {
  /// The first byte of data that may be kept in a file.
  private enum Kept {
    static let inline: UInt8 = 1
    static let inFile: UInt8 = 2
  }

  /// The value for a column: null, an integer, a double, a string or data.
  ///
  /// Data that may be in a file beside the store is kept inline, as Core Data itself keeps what is small: see
  /// ``encoded(_:of:file:)``.
  /// - Throws: ``CoreDataFileError/unstorable(place:reason:)``.
  package static func encoded(
    _ value: Value, of attribute: AttributeDescription
  ) throws(CoreDataFileError) -> Value {
    switch value {
    case .null, .unresolved: return .null
    case .int, .double, .string: return value
    case .bool(let flag): return .int(flag ? 1 : 0)
    case .decimal(let number):
      guard let double = Double(number.description) else { throw unstorable(attribute, "\(number) isn't a number") }
      return .double(double)
    case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
    case .uuid(let uuid): return .data(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    case .uri(let uri): return .string(uri.absoluteString)
    case .data(let data):
      return .data(attribute.definition.allowsExternalBinaryDataStorage ? Data([Kept.inline]) + data : data)
    case .object, .objects, .orderedObjects, .composite:
      throw unstorable(attribute, "a \(attribute.type.rawValue) can't be kept")
    }
  }

  /// The same, with large data in files.
  /// - Parameter file: writes a file into the folder for data of the store, and returns its name.
  package static func encoded(
    _ value: Value, of attribute: AttributeDescription, file: (Data) throws -> String
  ) throws -> Value {
    guard case .data(let data) = value, attribute.storesFiles, data.count > ExternalFolder.threshold else {
      return try encoded(value, of: attribute)
    }
    return .data(Data([Kept.inFile]) + Data(try file(data).utf8) + Data([0]))
  }

  /// The name of the file that data in a column refers to; nil for data that are in the row, and for what isn't a reference.
  package static func fileName(in data: some Collection<UInt8>) -> String? {
    guard data.first == Kept.inFile else { return nil }
    let name = String(decoding: data.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    return ExternalFolder.isName(name) ? name : nil
  }

  /// The attribute's value from that of a column.
  /// - Parameter file: reads a file from the folder for data of the store, by its name; nil where there is none.
  /// - Throws: ``CoreDataFileError/unstorable(place:reason:)`` for what isn't a value of the attribute.
  package static func decoded(
    _ value: Value, of attribute: AttributeDescription, file: (String) throws -> Data? = { _ in nil }
  ) throws -> Value {
    if value.isNull { return .null }
    let found: Value? =
      switch (attribute.type, value) {
      case (.boolean, .int(let number)): .bool(number != 0)
      case (.integer16, .int), (.integer32, .int), (.integer64, .int), (.double, .double), (.string, .string): value
      case (.double, .int(let number)), (.float, .int(let number)): .double(Double(number))
      case (.float, .double(let number)): .double(Double(Float(number)))
      case (.decimal, .int(let number)): .decimal(Decimal(number))
      // A double differs from the decimal that it was in the last digits.
      case (.decimal, .double(let number)): Decimal(string: String(format: "%.15g", number)).map(Value.decimal)
      case (.decimal, .string(let text)): Decimal(string: text).map(Value.decimal)
      case (.date, .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
      case (.date, .int(let seconds)): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
      case (.uuid, .data(let bytes)) where bytes.count == 16:
        .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
      case (.uuid, .string(let text)): UUID(uuidString: text).map(Value.uuid)
      case (.uri, .string(let text)): URL(string: text).map(Value.uri)
      case (.binaryData, .data(let data)), (.transformable, .data(let data)):
        try decoded(data, of: attribute, file).map(Value.data)
      default: nil
      }
    guard let found else {
      throw unstorable(attribute, "“\(value.plainText.prefix(40))” isn't a value of type \(attribute.type.rawValue)")
    }
    return found
  }

  private static func decoded(
    _ data: Data, of attribute: AttributeDescription, _ file: (String) throws -> Data?
  ) throws -> Data? {
    guard attribute.definition.allowsExternalBinaryDataStorage else { return data }
    switch data.first {
    case Kept.inline: return data.dropFirst().withUnsafeBytes { Data($0) }
    case Kept.inFile:
      // The name becomes part of a path.
      guard let name = fileName(in: data) else { return nil }
      guard let found = try file(name) else {
        throw unstorable(attribute, "its data is in a file beside the store, _EXTERNAL_DATA/\(name), which isn't there")
      }
      return found
    default: return nil
    }
  }

  private static func unstorable(_ attribute: AttributeDescription, _ reason: String) -> CoreDataFileError {
    .unstorable(place: "\(attribute.entity.name).\(attribute.name)", reason: reason)
  }

  /// The key that sorts the object at a place of an ordered relationship: `Z_FOK_…`. Core Data leaves gaps, so that one can
  /// be moved between two others without renumbering all.
  package static func orderKey(at place: Int) -> Int64 { Int64(place + 1) * 1024 }
}
