/// Why data couldn't be imported.
public enum MagicalImportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A value that the attribute's type can't represent.
  case unfit(entity: String, attribute: String, type: String, value: String)
  /// A date that doesn't have the model's format.
  case date(entity: String, attribute: String, format: String, value: String)
  /// A value without keys in place of an object of the entity.
  case notAnObject(entity: String, value: String)

  /// What can't be imported, and what to do.
  public var description: String {
    switch self {
    case .unfit(let entity, let attribute, let type, let value):
      return "\(entity).\(attribute) is of type \(type), which \(value) isn't: "
        + "import it by hand in importValue(_:forKey:), or mend the data"
    case .date(let entity, let attribute, let format, let value):
      return "\(entity).\(attribute) can't be read from \(value) by the format \(format): "
        + "say the data's own as dateFormat in the attribute's userInfo"
    case .notAnObject(let entity, let value):
      return "an object of \(entity) can't be imported from \(value): it needs values by key"
    }
  }
}
