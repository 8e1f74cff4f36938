import Foundation

/// `CAST(value, "type")`. The cast of a literal is a constant, as Core Data writes values that have no literal.
extension PredicateParser {
  mutating func cast() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let start = token
    advance()
    let opening = token
    advance()
    let expression = try operand()
    guard accept(","), case .string(let type) = token.kind else { throw unexpected("a comma and the name of a type") }
    advance()
    try expect(")", closing: opening)
    if case .constant(let value) = expression {
      guard let result = Self.cast(value, to: type) else {
        throw error(.unsupported("CAST of \(expression) to \(type)"), at: start)
      }
      return .constant(result)
    }
    guard let known = FetchPredicate.CastType(rawValue: type), !expression.isList else {
      throw error(.unsupported("CAST to \(type)"), at: start)
    }
    return .cast(expression, to: known)
  }

  private static func cast(_ value: Value, to type: String) -> Value? {
    switch (type, value) {
    case ("NSDate", .null), ("NSDecimalNumber", .null), ("NSNumber", .null), ("NSString", .null), ("NSUUID", .null),
      ("NSURL", .null), ("NSData", .null):
      return .null
    case ("NSDate", .int(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case ("NSDate", .double(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case ("NSDate", .string(let text)): return ISODate.date(parsing: text).map(Value.date)
    case ("NSDecimalNumber", .string(let text)): return Decimal(string: text).map(Value.decimal)
    case ("NSDecimalNumber", .int(let integer)): return .decimal(Decimal(integer))
    case ("NSDecimalNumber", .double(let double)): return Decimal(string: "\(double)").map(Value.decimal)
    case ("NSNumber", .string(let text)): return Double(text).map(Value.double)
    case ("NSNumber", .int), ("NSNumber", .double), ("NSNumber", .bool), ("NSString", .string): return value
    case ("NSString", .int), ("NSString", .double), ("NSString", .decimal), ("NSString", .date):
      return FetchPredicate.CastType.string.value(of: value)
    case ("NSNumber", .date): return FetchPredicate.CastType.number.value(of: value)
    case ("NSDate", .date), ("NSDecimalNumber", .decimal): return value
    case ("NSUUID", .string(let text)): return UUID(uuidString: text).map(Value.uuid)
    case ("NSURL", .string(let text)): return URL(string: text).map(Value.uri)
    case ("NSData", .string(let text)): return Data(base64Encoded: text).map(Value.data)
    default: return nil
    }
  }
}
