public import Foundation
import Synchronization

/// Turns values of one type into data and back, for transformable attributes.
///
/// An attribute that names no transformer, or Core Data's own, is Codable (see ``codable(_:)``). One that names another
/// needs it registered under that name before its values are read or written:
///
/// ```swift
/// ValueTransformer.setValueTransformer(
///   ValueTransformer(Color.self, encode: { $0.bytes }, decode: { try Color(bytes: $0) }), forName: "ColorTransformer")
/// ```
///
/// Source: `NSSecureUnarchiveFromDataTransformer`. As there, a transformer says which type it gives, and nothing in the
/// data can choose another. It differs in being a value made of two closures, which may throw, and not a class.
public struct ValueTransformer: Sendable {
  /// The type of the values.
  public let valueType: any Any.Type
  private let encode: @Sendable (Any) throws -> Data?
  private let decode: @Sendable (Data) throws -> Any

  /// A transformer of values of `type`.
  ///
  /// Equal values should give equal data: an attribute counts as changed when its data does.
  /// - Parameters:
  ///   - encode: the data that is stored for a value. Called on the context's queue.
  ///   - decode: the value of stored data, or an error when it isn't one. Called on the context's queue.
  public init<T>(
    _ type: T.Type, encode: @escaping @Sendable (T) throws -> Data, decode: @escaping @Sendable (Data) throws -> T
  ) {
    valueType = type
    self.encode = { value in try (value as? T).map(encode) }
    self.decode = decode
  }

  /// The transformer of Codable values, which attributes have unless they name another.
  ///
  /// The data is JSON, so that `sqlite3` shows it as text, with keys in alphabetical order, so that equal values give
  /// equal data. Dates are numbers of seconds since 2001, which loses nothing; data is Base64; infinities and NaN are
  /// the strings `Infinity`, `-Infinity` and `NaN`.
  public static func codable<T: Codable & SendableMetatype>(_ type: T.Type) -> ValueTransformer {
    ValueTransformer(type, encode: { try CodableData.encode($0) }, decode: { try CodableData.decode(type, from: $0) })
  }

  /// The data of a value of ``valueType``; nil when it is of another type.
  public func data(from value: Any) throws -> Data? { try encode(value) }

  /// The value of data.
  public func value(from data: Data) throws -> Any { try decode(data) }
}

extension ValueTransformer {
  private static let registered = Mutex<[String: ValueTransformer]>([:])

  /// Registers a transformer under the name by which attributes ask for it, in place of one that has it. From any
  /// thread. Source: `setValueTransformer(_:forName:)`.
  public static func setValueTransformer(_ transformer: ValueTransformer?, forName name: String) {
    registered.withLock { $0[name] = transformer }
  }

  /// The transformer of that name, nil when there is none. From any thread. Source: `valueTransformer(forName:)`.
  public static func valueTransformer(forName name: String) -> ValueTransformer? { registered.withLock { $0[name] } }

  /// The names of the registered transformers, in alphabetical order. Source: `valueTransformerNames()`.
  public static func valueTransformerNames() -> [String] { registered.withLock { $0.keys.sorted() } }

  /// Core Data's names for its own transformers, in whose place values are Codable here.
  static let defaultNames: Set<String> = [
    "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformerName",
    "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName", "NSUnarchiveFromData",
    "NSUnarchiveFromDataTransformerName",
  ]
}

/// The notation of Codable values in a slot.
enum CodableData {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return try encoder.encode(value)
  }

  static func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return try decoder.decode(type, from: data)
  }
}
