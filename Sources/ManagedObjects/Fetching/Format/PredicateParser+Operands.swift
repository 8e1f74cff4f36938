import Foundation

/// Values, key paths and lists:
///
///     primary = string | number | placeholder | "(" operand ")" | list | $variable | name | function
///     postfix = primary { "." name | "[" ( SIZE | FIRST | LAST | operand ) "]" }
///     list    = "{" [ operand { "," operand } ] "}"
extension PredicateParser {
  /// Parses a value and the names that lead on from it.
  mutating func postfix() throws(PredicateFormatError) -> FetchPredicate.Expression {
    var expression = try primary()
    var count = 0
    while true {
      count += 1
      guard count <= Self.deepest else { throw error(.unsupported("a value with \(Self.deepest) indexes")) }
      if token.kind == .symbol(".") {
        var names: [String] = []
        while accept(".") { names.append(try segment()) }
        expression = try member(of: expression, names)
      } else if token.kind == .symbol("[") {
        expression = try index(of: expression)
      } else {
        return expression
      }
    }
  }

  private func member(
    of base: FetchPredicate.Expression, _ names: [String]
  ) throws(PredicateFormatError) -> FetchPredicate.Expression {
    switch base {
    case .evaluatedObject: return .keyPath(names)
    case .keyPath(let first): return .keyPath(first + names)
    case .member(let inner, let first): return .member(of: inner, first + names)
    case .constant, .constants, .list: throw unexpected("an operator such as ==, <, IN, BETWEEN or CONTAINS")
    default: return .member(of: base, names)
    }
  }

  /// Parses `[SIZE]`, `[FIRST]`, `[LAST]` or a place.
  private mutating func index(
    of base: FetchPredicate.Expression
  ) throws(PredicateFormatError) -> FetchPredicate.Expression {
    let opening = token
    advance()
    let isName = tokens[min(position + 1, tokens.count - 1)].kind == .symbol("]")
    let expression: FetchPredicate.Expression
    switch token.keyword {
    case "SIZE" where isName:
      advance()
      expression = .function(.count, [base])
    case "FIRST" where isName:
      advance()
      expression = .element(of: base, at: .first)
    case "LAST" where isName:
      advance()
      expression = .element(of: base, at: .last)
    default:
      try descend()
      defer { ascend() }
      expression = .element(of: base, at: .at(try operand()))
    }
    try expect("]", closing: opening)
    return expression
  }

  private mutating func primary() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let start = token
    switch token.kind {
    case .string, .number:
      return .constant(try literal())
    case .symbol("("):
      advance()
      try descend()
      defer { ascend() }
      let inner = try operand()
      try expect(")", closing: start)
      return inner
    case .symbol("{"):
      return try list(closing: "}")
    case .placeholder(let letters):
      advance()
      return try argument(letters, at: start)
    case .word, .name:
      return try constantOrPath()
    case .variable(let name):
      advance()
      return .variable(name)
    default:
      throw unexpected("a value or a key path")
    }
  }

  /// Parses a string or a number.
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
    let negative = token.kind == .symbol("-")
    advance()
    guard case .number(let value) = token.kind else {
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
      case "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES",
        "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE":
        throw unexpected("a value or a key path (a property of that name is written #\(token.name))")
      default: break
      }
      if next == .symbol("(") || next == .symbol(":") { return try function() }
    }
    if token.keyword == "SELF" {
      advance()
      return .evaluatedObject
    }
    return .keyPath([try segment()])
  }

  private mutating func segment() throws(PredicateFormatError) -> String {
    switch token.kind {
    case .word(let name), .name(let name):
      advance()
      return name
    case .aggregate(let name):
      advance()
      return "@" + name
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
      return .path(path)
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

  // MARK: Lists

  /// Parses elements up to `closing`: constants, if all of them are.
  mutating func list(closing: String) throws(PredicateFormatError) -> FetchPredicate.Expression {
    let opening = token
    advance()
    var elements: [FetchPredicate.Expression] = []
    if !accept(closing) {
      repeat {
        let start = token
        let element = try operand()
        if case .constants = element, elements.isEmpty, token.kind == .symbol(closing) {
          advance()
          return element
        }
        if element.isList { throw error(.expected("a value", found: "a list within a list"), at: start) }
        elements.append(element)
      } while accept(",")
      try expect(closing, closing: opening)
    }
    let constants = elements.compactMap { element -> Value? in
      if case .constant(let value) = element { return value }
      return nil
    }
    return constants.count == elements.count ? .constants(constants) : .list(elements)
  }

  /// Parses the right side of `IN`: a list in braces or parentheses, a key path or subquery, or a placeholder.
  mutating func collection() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let start = token
    let given: FetchPredicate.Expression
    if start.kind == .symbol("(") {
      given = try list(closing: ")")
      // One expression in parentheses is itself, unless it is a value.
      if case .list(let elements) = given, elements.count == 1 { return elements[0] }
    } else {
      given = try operand()
    }
    if case .constant = given {
      if case .placeholder = start.kind {
        throw error(.expected("a list after IN", found: "the single argument of \(start.name)"), at: start)
      }
      throw error(.expected("a list in braces after IN", found: start.name), at: start)
    }
    return given
  }

  /// Parses the two ends of `BETWEEN`.
  mutating func bounds() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let start = token
    let given = start.kind == .symbol("(") ? try list(closing: ")") : try operand()
    let count: Int
    switch given {
    case .constants(let values): count = values.count
    case .list(let elements): count = elements.count
    // A variable: the list comes later.
    case .variable: return given
    default:
      let found: String
      if case .placeholder = start.kind { found = "the single argument of \(start.name)" } else { found = start.name }
      throw error(.expected("a list in braces after BETWEEN", found: found), at: start)
    }
    guard count == 2 else {
      throw error(.expected("two values for BETWEEN", found: "\(count)"), at: tokens[position - 1])
    }
    return given
  }
}
