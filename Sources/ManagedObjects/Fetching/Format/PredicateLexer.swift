import Foundation

/// Splits a predicate format into tokens. `name ==[c] 'x'` becomes word, symbol, options, string, end.
struct PredicateLexer {
  private let format: String
  // Scalars, not characters: a quote followed by a combining mark still closes its string.
  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ format: String) {
    self.format = format
    self.scalars = Array(format.unicodeScalars)
  }

  static func tokens(of format: String) throws(PredicateFormatError) -> [PredicateToken] {
    var lexer = PredicateLexer(format)
    var tokens: [PredicateToken] = []
    repeat { tokens.append(try lexer.next(after: tokens.last)) } while tokens.last?.kind != .end
    return tokens
  }

  private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
    position + ahead < scalars.count ? scalars[position + ahead] : nil
  }

  private func error(_ problem: PredicateFormatError.Problem, at offset: Int) -> PredicateFormatError {
    PredicateFormatError(problem, format: format, scalarOffset: offset)
  }

  private static func startsName(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic || scalar == "_" }
  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    startsName(scalar) || scalar.properties.isIDContinue
  }
  private static func isDigit(_ scalar: Unicode.Scalar?) -> Bool { scalar.map { ("0"..."9").contains($0) } ?? false }
  private func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

  private mutating func name() -> String {
    let start = position
    while let scalar = peek(), Self.continuesName(scalar) { position += 1 }
    return text(start..<position)
  }

  private mutating func next(after former: PredicateToken?) throws(PredicateFormatError) -> PredicateToken {
    while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
    let start = position
    // After an operator a bracket opens its options, after an operand an index.
    if peek() == "[", former?.endsOperand == true {
      position += 1
      return PredicateToken(kind: .symbol("["), offset: start)
    }
    return PredicateToken(kind: try kind(from: start), offset: start)
  }

  private mutating func kind(from start: Int) throws(PredicateFormatError) -> PredicateToken.Kind {
    guard let first = peek() else { return .end }
    if Self.startsName(first) { return .word(name()) }
    if Self.isDigit(first) || (first == "." && Self.isDigit(peek(1))) { return try number() }
    switch first {
    case "'", "\"": return try string(closing: first)
    case "%": return try placeholder()
    case "[": return try options()
    case "#", "$", "@":
      position += 1
      let text = name()
      guard !text.isEmpty else { throw error(.expected("a name after \(first)", found: "none"), at: start) }
      return first == "#" ? .name(text) : first == "$" ? .variable(text) : .aggregate(text)
    default: return try symbol(first)
    }
  }

  private mutating func symbol(_ first: Unicode.Scalar) throws(PredicateFormatError) -> PredicateToken.Kind {
    if let second = peek(1) {
      let pair = "\(first)\(second)"
      if ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", ":=", "**"].contains(pair) {
        position += 2
        return .symbol(pair)
      }
    }
    guard "=<>!(){},.+-*/:]".unicodeScalars.contains(first) else {
      throw error(.malformed("\(first) has no meaning here"), at: position)
    }
    position += 1
    return .symbol(String(first))
  }

  private mutating func string(closing quote: Unicode.Scalar) throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = peek() {
      position += 1
      if scalar == quote { return .string(String(text)) }
      text.append(scalar == "\\" ? try escape() : scalar)
    }
    throw error(.malformed("the string that starts here isn't closed by \(quote)"), at: start)
  }

  /// Parses what follows a backslash.
  private mutating func escape() throws(PredicateFormatError) -> Unicode.Scalar {
    let start = position - 1
    guard let character = peek() else { throw error(.malformed("a backslash ends the format"), at: start) }
    position += 1
    switch character {
    case "\\", "'", "\"", "/": return character
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "0": return "\0"
    case "u":
      let digits = text(position..<min(position + 4, scalars.count))
      guard digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), let code = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(code)
      else { throw error(.malformed("\\u needs the four hexadecimal digits of a character"), at: start) }
      position += 4
      return scalar
    default:
      throw error(.malformed("\\\(character) isn't an escape; a backslash itself is written \\\\"), at: start)
    }
  }

  private mutating func placeholder() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    for letters in ["@", "K", "lld", "llu", "ld", "lu", "lf", "d", "i", "u", "f", "g", "s"] {
      let end = position + letters.count
      guard end <= scalars.count, text(position..<end) == letters else { continue }
      position = end
      return .placeholder(letters)
    }
    if peek() == "%" {
      throw error(.malformed("a percent sign stands only in quoted strings, and is written once there"), at: start)
    }
    throw error(
      .expected("a placeholder such as %@, %K, %d or %f", found: "%\(peek().map { String($0) } ?? "")"), at: start)
  }

  private mutating func options() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    var options: FetchPredicate.Options = []
    while let character = peek(), character != "]" {
      switch character {
      case "c", "C": options.insert(.caseInsensitive)
      case "d", "D": options.insert(.diacriticInsensitive)
      case "n", "N": options.insert(.normalized)
      case "l", "L": options.insert(.localeSensitive)
      default: throw error(.expected("c, d or cd in brackets", found: String(character)), at: position)
      }
      position += 1
    }
    guard peek() == "]", position > start + 1 else {
      throw error(.expected("c, d or cd and a closing ]", found: peek().map { String($0) } ?? "the end"), at: position)
    }
    position += 1
    return .options(options)
  }

  /// Parses a number without a sign: whole numbers in four bases, decimals, exponents.
  private mutating func number() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    while let character = peek() {
      let signOfExponent =
        (character == "+" || character == "-") && (peek(-1) == "e" || peek(-1) == "E") && !isPrefixed(start)
      guard Self.continuesName(character) || character == "." || signOfExponent else { break }
      position += 1
    }
    let text = text(start..<position)
    guard let value = NumberLiteral.value(of: text) else {
      throw error(.malformed("\(text) isn't a number"), at: start)
    }
    return .number(value)
  }

  private func isPrefixed(_ start: Int) -> Bool {
    scalars[start] == "0" && start + 1 < scalars.count && "xXoObB".unicodeScalars.contains(scalars[start + 1])
  }
}

/// The value of a number in a format: an integer if it is whole and fits, a double if that preserves the digits, otherwise
/// a decimal.
enum NumberLiteral {
  static func value(of text: String) -> Value? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.lowercased().hasPrefix(prefix) {
      return Int64(text.dropFirst(2), radix: radix).map(Value.int)
    }
    guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || ".eE+-".utf8.contains($0) }) else { return nil }
    if let integer = Int64(text) { return .int(integer) }
    guard let double = Double(text) else { return nil }
    // A double preserves fifteen digits.
    if digits(in: text) <= 15 || !double.isFinite { return double.isFinite ? .double(double) : nil }
    guard let decimal = Decimal(string: text), !decimal.isNaN else { return .double(double) }
    return Decimal(string: "\(double)") == decimal ? .double(double) : .decimal(decimal)
  }

  private static func digits(in text: String) -> Int {
    let mantissa = text.prefix { $0 != "e" && $0 != "E" }
    let all = mantissa.filter(\.isNumber).drop { $0 == "0" }
    return all.count
  }
}
