/// Texts as a sheet has them: escaped for XML, and for Excel where XML has no place for a character.
///
/// Source: ECMA-376, part 1, 22.9.2.19, `ST_Xstring`.
enum SheetText {
  /// The longest text of a cell, in units of UTF-16.
  static let limit = 32_767

  /// Appends a text. False if it is too long for a cell.
  static func append(_ text: UnsafeBufferPointer<UInt8>, to buffer: TextBuffer) -> Bool {
    var units = 0
    var index = 0
    while index < text.count {
      let byte = text[index]
      // Each scalar is one unit, or two beyond the first plane.
      if byte & 0xC0 != 0x80 { units += byte >= 0xF0 ? 2 : 1 }
      switch byte {
      case UInt8(ascii: "&"): buffer.append("&amp;" as StaticString)
      case UInt8(ascii: "<"): buffer.append("&lt;" as StaticString)
      case UInt8(ascii: ">"): buffer.append("&gt;" as StaticString)
      case 0x09, 0x0A: buffer.append(byte)
      case ..<0x20: append(escape: UInt16(byte), to: buffer)
      case UInt8(ascii: "_") where isEscape(text, index): append(escape: 0x5F, to: buffer)
      case 0xEF where index + 2 < text.count && text[index + 1] == 0xBF && text[index + 2] >= 0xBE:
        // U+FFFE and U+FFFF, which XML can't have.
        append(escape: text[index + 2] == 0xBE ? 0xFFFE : 0xFFFF, to: buffer)
        index += 2
      default: buffer.append(byte)
      }
      index += 1
    }
    return units <= limit
  }

  /// Whether the text at a place looks like such an escape.
  private static func isEscape(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
    guard index + 6 < text.count, text[index + 1] == UInt8(ascii: "x"), text[index + 6] == UInt8(ascii: "_") else {
      return false
    }
    return (2...5).allSatisfy { offset in
      let byte = text[index + offset]
      return byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
    }
  }

  private static func append(escape unit: UInt16, to buffer: TextBuffer) {
    buffer.append("_x" as StaticString)
    for shift in [12, 8, 4, 0] as [UInt16] {
      let digit = UInt8(truncatingIfNeeded: unit >> shift & 15)
      buffer.append(digit < 10 ? digit | 0x30 : digit + 0x37)
    }
    buffer.append(UInt8(ascii: "_"))
  }
}
