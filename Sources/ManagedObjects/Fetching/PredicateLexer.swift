import Foundation

/// Cuts a predicate format into tokens. `name ==[c] 'x'` becomes word, symbol, options, string, end.
struct PredicateLexer {
  private let format: String
  private let characters: [Character]
  private var position = 0

  init(_ format: String) {
    self.format = format
    self.characters = Array(format)
  }

  static func tokens(of format: String) throws(PredicateFormatError) -> [PredicateToken] {
    var lexer = PredicateLexer(format)
    var tokens: [PredicateToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private func peek(_ ahead: Int = 0) -> Character? {
    position + ahead < characters.count ? characters[position + ahead] : nil
  }

  private func error(_ problem: PredicateFormatError.Problem, at offset: Int) -> PredicateFormatError {
    PredicateFormatError(problem, format: format, offset: offset)
  }

  private static func startsName(_ character: Character) -> Bool { character.isLetter || character == "_" }
  private static func continuesName(_ character: Character) -> Bool { startsName(character) || character.isNumber }

  private mutating func name() -> String {
    let start = position
    while let character = peek(), Self.continuesName(character) { position += 1 }
    return String(characters[start..<position])
  }

  private mutating func next() throws(PredicateFormatError) -> PredicateToken {
    while let character = peek(), character.isWhitespace { position += 1 }
    let start = position
    return PredicateToken(kind: try kind(from: start), offset: start)
  }

  private mutating func kind(from start: Int) throws(PredicateFormatError) -> PredicateToken.Kind {
    guard let first = peek() else { return .end }
    if Self.startsName(first) { return .word(name()) }
    if first.isASCII, first.isNumber || (first == "." && peek(1)?.isNumber == true) { return try number() }
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

  private mutating func symbol(_ first: Character) throws(PredicateFormatError) -> PredicateToken.Kind {
    if let second = peek(1) {
      let pair = String([first, second])
      if ["==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", ":=", "**"].contains(pair) {
        position += 2
        return .symbol(pair)
      }
    }
    guard "=<>!(){},.+-*/:".contains(first) else { throw error(.malformed("\(first) has no meaning here"), at: position) }
    position += 1
    return .symbol(String(first))
  }

  private mutating func string(closing quote: Character) throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    var text = ""
    while let character = peek() {
      position += 1
      if character == quote { return .string(text) }
      if character == "\\" { text.append(try escape()) } else { text.append(character) }
    }
    throw error(.malformed("the string that starts here isn't closed by \(quote)"), at: start)
  }

  /// Reads what follows a backslash.
  private mutating func escape() throws(PredicateFormatError) -> Character {
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
      let digits = String(characters[position..<min(position + 4, characters.count)])
      guard digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), let code = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(code)
      else { throw error(.malformed("\\u needs the four hexadecimal digits of a character"), at: start) }
      position += 4
      return Character(scalar)
    default:
      throw error(.malformed("\\\(character) isn't an escape; a backslash itself is written \\\\"), at: start)
    }
  }

  private mutating func placeholder() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    for letters in ["@", "K", "lld", "llu", "ld", "lu", "lf", "d", "i", "u", "f", "g", "s"] {
      let end = position + letters.count
      guard end <= characters.count, String(characters[position..<end]) == letters else { continue }
      position = end
      return .placeholder(letters)
    }
    if peek() == "%" {
      throw error(.malformed("a percent sign stands only in quoted strings, and is written once there"), at: start)
    }
    throw error(.expected("a placeholder such as %@, %K, %d or %f", found: "%\(peek().map(String.init) ?? "")"), at: start)
  }

  private mutating func options() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    var options: FetchPredicate.Options = []
    while let character = peek(), character != "]" {
      switch character {
      case "c", "C": options.insert(.caseInsensitive)
      case "d", "D": options.insert(.diacriticInsensitive)
      case "n", "N", "l", "L": throw error(.unsupported("the string option [\(character)]"), at: position)
      default: throw error(.expected("c, d or cd in brackets", found: String(character)), at: position)
      }
      position += 1
    }
    guard peek() == "]", position > start + 1 else {
      throw error(.expected("c, d or cd and a closing ]", found: peek().map(String.init) ?? "the end"), at: position)
    }
    position += 1
    return .options(options)
  }

  /// Reads a number without a sign: whole numbers in four bases, decimals, exponents.
  private mutating func number() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    while let character = peek() {
      let signOfExponent =
        (character == "+" || character == "-") && (peek(-1) == "e" || peek(-1) == "E") && !isPrefixed(start)
      guard Self.continuesName(character) || character == "." || signOfExponent else { break }
      position += 1
    }
    let text = String(characters[start..<position])
    guard let value = NumberLiteral.value(of: text) else {
      throw error(.malformed("\(text) isn't a number"), at: start)
    }
    return .number(value)
  }

  private func isPrefixed(_ start: Int) -> Bool {
    characters[start] == "0" && start + 1 < characters.count && "xXoObB".contains(characters[start + 1])
  }
}
