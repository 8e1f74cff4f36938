/// Parses a predicate, by recursive descent over its tokens:
///
///     predicate  = conjunct { OR conjunct }
///     conjunct   = factor { AND factor }
///     factor     = NOT factor | "(" predicate ")" | TRUEPREDICATE | FALSEPREDICATE | comparison
///     comparison = [ANY | SOME | ALL | NONE] operand operator [options] operand
///
/// A parenthesis may open a predicate or an operand, `(a) == 1`; the parser tries the operand first, once per parenthesis.
/// Formats come from untrusted sources, so the depth of recursion is bounded.
struct PredicateParser {
  let format: String
  let arguments: [PredicateArgument]
  let tokens: [PredicateToken]
  var position = 0
  var usedArguments = 0
  private var depth = 0
  private let trials = Trials()

  /// Results of such trials: whether an operand begins at a token. Shared by the copies that try.
  private final class Trials {
    var results: [Int: Bool] = [:]
  }

  static let deepest = 100
  /// The maximum number of terms without parentheses.
  static let longest = 200

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
    guard token.kind == .end else { throw unexpected("AND, OR or the end") }
    try checkArguments()
    return predicate
  }

  mutating func parseExpression() throws(PredicateFormatError) -> FetchPredicate.Expression {
    let expression = try operand()
    guard token.kind == .end else { throw unexpected("an operator such as + or the end") }
    try checkArguments()
    return expression
  }

  private func checkArguments() throws(PredicateFormatError) {
    guard usedArguments == arguments.count else {
      throw error(
        .argument("the format has \(usedArguments) placeholders, but there are \(arguments.count) arguments"))
    }
  }

  /// Counts one level of nesting; the caller counts it back.
  mutating func descend() throws(PredicateFormatError) {
    guard depth < Self.deepest else { throw error(.unsupported("a predicate nested \(Self.deepest) deep")) }
    depth += 1
  }

  mutating func ascend() { depth -= 1 }

  mutating func disjunction() throws(PredicateFormatError) -> FetchPredicate {
    try descend()
    defer { ascend() }
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
    case "ANY", "SOME":
      advance()
      return try comparison(.any)
    case "ALL":
      advance()
      return try comparison(.all)
    case "NONE":
      advance()
      return .not(try comparison(.any))
    default:
      return try comparison(.direct)
    }
  }

  /// Whether the parenthesis here begins an operand, as in `(name) == 'x'`. Tries it on a copy.
  private var opensOperand: Bool {
    if let known = trials.results[position] { return known }
    var trial = self
    let opens = (try? trial.operand()) != nil && trial.operatorName(of: trial.token) != nil
    trials.results[position] = opens
    return opens
  }

  private mutating func comparison(
    _ modifier: FetchPredicate.Modifier
  ) throws(PredicateFormatError) -> FetchPredicate {
    let start = token
    let left = try operand()
    guard let name = operatorName(of: token) else {
      if token.keyword == "NOT" { throw unexpected("an operator (NOT stands before the comparison)") }
      throw unexpected("an operator such as ==, <, IN, BETWEEN or CONTAINS")
    }
    if left.isList, name != .contains { throw error(.expected("a value or a key path", found: "a list"), at: start) }
    advance()
    var options: FetchPredicate.Options = []
    if case .options(let given) = token.kind {
      options = given
      advance()
    }
    let right =
      switch name {
      case .isIn: try collection()
      case .between: try bounds()
      default: try operand()
      }
    if name != .isIn, name != .between, right.isList {
      throw error(
        .expected("one value or a key path after \(name.rawValue)", found: "a list"), at: tokens[position - 1])
    }
    return .comparison(.init(left, name, right, options: options, modifier: modifier))
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
}

extension FetchPredicate.Expression {
  /// Whether the expression is a list of values.
  var isList: Bool {
    switch self {
    case .constants, .list: return true
    default: return false
    }
  }
}
