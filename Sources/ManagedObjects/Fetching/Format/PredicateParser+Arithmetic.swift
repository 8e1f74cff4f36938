/// Arithmetic, as `NSExpression` binds it:
///
///     operand = term { ("+" | "-") term }
///     term    = power { ("*" | "/") power }
///     power   = unary [ "**" power ]
///     unary   = "-" unary | postfix
extension PredicateParser {
  /// Parses a value, a key path, what is computed from them, or a list.
  mutating func operand() throws(PredicateFormatError) -> FetchPredicate.Expression {
    try descend()
    defer { ascend() }
    var expression = try term()
    var count = 1
    while let function = function(of: [.add, .subtract]) {
      try countTerm(&count)
      advance()
      expression = .function(function, [try number(expression), try number(try term())])
    }
    return expression
  }

  private mutating func term() throws(PredicateFormatError) -> FetchPredicate.Expression {
    var expression = try power()
    var count = 1
    while let function = function(of: [.multiply, .divide]) {
      try countTerm(&count)
      advance()
      expression = .function(function, [try number(expression), try number(try power())])
    }
    return expression
  }

  private mutating func power() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let base = try unary()
    guard token.kind == .symbol("**") else { return base }
    advance()
    try descend()
    defer { ascend() }
    return .function(.power, [try number(base), try number(try power())])
  }

  private mutating func unary() throws(PredicateFormatError) -> FetchPredicate.Expression {
    guard token.kind == .symbol("-") || token.kind == .symbol("+") else { return try postfix() }
    if case .number = tokens[position + 1].kind { return .constant(try literal()) }
    let isNegative = token.kind == .symbol("-")
    advance()
    try descend()
    defer { ascend() }
    let inner = try number(try unary())
    return isNegative ? .function(.negate, [inner]) : inner
  }

  private func function(of functions: [FetchPredicate.Function]) -> FetchPredicate.Function? {
    functions.first { $0.symbol.map { token.kind == .symbol($0) } ?? false }
  }

  private func countTerm(_ count: inout Int) throws(PredicateFormatError) {
    count += 1
    guard count <= Self.longest else {
      throw error(.unsupported("arithmetic of more than \(Self.longest) terms without parentheses"))
    }
  }

  private func number(
    _ expression: FetchPredicate.Expression
  ) throws(PredicateFormatError) -> FetchPredicate.Expression {
    guard !expression.isList else { throw error(.expected("a number", found: "a list, before this place")) }
    return expression
  }
}
