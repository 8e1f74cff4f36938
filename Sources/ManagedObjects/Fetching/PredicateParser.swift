/// Reads a predicate, by recursive descent over its tokens:
///
///     predicate  = conjunct { OR conjunct }
///     conjunct   = factor { AND factor }
///     factor     = NOT factor | "(" predicate ")" | TRUEPREDICATE | FALSEPREDICATE | comparison
///     comparison = operand operator [options] operand
///
/// A parenthesis may open a predicate or an operand, `(a) == 1`; which one is found out by trying. Depth is bounded,
/// and nothing recurses without counting, for formats come from outside.
struct PredicateParser {
  let format: String
  let arguments: [PredicateArgument]
  let tokens: [PredicateToken]
  var position = 0
  var usedArguments = 0
  private var depth = 0

  static let deepest = 100

  init(_ format: String, arguments: [PredicateArgument]) throws(PredicateFormatError) {
    self.format = format
    self.arguments = arguments
    self.tokens = try PredicateLexer.tokens(of: format)
  }

  var token: PredicateToken { tokens[position] }

  func error(_ problem: PredicateFormatError.Problem, at token: PredicateToken? = nil) -> PredicateFormatError {
    PredicateFormatError(problem, format: format, scalarOffset: (token ?? self.token).offset)
  }

  func unexpected(_ expected: String) -> PredicateFormatError { error(.expected(expected, found: token.name)) }

  mutating func advance() { if position < tokens.count - 1 { position += 1 } }

  mutating func accept(_ symbol: String) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(_ symbol: String, closing opening: PredicateToken) throws(PredicateFormatError) {
    guard accept(symbol) else {
      throw unexpected("\(symbol) for the \(opening.name) at column \(opening.offset + 1)")
    }
  }

  mutating func parse() throws(PredicateFormatError) -> FetchPredicate {
    let predicate = try disjunction()
    guard token.kind == .end else {
      try refuseArithmetic()
      throw unexpected("AND, OR or the end")
    }
    guard usedArguments == arguments.count else {
      throw error(
        .argument("the format has \(usedArguments) placeholders, but there are \(arguments.count) arguments"))
    }
    return predicate
  }

  private mutating func disjunction() throws(PredicateFormatError) -> FetchPredicate {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { throw error(.unsupported("a predicate nested \(Self.deepest) deep")) }
    var parts = [try conjunction()]
    while token.keyword == "OR" || token.kind == .symbol("||") {
      advance()
      parts.append(try conjunction())
    }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(PredicateFormatError) -> FetchPredicate {
    var parts = [try factor()]
    while token.keyword == "AND" || token.kind == .symbol("&&") {
      advance()
      parts.append(try factor())
    }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func factor() throws(PredicateFormatError) -> FetchPredicate {
    var negations = 0
    while token.keyword == "NOT" || token.kind == .symbol("!") {
      advance()
      negations += 1
    }
    guard negations < Self.deepest else { throw error(.unsupported("NOT \(negations) times over")) }
    var predicate = try primary()
    for _ in 0..<negations { predicate = .not(predicate) }
    return predicate
  }

  private mutating func primary() throws(PredicateFormatError) -> FetchPredicate {
    if token.kind == .symbol("("), !opensOperand {
      let opening = token
      advance()
      let inner = try disjunction()
      if token.kind != .symbol(")") { try refuseArithmetic() }
      try expect(")", closing: opening)
      return inner
    }
    switch token.keyword {
    case "TRUEPREDICATE":
      advance()
      return .constant(true)
    case "FALSEPREDICATE":
      advance()
      return .constant(false)
    case "ANY", "SOME", "ALL", "NONE":
      throw error(.unsupported("\(token.name) over a to-many relationship"))
    default:
      return try comparison()
    }
  }

  /// Whether the parenthesis here encloses one operand, as in `(name) == 'x'`: tried on a copy.
  private var opensOperand: Bool {
    var trial = self
    guard (try? trial.operand()) != nil else { return false }
    return trial.operatorName(of: trial.token) != nil
  }

  private mutating func comparison() throws(PredicateFormatError) -> FetchPredicate {
    let start = token
    let left = try operand()
    if case .constants = left { throw error(.expected("a value or a key path", found: "a list"), at: start) }
    try refuseArithmetic()
    guard let name = operatorName(of: token) else {
      if token.keyword == "NOT" { throw unexpected("an operator (NOT stands before the comparison)") }
      throw unexpected("an operator such as ==, <, IN, BETWEEN or CONTAINS")
    }
    advance()
    var options: FetchPredicate.Options = []
    if case .options(let given) = token.kind {
      options = given
      advance()
    }
    let right =
      switch name {
      case .isIn: try list("IN")
      case .between: try list("BETWEEN")
      default: try operand()
      }
    if name == .between, case .constants(let bounds) = right, bounds.count != 2 {
      throw error(.expected("two values for BETWEEN", found: "\(bounds.count)"), at: tokens[position - 1])
    }
    if name != .isIn, name != .between, case .constants = right {
      throw error(
        .expected("one value or a key path after \(name.rawValue)", found: "a list"), at: tokens[position - 1])
    }
    try refuseArithmetic()
    return .comparison(left, name, right, options: options)
  }

  private func operatorName(of token: PredicateToken) -> FetchPredicate.Operator? {
    switch token.kind {
    case .symbol("="), .symbol("=="): return .equal
    case .symbol("!="), .symbol("<>"): return .notEqual
    case .symbol("<"): return .less
    case .symbol("<="), .symbol("=<"): return .lessOrEqual
    case .symbol(">"): return .greater
    case .symbol(">="), .symbol("=>"): return .greaterOrEqual
    default:
      guard let keyword = token.keyword else { return nil }
      return [.isIn, .between, .beginsWith, .endsWith, .contains, .like, .matches].first { $0.rawValue == keyword }
    }
  }

  func refuseArithmetic() throws(PredicateFormatError) {
    guard case .symbol(let symbol) = token.kind, ["+", "-", "*", "/", "**", ":="].contains(symbol) else { return }
    throw error(.unsupported("arithmetic with \(symbol)"))
  }
}
