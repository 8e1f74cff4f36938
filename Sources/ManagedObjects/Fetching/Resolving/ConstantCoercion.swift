import Foundation

/// Converts a constant to the type it is compared with, so that all evaluators compare like with like.
///
/// A string becomes a date (ISO 8601), UUID or URI if the property is one. A number takes the property's type if that is
/// lossless: an integer becomes a double or decimal, a double a decimal by its shortest digits, a boolean 1 or 0. For a
/// float property the constant is rounded to a float, as stored values are. A number never becomes a string, nor
/// a string a number.
struct ConstantCoercion {
  private let target: ResolvedExpression

  init(_ target: ResolvedExpression) { self.target = target }

  func coerce(_ value: Value) throws(FetchPredicateError) -> Value {
    if value.comparisonKey.isNull { return .null }
    if case .path(let path) = target {
      if let entity = path.objectEntity { return try object(value, of: entity) }
      if case .attribute(let attribute) = path.end { return try fitting(value, path.kind, attribute.type) }
    }
    // Computed numbers may be integers or doubles, and compare by value.
    guard let kind = target.kind else { return value }
    return try fitting(value, kind, target.isDecimal ? .decimal : .undefined)
  }

  private func mismatch(_ value: Value, _ expected: String) -> FetchPredicateError {
    let kind = ValueKind(value).map { "\($0.rawValue), " } ?? ""
    return .mismatch(
      property: target.name, type: target.typeName,
      value: "\(kind)\(FetchPredicate.Expression.constant(value))", expected: expected)
  }

  private func object(_ value: Value, of entity: EntityDescription) throws(FetchPredicateError) -> Value {
    guard case .object(let id) = value else { throw mismatch(value, "an object ID or nil") }
    guard id.entity.isKindOf(entity) || entity.isKindOf(id.entity) else {
      throw mismatch(value, "an object ID of \(entity.name)")
    }
    return value
  }

  private func fitting(
    _ value: Value, _ kind: ValueKind, _ type: AttributeType
  ) throws(FetchPredicateError) -> Value {
    switch kind {
    case .number:
      guard ValueKind(value) == .number else { throw mismatch(value, "a number") }
      return number(value, type)
    case .string:
      guard ValueKind(value) == .string else { throw mismatch(value, "a string") }
      return value
    case .date:
      if case .date = value { return value }
      if case .string(let text) = value, let date = ISODate.date(parsing: text) { return .date(date) }
      throw mismatch(value, "a date, or a string with one such as '2024-05-31' or '2024-05-31 14:30:00Z'")
    case .uuid:
      if case .uuid = value { return value }
      if case .string(let text) = value, let uuid = UUID(uuidString: text) { return .uuid(uuid) }
      throw mismatch(value, "a UUID, or a string with one")
    case .uri:
      if case .uri = value { return value }
      if case .string(let text) = value, let url = URL(string: text) { return .uri(url) }
      throw mismatch(value, "a URI, or a string with one")
    case .data:
      guard case .data = value else { throw mismatch(value, "data") }
      return value
    case .object:
      guard case .object = value else { throw mismatch(value, "an object ID or nil") }
      return value
    case .opaque: throw mismatch(value, "nil")
    }
  }

  private func number(_ value: Value, _ type: AttributeType) -> Value {
    switch (type, value) {
    case (.decimal, .double(let double)):
      if let decimal = Decimal(string: "\(double)"), !decimal.isNaN { return .decimal(decimal) }
      return value
    case (.decimal, .int(let integer)): return .decimal(Decimal(integer))
    case (.decimal, .bool(let bool)): return .decimal(bool ? 1 : 0)
    case (.float, _):
      guard let double = value.doubleValue else { return value }
      return .double(Double(Float(double)))
    case (.double, .int), (.double, .bool):
      // An integer that a double can't represent stays an integer, and compares as one.
      guard case .int(let integer) = value.comparisonKey, let double = Double(exactly: integer) else { return value }
      return .double(double)
    default: return value.comparisonKey
    }
  }
}

extension Value {
  /// The number as a double, nil if it isn't one.
  fileprivate var doubleValue: Double? {
    switch self {
    case .int(let integer): return Double(integer)
    case .double(let double): return double
    case .decimal(let decimal): return Double(decimal.description)
    case .bool(let bool): return bool ? 1 : 0
    default: return nil
    }
  }
}
