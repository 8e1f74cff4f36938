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
