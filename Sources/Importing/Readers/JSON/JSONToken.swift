// Tokens of RFC 8259, each scanned in one piece of memory. A token that may continue after it is `.more`.
// UTF-8 isn't checked here, but once for a whole record.

enum JSONToken {
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")

  /// The first place that isn't white space.
  @inline(__always)
  static func skipSpace(_ start: BytePointer, _ end: BytePointer) -> BytePointer {
    var place = start
    while place < end, isSpace(place.pointee) { place += 1 }
    return place
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// Scans a string whose opening quote is before `start`; the end is the place after its closing quote.
  @inline(__always)
  static func string(_ start: BytePointer, _ end: BytePointer, escaped: inout Bool) -> JSONScan {
    let quotes = Bytes.repeated(quote)
    let backslashes = Bytes.repeated(backslash)
    let controls = Bytes.repeated(0xE0)
    var place = start
    while true {
      var mask: UInt64 = 0
      while end - place >= 8 {
        let word = Bytes.load(place)
        // A byte below 0x20 has none of its three top bits.
        mask =
          ~(Bytes.nonzero(word ^ quotes) & Bytes.nonzero(word ^ backslashes) & Bytes.nonzero(word & controls))
          & Bytes.top
        if mask != 0 { break }
        place += 8
      }
      if mask != 0 {
        place += Bytes.first(mask)
      } else {
        while place < end, place.pointee != quote, place.pointee != backslash, place.pointee >= 0x20 { place += 1 }
        if place == end { return .more(place) }
      }
      if place.pointee == quote { return .end(place + 1) }
      guard place.pointee == backslash else { return .mistake(.controlCharacter, at: place) }
      escaped = true
      switch escape(place, end) {
      case .end(let next): place = next
      case let other: return other
      }
    }
  }

  /// Scans a member's key and colon; the end is the first byte of its value.
  /// - Parameter passesSurrogates: whether half of a surrogate pair is passed over.
  static func key(_ start: BytePointer, _ end: BytePointer, passesSurrogates: Bool) -> JSONScan {
    guard start.pointee == quote else { return .mistake(.expectedKey, at: start) }
    var escaped = false
    var scan = string(start + 1, end, escaped: &escaped)
    while passesSurrogates, case .mistake(.loneSurrogate, let half) = scan {
      scan = string(half + 6, end, escaped: &escaped)
    }
    guard case .end(let behind) = scan else { return scan }
    let colon = skipSpace(behind, end)
    guard colon < end else { return .more(colon) }
    guard colon.pointee == UInt8(ascii: ":") else { return .mistake(.expectedColon, at: colon) }
    let value = skipSpace(colon + 1, end)
    return value < end ? .end(value) : .more(value)
  }

  /// Scans the escape that begins with the backslash at `start`.
  @inline(never)
  private static func escape(_ start: BytePointer, _ end: BytePointer) -> JSONScan {
    guard start + 1 < end else { return .more(start) }
    switch start[1] {
    case quote, backslash, UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
      UInt8(ascii: "r"), UInt8(ascii: "t"):
      return .end(start + 2)
    case UInt8(ascii: "u"): break
    default: return .mistake(.badEscape, at: start)
    }
    guard let unit = unit(start, end) else { return hexFault(start, end) }
    if unit & 0xFC00 == 0xDC00 { return .mistake(.loneSurrogate, at: start) }
    guard unit & 0xFC00 == 0xD800 else { return .end(start + 6) }
    let low = start + 6
    guard low < end else { return .more(start) }
    guard low.pointee == backslash else { return .mistake(.loneSurrogate, at: start) }
    guard low + 1 < end else { return .more(start) }
    guard low[1] == UInt8(ascii: "u") else { return .mistake(.loneSurrogate, at: start) }
    guard let second = self.unit(low, end) else { return hexFault(low, end) }
    return second & 0xFC00 == 0xDC00 ? .end(start + 12) : .mistake(.loneSurrogate, at: start)
  }

  /// The number in the `\uXXXX` at `start`; nil if it isn't one or is incomplete.
  static func unit(_ start: BytePointer, _ end: BytePointer) -> UInt32? {
    guard end - start >= 6 else { return nil }
    var value: UInt32 = 0
    for index in 2..<6 {
      guard let digit = hexDigit(start[index]) else { return nil }
      value = value << 4 | digit
    }
    return value
  }

  private static func hexFault(_ start: BytePointer, _ end: BytePointer) -> JSONScan {
    var place = start + 2
    while place < end, place < start + 6 {
      if hexDigit(place.pointee) == nil { return .mistake(.badEscape, at: start) }
      place += 1
    }
    return .more(start)
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// Scans a number. If the memory is `final`, its end ends the number.
  static func number(_ start: BytePointer, _ end: BytePointer, final: Bool) -> JSONScan {
    var place = start
    /// Skips digits; false if there are none.
    func digits() -> Bool {
      let first = place
      while place < end, place.pointee &- 0x30 < 10 { place += 1 }
      return place > first
    }
    func fault(_ mistake: JSONMistake) -> JSONScan { place == end ? .more(start) : .mistake(mistake, at: place) }
    if place < end, place.pointee == UInt8(ascii: "-") { place += 1 }
    let first = place
    guard digits() else { return fault(.badNumber) }
    if first.pointee == UInt8(ascii: "0"), place - first > 1 { return .mistake(.leadingZero, at: first) }
    if place < end, place.pointee == UInt8(ascii: ".") {
      place += 1
      guard digits() else { return fault(.badNumber) }
    }
    if place < end, place.pointee | 0x20 == UInt8(ascii: "e") {
      place += 1
      if place < end, place.pointee == UInt8(ascii: "+") || place.pointee == UInt8(ascii: "-") { place += 1 }
      guard digits() else { return fault(.badNumber) }
    }
    return place == end && !final ? .more(start) : .end(place)
  }

  /// Scans `true`, `false` or `null`.
  @inline(__always)
  static func literal(_ word: StaticString, _ start: BytePointer, _ end: BytePointer) -> JSONScan {
    let count = word.utf8CodeUnitCount
    for index in 0..<count {
      if start + index == end { return .more(start) }
      if start[index] != word.utf8Start[index] { return .mistake(.badLiteral, at: start) }
    }
    return .end(start + count)
  }

  /// Scans any value but an object or array, and returns its kind.
  @inline(__always)
  static func scalar(
    _ start: BytePointer, _ end: BytePointer, final: Bool, escaped: inout Bool
  ) -> (Cell.Kind, JSONScan) {
    switch start.pointee {
    case quote: (.text, string(start + 1, end, escaped: &escaped))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): (.number, number(start, end, final: final))
    case UInt8(ascii: "t"): (.yes, literal("true", start, end))
    case UInt8(ascii: "f"): (.no, literal("false", start, end))
    case UInt8(ascii: "n"): (.null, literal("null", start, end))
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
      (.null, .mistake(.badLiteral, at: start))
    default: (.null, .mistake(.expectedValue, at: start))
    }
  }

  /// In words, the kind of a value that begins with this byte.
  static func kind(of byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "an array"
    case quote: "a string"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "a Boolean"
    case UInt8(ascii: "n"): "null"
    default: "a number"
    }
  }
}
