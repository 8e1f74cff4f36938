import Foundation

/// Functions: `abs(x)`, `modulus:by:(a, b)`, and the keywords that are written like them: `CAST`, `TERNARY`, `SUBQUERY` and
/// `FUNCTION`.
extension PredicateParser {
  mutating func function() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let next = tokens[min(position + 1, tokens.count - 1)].kind
    switch token.keyword {
    case "CAST" where next == .symbol("("): return try cast()
    case "TERNARY" where next == .symbol("("): return try ternary()
    case "SUBQUERY" where next == .symbol("("): return try subquery()
    case "FUNCTION" where next == .symbol("("): return try method()
    default: break
    }
    let start = token
    let name = try functionName()
    guard let function = FetchPredicate.Function(named: name) else {
      throw error(.unsupported("the function \(name)"), at: start)
    }
    let arguments = try readArguments()
    if function.isAggregate, arguments.count > 1 { return .function(function, [.list(arguments)]) }
    guard arguments.count == function.argumentCount else {
      let wanted = function.argumentCount
      throw error(
        .expected("\(wanted) argument\(wanted == 1 ? "" : "s") for \(name)", found: "\(arguments.count)"), at: start)
    }
    return .function(function, arguments)
  }

  /// Parses `name`, or `name:other:`.
  private mutating func functionName() throws(PredicateFormatError) -> String {
    var name = ""
    while case .word(let part) = token.kind {
      name += part
      advance()
      guard accept(":") else { break }
      name += ":"
    }
    guard token.kind == .symbol("(") else { throw unexpected("( after the function \(name)") }
    return name
  }

  /// Parses arguments in parentheses.
  private mutating func readArguments() throws(PredicateFormatError) -> [FetchPredicate.Expression] {
    let opening = token
    advance()
    var arguments: [FetchPredicate.Expression] = []
    if accept(")") { return arguments }
    repeat { arguments.append(try operand()) } while accept(",")
    try expect(")", closing: opening)
    return arguments
  }

  private mutating func comma() throws(PredicateFormatError) {
    guard accept(",") else { throw unexpected("a comma") }
  }

  private mutating func ternary() throws(PredicateFormatError) -> FetchPredicate.Expression {
    advance()
    let opening = token
    advance()
    let predicate = try disjunction()
    try comma()
    let first = try operand()
    try comma()
    let second = try operand()
    try expect(")", closing: opening)
    return .conditional(predicate, then: first, otherwise: second)
  }

  private mutating func subquery() throws(PredicateFormatError) -> FetchPredicate.Expression {
    advance()
    let opening = token
    advance()
    let collection = try operand()
    try comma()
    guard case .variable(let variable) = token.kind else { throw unexpected("a variable such as $x") }
    advance()
    try comma()
    let predicate = try disjunction()
    try expect(")", closing: opening)
    return .subquery(.init(collection, variable: variable, predicate: predicate))
  }

  /// Parses `FUNCTION(receiver, 'selector:', argument)`, a call of a Foundation method that has an equivalent function.
  private mutating func method() throws(PredicateFormatError) -> FetchPredicate.Expression {
    advance()
    let opening = token
    advance()
    let receiver = try operand()
    try comma()
    let place = token
    guard case .string(let selector) = token.kind else { throw unexpected("the name of a method in quotes") }
    advance()
    var arguments: [FetchPredicate.Expression] = []
    while accept(",") { arguments.append(try operand()) }
    try expect(")", closing: opening)
    guard let function = Self.methods[selector] else {
      throw error(.unsupported("the method \(selector) of FUNCTION"), at: place)
    }
    let wanted = function.argumentCount - 1
    guard arguments.count == wanted else {
      throw error(
        .expected("\(wanted) argument\(wanted == 1 ? "" : "s") for \(selector)", found: "\(arguments.count)"),
        at: place)
    }
    return .function(function, [receiver] + arguments)
  }

  private static let methods: [String: FetchPredicate.Function] = [
    "lowercaseString": .lowercase, "uppercaseString": .uppercase, "length": .length,
    "dateByAddingTimeInterval:": .add, "timeIntervalSinceDate:": .subtract,
  ]
}

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
