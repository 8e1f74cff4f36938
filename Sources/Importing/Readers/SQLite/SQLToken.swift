/// A word or a sign of SQL: enough to see which names a statement may refer to.
struct SQLToken: Equatable {
  /// Folded, without its quotes; a sign is one byte.
  let text: String
  /// A name in quotes, or a text, which may stand for a name as well.
  let isQuoted: Bool

  /// Whether it is this key word or sign.
  func isKey(_ key: String) -> Bool { !isQuoted && text == key }

  /// As names are compared by SQLite, byte by byte but for the case of A to Z; a character stands for each byte, so that no
  /// two are the same to Swift which aren't to SQLite.
  static func folded(_ bytes: some Sequence<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes {
      text.append(UnicodeScalar((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte))
    }
    return String(text)
  }

  /// The tokens of a text; nil if there are more than the limit.
  static func tokens(of bytes: [UInt8], limit: Int) -> [SQLToken]? {
    var tokens: [SQLToken] = []
    var at = 0
    while at < bytes.count {
      let start = at
      let byte = bytes[at]
      at += 1
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0C, 0x0D: continue
      // A byte order mark is a space to SQLite.
      case 0xEF where bytes[at...].starts(with: [0xBB, 0xBF]): at += 2
      case UInt8(ascii: "-") where at < bytes.count && bytes[at] == byte:
        at = bytes[at...].firstIndex(of: 0x0A) ?? bytes.count
        continue
      case UInt8(ascii: "/") where at < bytes.count && bytes[at] == UInt8(ascii: "*"):
        at = end(ofCommentAt: start, in: bytes)
        continue
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        at = end(ofQuotesAt: start, in: bytes)
        let inner = folded(bytes[(start + 1)..<max(start + 1, at - 1)])
        let quote = String(UnicodeScalar(byte))
        tokens.append(SQLToken(text: inner.replacing(quote + quote, with: quote), isQuoted: true))
      case UInt8(ascii: "["):
        let end = bytes[at...].firstIndex(of: UInt8(ascii: "]")) ?? bytes.count
        tokens.append(SQLToken(text: folded(bytes[at..<end]), isQuoted: true))
        at = min(end + 1, bytes.count)
      default:
        if isInWord(byte) { at = bytes[at...].firstIndex { !isInWord($0) } ?? bytes.count }
        tokens.append(SQLToken(text: folded(bytes[start..<at]), isQuoted: false))
      }
      if tokens.count > limit { return nil }
    }
    return tokens
  }

  private static func isInWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  private static func end(ofCommentAt start: Int, in bytes: [UInt8]) -> Int {
    var at = start + 2
    while at + 1 < bytes.count {
      if bytes[at] == UInt8(ascii: "*"), bytes[at + 1] == UInt8(ascii: "/") { return at + 2 }
      at += 1
    }
    return bytes.count
  }

  /// Behind the closing quote; one that is doubled is part of the text.
  private static func end(ofQuotesAt start: Int, in bytes: [UInt8]) -> Int {
    var at = start + 1
    while at < bytes.count {
      if bytes[at] == bytes[start] {
        guard at + 1 < bytes.count, bytes[at + 1] == bytes[start] else { return at + 1 }
        at += 1
      }
      at += 1
    }
    return bytes.count
  }
}
