import Foundation

/// One token of the format language, and where it starts.
struct PredicateToken: Equatable {
  enum Kind: Equatable {
    /// A name or keyword, as written.
    case word(String)
    /// A name that can't be a keyword: written after `#`.
    case name(String)
    case string(String)
    case number(Value)
    /// An operator or bracket.
    case symbol(String)
    /// `[c]`, `[d]` or `[cd]` after an operator.
    case options(FetchPredicate.Options)
    /// A placeholder such as `%@`: the letters after the percent sign.
    case placeholder(String)
    /// `$name`
    case variable(String)
    /// `@count` and the like.
    case aggregate(String)
    case end
  }

  var kind: Kind
  /// The offset of the token in Unicode scalars.
  var offset: Int

  /// The token as an error message names it.
  var name: String {
    switch kind {
    case .word(let text), .symbol(let text): return text
    case .name(let text): return "#" + text
    case .string(let text): return "the string \(text.debugDescription)"
    case .number(let value): return "the number \(FetchPredicate.Expression.constant(value))"
    case .options: return "string options"
    case .placeholder(let letters): return "%" + letters
    case .variable(let text): return "$" + text
    case .aggregate(let text): return "@" + text
    case .end: return "the end"
    }
  }

  /// The keyword in upper case, nil when it isn't a word.
  var keyword: String? {
    if case .word(let text) = kind { return text.uppercased() }
    return nil
  }

  /// Whether an operand may end with it.
  var endsOperand: Bool {
    switch kind {
    case .word: return FetchPredicate.Operator.allCases.allSatisfy { $0.rawValue != keyword }
    case .name, .variable, .aggregate, .symbol(")"), .symbol("]"), .symbol("}"), .placeholder, .string: return true
    case .number, .symbol, .options, .end: return false
    }
  }
}
