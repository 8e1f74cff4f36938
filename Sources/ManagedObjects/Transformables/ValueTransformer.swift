import Synchronization
public import Foundation

/// Encodes and decodes values of one type, for transformable attributes.
///
/// An attribute that names no transformer, or one of Core Data's own, uses Codable (see ``codable(_:)``). Any other transformer
/// must be registered under its name before values are read or written:
///
/// ```swift
/// ValueTransformer.setValueTransformer(
///   ValueTransformer(Color.self, encode: { $0.bytes }, decode: { try Color(bytes: $0) }), forName: "ColorTransformer")
/// ```
///
/// Source: `NSSecureUnarchiveFromDataTransformer`. As there, a transformer fixes the type it produces, and the data can't
/// choose another. Unlike there, it is a value with two throwing closures instead of a class.
public struct ValueTransformer: Sendable {
  /// The type of the values.
  public let valueType: any Any.Type
  private let encode: @Sendable (Any) throws -> Data?
  private let decode: @Sendable (Data) throws -> Any

  /// A transformer of values of `type`.
  ///
  /// Equal values should give equal data: an attribute counts as changed when its data does.
  /// - Parameters:
  ///   - encode: encodes a value for storage. Called on the context's queue.
  ///   - decode: decodes stored data, or throws if it isn't valid. Called on the context's queue.
  public init<T>(
    _ type: T.Type, encode: @escaping @Sendable (T) throws -> Data, decode: @escaping @Sendable (Data) throws -> T
  ) {
    valueType = type
    self.encode = { value in try (value as? T).map(encode) }
    self.decode = decode
  }

  /// The transformer for Codable values, the default of attributes that name no other.
  ///
  /// The data is JSON, readable in any SQL shell, with sorted keys, so that equal values have equal data. Dates are seconds
  /// since 2001, without loss; data is Base64; infinities and NaN are the strings `Infinity`, `-Infinity` and `NaN`.
  public static func codable<T: Codable & SendableMetatype>(_ type: T.Type) -> ValueTransformer {
    ValueTransformer(type, encode: { try CodableData.encode($0) }, decode: { try CodableData.decode(type, from: $0) })
  }

  /// Encodes a value of ``valueType``; nil for another type.
  public func data(from value: Any) throws -> Data? { try encode(value) }

  /// Decodes data.
  public func value(from data: Data) throws -> Any { try decode(data) }
}

extension ValueTransformer {
  private static let registered = Mutex<[String: ValueTransformer]>([:])

  /// Registers a transformer under the name that attributes use, replacing any other. Safe from any thread. Source: `setValueTransformer(_:forName:)`.
  public static func setValueTransformer(_ transformer: ValueTransformer?, forName name: String) {
    registered.withLock { $0[name] = transformer }
  }

  /// The transformer of that name, nil if there is none. Safe from any thread. Source: `valueTransformer(forName:)`.
  public static func valueTransformer(forName name: String) -> ValueTransformer? { registered.withLock { $0[name] } }

  /// The names of the registered transformers, in alphabetical order. Source: `valueTransformerNames()`.
  public static func valueTransformerNames() -> [String] { registered.withLock { $0.keys.sorted() } }

  /// The names of Core Data's own transformers, which Codable replaces here.
  static let defaultNames: Set<String> = [
    "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformerName",
    "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName", "NSUnarchiveFromData",
    "NSUnarchiveFromDataTransformerName",
  ]
}

/// The notation of Codable values in a slot.
package enum CodableData {
  package static func encode(_ value: some Encodable) throws -> Data {
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

/// Why the value of a transformable attribute can't be read or written.
public enum TransformableError: Error, Sendable, Equatable {
  /// The attribute isn't transformable.
  case notTransformable(entity: String, attribute: String, type: String)
  /// No transformer is registered under the name that the attribute gives.
  case unknownTransformer(entity: String, attribute: String, name: String)
  /// The requested type isn't the one that the attribute declares or its transformer produces; `declared` is nil if the
  /// attribute declares none.
  case typeMismatch(entity: String, attribute: String, declared: String?, requested: String)
  /// The attribute is Codable, and the type isn't.
  case notCodable(entity: String, attribute: String, requested: String)
  /// The stored data isn't a value of the type.
  case undecodable(entity: String, attribute: String, type: String, reason: String)
  /// The value can't be encoded.
  case unencodable(entity: String, attribute: String, type: String, reason: String)
}

extension TransformableError: CustomStringConvertible {
  /// The failure, the attribute, and what to do.
  public var description: String {
    switch self {
    case .notTransformable(let entity, let attribute, let type):
      return "\(entity).\(attribute) is \(type) and not Transformable: read it as that"
    case .unknownTransformer(let entity, let attribute, let name):
      return "\(entity).\(attribute) has the transformer \(name), which isn't registered: call "
        + "ValueTransformer.setValueTransformer(_:forName: \"\(name)\") before"
    case .typeMismatch(let entity, let attribute, let declared?, let requested):
      return "\(entity).\(attribute) holds values of \(declared), not of \(requested)"
    case .typeMismatch(let entity, let attribute, nil, let requested):
      return "\(entity).\(attribute) declares no type, so that nothing is decoded: enter \(requested) as its custom "
        + "class in the model (customClassName), or the name of a transformer that is registered for it"
    case .notCodable(let entity, let attribute, let requested):
      return "\(entity).\(attribute) names no transformer of its own, and \(requested) isn't Codable: make it Codable, "
        + "or register a transformer for it and enter its name in the model"
    case .undecodable(let entity, let attribute, let type, let reason):
      return "what is stored in \(entity).\(attribute) isn't a \(type): \(reason)"
    case .unencodable(let entity, let attribute, let type, let reason):
      return "a \(type) for \(entity).\(attribute) can't be turned into data: \(reason)"
    }
  }
}
