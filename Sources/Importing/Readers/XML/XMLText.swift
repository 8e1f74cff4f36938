// Text and attribute values by XML 1.0, sections 2.4, 2.11, 3.3.3 and 4.1.

enum XMLText {
  static let ampersand = UInt8(ascii: "&")
  private static let named: [(name: [UInt8], byte: UInt8)] = [
    (Array("lt;".utf8), UInt8(ascii: "<")), (Array("gt;".utf8), UInt8(ascii: ">")), (Array("amp;".utf8), ampersand),
    (Array("quot;".utf8), UInt8(ascii: "\"")), (Array("apos;".utf8), UInt8(ascii: "'")),
  ]

  /// The first malformed reference in a text, and its mistake.
  static func mistake(from start: BytePointer, to end: BytePointer) -> (XMLMistake, at: BytePointer)? {
    var place = start
    while let found = Bytes.find(ampersand, from: place, to: end) {
      switch reference(found, end) {
      case .success(let (_, length)): place = found + length
      case .failure(let mistake): return (mistake, found)
      }
    }
    return nil
  }

  /// Whether a text differs from its bytes: it has references, or line ends that count as a line feed.
  static func needsDecoding(from start: BytePointer, to end: BytePointer) -> Bool {
    Bytes.find(ampersand, from: start, to: end) != nil
      || Bytes.find(CSVDialect.carriageReturn, from: start, to: end) != nil
  }

  /// The same for an attribute's value, in which tabs and line ends count as spaces.
  static func valueNeedsDecoding(from start: BytePointer, to end: BytePointer) -> Bool {
    UnsafeBufferPointer(start: start, count: end - start).contains {
      $0 == ampersand || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D
    }
  }

  /// Whether a text is white space only.
  static func isBlank(from start: BytePointer, to end: BytePointer) -> Bool {
    JSONToken.skipSpace(start, end) == end
  }

  /// Appends the decoded text.
  ///
  /// - Parameters:
  ///   - isLiteral: a CDATA section, in which an ampersand is an ampersand.
  ///   - isAttribute: a value, in which white space counts as spaces.
  static func decode(
    from start: BytePointer, to end: BytePointer, isLiteral: Bool, isAttribute: Bool, into output: inout [UInt8]
  ) {
    var place = start
    while place < end {
      let byte = place.pointee
      if byte == ampersand, !isLiteral, case .success(let (scalar, length)) = reference(place, end) {
        output.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
        place += length
        continue
      }
      place += 1
      switch byte {
      case CSVDialect.carriageReturn:
        if place < end, place.pointee == CSVDialect.lineFeed { place += 1 }
        output.append(isAttribute ? 0x20 : CSVDialect.lineFeed)
      case CSVDialect.lineFeed where isAttribute, 0x09 where isAttribute: output.append(0x20)
      default: output.append(byte)
      }
    }
  }

  /// A text as XML writes it; characters that XML can't have are replaced. In line, the result fits on one line and into an
  /// attribute or an instruction.
  static func escaped(_ text: String, inLine: Bool = false) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"" where inLine: result += "&quot;"
      case "\n" where inLine, "\r" where inLine, "\t" where inLine: result += "&#\(scalar.value);"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\r": result += "&#13;"
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The character that the reference at a place stands for, and the reference's length in bytes.
  private static func reference(
    _ start: BytePointer, _ end: BytePointer
  ) -> Result<(Unicode.Scalar, length: Int), XMLMistake> {
    let first = start + 1
    guard first < end, first.pointee == UInt8(ascii: "#") else {
      for (name, byte) in named where end - first >= name.count {
        if (0..<name.count).allSatisfy({ first[$0] == name[$0] }) {
          return .success((Unicode.Scalar(byte), name.count + 1))
        }
      }
      return .failure(.unknownReference)
    }
    let isHexadecimal = first + 1 < end && first[1] == UInt8(ascii: "x")
    var place = first + (isHexadecimal ? 2 : 1)
    let digits = place
    var value: UInt32 = 0
    while place < end, let digit = Character(Unicode.Scalar(place.pointee)).hexDigitValue, isHexadecimal || digit < 10 {
      value = value &* (isHexadecimal ? 16 : 10) &+ UInt32(digit)
      guard value <= 0x10_FFFF else { return .failure(.badCharacterReference) }
      place += 1
    }
    guard place > digits, place < end, place.pointee == UInt8(ascii: ";") else { return .failure(.unknownReference) }
    let isCharacter = value >= 0x20 || value == 0x09 || value == 0x0A || value == 0x0D
    guard isCharacter, value != 0xFFFE, value != 0xFFFF, let scalar = Unicode.Scalar(value) else {
      return .failure(.badCharacterReference)
    }
    return .success((scalar, place + 1 - start))
  }
}
