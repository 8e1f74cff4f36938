import Foundation

/// `CAST(constant, "type")`: how constants without a literal of their own are written, as Core Data writes them.
extension PredicateParser {
  mutating func castConstant() throws(PredicateFormatError) -> Value {
    let start = token
    advance()
    let opening = token
    advance()
    let value = try literal()
    guard accept(","), case .string(let type) = token.kind else { throw unexpected("a comma and the name of a type") }
    advance()
    try expect(")", closing: opening)
    guard let result = Self.cast(value, to: type) else {
      throw error(.unsupported("CAST of \(FetchPredicate.Expression.constant(value)) to \(type)"), at: start)
    }
    return result
  }

  private static func cast(_ value: Value, to type: String) -> Value? {
    switch (type, value) {
    case ("NSDate", .int(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case ("NSDate", .double(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case ("NSDate", .string(let text)): return ISODate.date(parsing: text).map(Value.date)
    case ("NSDecimalNumber", .string(let text)): return Decimal(string: text).map(Value.decimal)
    case ("NSDecimalNumber", .int(let integer)): return .decimal(Decimal(integer))
    case ("NSDecimalNumber", .double(let double)): return Decimal(string: "\(double)").map(Value.decimal)
    case ("NSNumber", .string(let text)): return Double(text).map(Value.double)
    case ("NSUUID", .string(let text)): return UUID(uuidString: text).map(Value.uuid)
    case ("NSURL", .string(let text)): return URL(string: text).map(Value.uri)
    case ("NSData", .string(let text)): return Data(base64Encoded: text).map(Value.data)
    default: return nil
    }
  }
}
