/// An error in using a fetch that the model describes.
public enum FetchTemplateError: Error, Sendable, Equatable {
  /// The model has no fetch request of that name.
  case unknownTemplate(name: String, known: [String])
  /// The entity has no fetched property of that name.
  case unknownFetchedProperty(entity: String, name: String)
  /// The predicate has variables without a value.
  case missingVariables(template: String, names: [String])
}

extension FetchTemplateError: CustomStringConvertible {
  /// The missing name.
  public var description: String {
    switch self {
    case .unknownTemplate(let name, let known):
      return "the model has no fetch request \(name); it has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
    case .unknownFetchedProperty(let entity, let name): return "\(entity) has no fetched property \(name)"
    case .missingVariables(let template, let names):
      let variables = names.map { "$" + $0 }.joined(separator: ", ")
      return "\(template) needs a value for \(variables): give it in the substitution variables"
    }
  }
}
