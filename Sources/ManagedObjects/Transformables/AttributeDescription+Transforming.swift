// Secure by default: the data never chooses the type to decode. The program asks for a type, and gets it only if the model
// declares it for the attribute, or if the attribute's transformer is registered for it.

package import Foundation
import Synchronization

extension AttributeDescription {
  /// Whether it is a transformable attribute of a Codable type: its data is JSON.
  package var isCodable: Bool {
    type == .transformable && (definition.valueTransformerName.map(ValueTransformer.defaultNames.contains) ?? true)
  }

  /// Strings as the data of a transformable attribute that holds an array of them: one whose class is `[String]` or
  /// `NSArray`, or whose transformer is of `[String]`.
  /// - Throws: ``TransformableError``.
  package func data(of strings: [String]) throws(TransformableError) -> Data { try transformed(strings) }

  /// A value as the attribute's data.
  /// - Throws: ``TransformableError``.
  func transformed<T>(_ value: T) throws(TransformableError) -> Data {
    let codec = try codec(for: T.self)
    do {
      switch codec {
      case .codable:
        guard let value = value as? any Encodable else { throw notCodable(T.self) }
        return try CodableData.encode(value)
      case .named(let transformer):
        guard let data = try transformer.data(from: value) else { throw mismatch(T.self, "\(transformer.valueType)") }
        return data
      }
    } catch let error as TransformableError {
      throw error
    } catch {
      throw .unencodable(entity: entity.name, attribute: name, type: "\(T.self)", reason: "\(error)")
    }
  }

  /// The value of the attribute's data.
  /// - Throws: ``TransformableError``.
  func value<T>(_ type: T.Type, from data: Data) throws(TransformableError) -> T {
    let codec = try codec(for: type)
    do {
      let value: Any
      switch codec {
      case .codable(let codable): value = try CodableData.decode(codable, from: data)
      case .named(let transformer): value = try transformer.value(from: data)
      }
      guard let typed = value as? T else { throw mismatch(type, "\(Swift.type(of: value))") }
      return typed
    } catch let error as TransformableError {
      throw error
    } catch {
      throw .undecodable(entity: entity.name, attribute: name, type: "\(type)", reason: Self.words(for: error))
    }
  }

  private enum Codec {
    case codable(any Decodable.Type)
    case named(ValueTransformer)
  }

  private func codec<T>(for type: T.Type) throws(TransformableError) -> Codec {
    guard self.type == .transformable else {
      throw .notTransformable(entity: entity.name, attribute: name, type: self.type.rawValue)
    }
    if let name = definition.valueTransformerName, !ValueTransformer.defaultNames.contains(name) {
      guard let transformer = ValueTransformer.valueTransformer(forName: name) else {
        throw .unknownTransformer(entity: entity.name, attribute: self.name, name: name)
      }
      guard transformer.valueType == type else { throw mismatch(type, "\(transformer.valueType)") }
      return .named(transformer)
    }
    guard DeclaredTypes.declares(self, type) else { throw mismatch(type, definition.attributeValueClassName) }
    guard let codable = type as? any (Decodable & Encodable).Type else { throw notCodable(type) }
    return .codable(codable)
  }

  private func mismatch<T>(_ type: T.Type, _ declared: String?) -> TransformableError {
    .typeMismatch(entity: entity.name, attribute: name, declared: declared, requested: "\(type)")
  }

  private func notCodable<T>(_ type: T.Type) -> TransformableError {
    .notCodable(entity: entity.name, attribute: name, requested: "\(type)")
  }

  /// A short form of a decoding error: where and what.
  private static func words(for error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return (path.isEmpty ? "" : "\(path): ") + context.debugDescription
    @unknown default: return "\(error)"
    }
  }
}

/// A cache of the types that attributes declare.
private enum DeclaredTypes {
  private struct Question: Hashable {
    let attribute: AttributeDescription
    let type: ObjectIdentifier
  }

  private static let answers = Mutex<[Question: Bool]>([:])

  static func declares<T>(_ attribute: AttributeDescription, _ type: T.Type) -> Bool {
    let question = Question(attribute: attribute, type: ObjectIdentifier(type))
    return answers.withLock { answers in
      if let known = answers[question] { return known }
      let declared = attribute.definition.attributeValueClassName.flatMap { TypeName($0) }
      let answer = declared.map { name in TypeName(String(reflecting: type)).map { name.means($0) } ?? false } ?? false
      answers[question] = answer
      return answer
    }
  }
}
