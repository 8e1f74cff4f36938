import Foundation

extension PredicateParser {
  /// Reads a value, a key path, or a list that a placeholder stands for; parentheses may enclose it.
  mutating func operand() throws(PredicateFormatError) -> FetchPredicate.Expression {
    var openings: [PredicateToken] = []
    while token.kind == .symbol("(") {
      openings.append(token)
      guard openings.count < Self.deepest else { throw error(.unsupported("an operand in so many parentheses")) }
      advance()
    }
    let inner = try bareOperand()
    while let opening = openings.popLast() {
      try refuseArithmetic()
      try expect(")", closing: opening)
    }
    return inner
  }

  private mutating func bareOperand() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let start = token
    switch token.kind {
    case .string, .number, .symbol("-"), .symbol("+"):
      return .constant(try literal())
    case .placeholder(let letters):
      advance()
      return try argument(letters, at: start)
    case .word, .name:
      return try constantOrPath()
    case .variable(let name):
      throw error(.unsupported("the variable $\(name)"))
    case .aggregate(let name):
      throw error(.unsupported("@\(name)"))
    default:
      throw unexpected("a value or a key path")
    }
  }

  /// Reads a string or a number.
  mutating func literal() throws(PredicateFormatError) -> Value {
    switch token.kind {
    case .string(let text):
      advance()
      return .string(text)
    case .number(let value):
      advance()
      return value
    case .symbol("-"), .symbol("+"):
      return try signedNumber()
    default:
      throw unexpected("a string or a number")
    }
  }

  private mutating func signedNumber() throws(PredicateFormatError) -> Value {
    let start = token
    let negative = token.kind == .symbol("-")
    advance()
    guard case .number(let value) = token.kind else {
      if negative, case .word = token.kind { throw error(.unsupported("arithmetic with -"), at: start) }
      throw unexpected("a number after the sign")
    }
    advance()
    guard negative else { return value }
    switch value {
    case .int(let integer): return .int(-integer)
    case .double(let double): return .double(-double)
    // 9223372036854775808 is no Int64, but its negative is.
    case .decimal(let decimal): return -decimal == Decimal(Int64.min) ? .int(.min) : .decimal(-decimal)
    default: return value
    }
  }

  private mutating func constantOrPath() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let next = tokens[min(position + 1, tokens.count - 1)].kind
    if let keyword = token.keyword, next != .symbol(".") {
      switch keyword {
      case "TRUE", "YES":
        advance()
        return .constant(.bool(true))
      case "FALSE", "NO":
        advance()
        return .constant(.bool(false))
      case "NIL", "NULL":
        advance()
        return .constant(.null)
      case "CAST" where next == .symbol("("): return .constant(try castConstant())
      case "SUBQUERY": throw error(.unsupported("SUBQUERY"))
      case "TERNARY", "FUNCTION": throw error(.unsupported(keyword))
      case "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES",
        "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE":
        throw unexpected("a value or a key path (a property of that name is written #\(token.name))")
      default: break
      }
      if next == .symbol("(") || next == .symbol(":") { throw error(.unsupported("the function \(token.name)")) }
    }
    return try keyPath()
  }

  /// Reads names with dots between.
  private mutating func keyPath() throws(PredicateFormatError) -> FetchPredicate.Expression {
    guard token.keyword == "SELF" else { return try keyPath(after: [try segment()]) }
    advance()
    return try keyPath(after: [])
  }

  private mutating func segment() throws(PredicateFormatError) -> String {
    switch token.kind {
    case .word(let name), .name(let name):
      advance()
      return name
    case .aggregate(let name): throw error(.unsupported("@\(name)"))
    default: throw unexpected("the name of a property")
    }
  }

  private mutating func argument(
    _ letters: String, at start: PredicateToken
  ) throws(PredicateFormatError) -> FetchPredicate.Expression {
    guard usedArguments < arguments.count else {
      throw error(.argument("there is no argument for %\(letters), the placeholder \(usedArguments + 1)"), at: start)
    }
    let argument = arguments[usedArguments]
    usedArguments += 1
    switch (letters, argument) {
    case ("K", .value(.string(let path))):
      let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard names.allSatisfy({ !$0.isEmpty }) else {
        throw error(.argument("\(path.debugDescription), the argument of %K, isn't a key path"), at: start)
      }
      if names[0].uppercased() == "SELF" { return try keyPath(after: Array(names.dropFirst())) }
      return try keyPath(after: names)
    case ("K", _): throw error(.argument("the argument of %K must be a string with a key path"), at: start)
    case ("@", .value(let value)): return .constant(value)
    case ("@", .list(let values)): return .constants(values)
    case ("s", .value(let value)):
      if case .string = value { return .constant(value) }
      throw error(.argument("the argument of %s must be a string"), at: start)
    case ("f", .value(let value)), ("lf", .value(let value)), ("g", .value(let value)):
      switch value {
      case .int(let integer): return .constant(.double(Double(integer)))
      case .double, .decimal: return .constant(value)
      default: throw error(.argument("the argument of %\(letters) must be a number"), at: start)
      }
    case (_, .value(let value)):
      switch value {
      case .int: return .constant(value)
      case .bool(let bool): return .constant(.int(bool ? 1 : 0))
      default: throw error(.argument("the argument of %\(letters) must be a whole number"), at: start)
      }
    case (_, .list): throw error(.argument("a list is the argument of %@, not of %\(letters)"), at: start)
    }
  }

  private mutating func keyPath(after names: [String]) throws(PredicateFormatError) -> FetchPredicate.Expression {
    var names = names
    while accept(".") { names.append(try segment()) }
    return names.isEmpty ? .evaluatedObject : .keyPath(names)
  }

  /// Reads `{a, b}`, `(a, b)`, or a placeholder whose argument is a list.
  mutating func list(_ keyword: String) throws(PredicateFormatError) -> FetchPredicate.Expression {
    let opening = token
    if case .placeholder = opening.kind {
      let given = try operand()
      if case .constants = given { return given }
      throw error(.expected("a list after \(keyword)", found: "the single argument of \(opening.name)"), at: opening)
    }
    let closing: String
    if accept("{") {
      closing = "}"
    } else if accept("(") {
      closing = ")"
    } else {
      throw unexpected("a list in braces after \(keyword)")
    }
    var values: [Value] = []
    if !accept(closing) {
      repeat {
        let element = token
        switch try operand() {
        case .constant(let value): values.append(value)
        case .constants(let inner) where values.isEmpty && token.kind == .symbol(closing): values = inner
        case .constants: throw error(.expected("a value", found: "a list within a list"), at: element)
        case .keyPath, .evaluatedObject:
          throw error(.expected("a value", found: "the key path \(element.name), which a list can't hold"), at: element)
        }
      } while accept(",")
      try expect(closing, closing: opening)
    }
    return .constants(values)
  }
}
