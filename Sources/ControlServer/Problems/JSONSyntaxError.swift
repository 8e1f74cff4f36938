/// Where a text stops being JSON (RFC 8259). Lines and columns count from 1; columns are bytes.
struct JSONSyntaxError: Error, Equatable {
  let line: Int
  let column: Int
  let what: String

  /// The first mistake; nil for a text that is JSON. Needs no memory beyond one bit a level of nesting.
  static func first(in bytes: [UInt8]) -> JSONSyntaxError? {
    var scanner = JSONScanner(bytes: bytes)
    do throws(JSONSyntaxError) {
      try scanner.document()
      return nil
    } catch {
      return error
    }
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}

private struct JSONScanner {
  let bytes: [UInt8]
  private var place = 0
  /// Deeper than the decoder goes.
  private static let deepest = 512

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws(JSONSyntaxError) {
    skipSpace()
    if place == bytes.count { throw mistake("there is nothing") }
    try value(depth: 0)
    skipSpace()
    if place < bytes.count { throw mistake("there is something after the end") }
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) {
    guard depth < Self.deepest else { throw mistake("it is nested too deeply") }
    switch peek {
    case UInt8(ascii: "{"): try object(depth: depth)
    case UInt8(ascii: "["): try array(depth: depth)
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case nil: throw mistake("it ends where a value should be")
    case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): try number()
    default: throw mistake("there must be a value here")
    }
  }

  private mutating func object(depth: Int) throws(JSONSyntaxError) {
    place += 1
    skipSpace()
    if take("}") { return }
    while true {
      guard peek == UInt8(ascii: "\"") else { throw mistake("there must be a name in double quotes here") }
      try string()
      skipSpace()
      guard take(":") else { throw mistake("there must be a colon here") }
      skipSpace()
      try value(depth: depth + 1)
      skipSpace()
      if take("}") { return }
      guard take(",") else { throw mistake("there must be a comma or } here") }
      skipSpace()
    }
  }

  private mutating func array(depth: Int) throws(JSONSyntaxError) {
    place += 1
    skipSpace()
    if take("]") { return }
    while true {
      try value(depth: depth + 1)
      skipSpace()
      if take("]") { return }
      guard take(",") else { throw mistake("there must be a comma or ] here") }
      skipSpace()
    }
  }

  private mutating func string() throws(JSONSyntaxError) {
    let start = place
    place += 1
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        place += 1
        guard String(validating: bytes[start..<place], as: UTF8.self) != nil else {
          place = start
          throw mistake("this text isn't UTF-8")
        }
        return
      case UInt8(ascii: "\\"): try escape()
      case ..<0x20: throw mistake("a control character must be escaped")
      default: place += 1
      }
    }
    place = start
    throw mistake("this text has no closing quote")
  }

  private mutating func escape() throws(JSONSyntaxError) {
    place += 1
    switch peek {
    case UInt8(ascii: "u"):
      place += 1
      for _ in 0..<4 {
        guard let byte = peek, Character(UnicodeScalar(byte)).isHexDigit else {
          throw mistake("\\u must be followed by four hexadecimal digits")
        }
        place += 1
      }
    case let byte? where "\"\\/bfnrt".utf8.contains(byte): place += 1
    default: throw mistake("there is no such escape")
    }
  }

  private mutating func number() throws(JSONSyntaxError) {
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
  }

  private mutating func digits() throws(JSONSyntaxError) {
    let start = place
    while let byte = peek, Self.isDigit(byte) { place += 1 }
    if place == start { throw mistake("there must be a digit here") }
  }

  private mutating func word(_ word: String) throws(JSONSyntaxError) {
    guard bytes[place...].starts(with: word.utf8) else { throw mistake("there must be a value here") }
    place += word.utf8.count
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = peek, JSONSyntaxError.isSpace(byte) { place += 1 }
  }

  private func mistake(_ what: String) -> JSONSyntaxError {
    let before = bytes[..<place]
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return JSONSyntaxError(
      line: before.count { $0 == 0x0A } + 1, column: place - lineStart + 1, what: what)
  }
}
