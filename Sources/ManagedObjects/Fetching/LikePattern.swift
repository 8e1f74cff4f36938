/// The pattern of `LIKE`: `*` stands for any characters, `?` for one Unicode scalar, a backslash before either (or before
/// a backslash) for the character itself.
///
/// Patterns that are a plain string with `*` at one or both of its ends never get here: resolving turns them into `==`,
/// `BEGINSWITH`, `ENDSWITH` and `CONTAINS`, which an index or a plain search answers.
package struct LikePattern: Sendable, Hashable {
  private enum Token: Hashable {
    case byte(UInt8)
    case one
    case many
  }

  /// The pattern as it was written.
  package let source: String
  private let tokens: [Token]

  /// Reads `source`. A backslash at its end stands for itself.
  package init(_ source: String) {
    self.source = source
    var tokens: [Token] = []
    var escaped = false
    for byte in source.utf8 {
      switch byte {
      case UInt8(ascii: "\\") where !escaped: escaped = true
      case UInt8(ascii: "*") where !escaped:
        if tokens.last != .many { tokens.append(.many) }
      case UInt8(ascii: "?") where !escaped: tokens.append(.one)
      default:
        if escaped, byte != UInt8(ascii: "*"), byte != UInt8(ascii: "?"), byte != UInt8(ascii: "\\") {
          tokens.append(.byte(UInt8(ascii: "\\")))
        }
        tokens.append(.byte(byte))
        escaped = false
      }
    }
    if escaped { tokens.append(.byte(UInt8(ascii: "\\"))) }
    self.tokens = tokens
  }

  /// The plain string, if the pattern is one with nothing or `*` before and behind it.
  var plain: (text: String, startsOpen: Bool, endsOpen: Bool)? {
    var middle = tokens[...]
    let startsOpen = middle.first == .many
    if startsOpen { middle.removeFirst() }
    let endsOpen = middle.last == .many
    if endsOpen { middle.removeLast() }
    var bytes: [UInt8] = []
    for token in middle {
      guard case .byte(let byte) = token else { return nil }
      bytes.append(byte)
    }
    return (String(decoding: bytes, as: UTF8.self), startsOpen, endsOpen)
  }

  /// Whether all of `text` is like the pattern. Takes time by the product of both lengths at most.
  package func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches($0) }
  }

  private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    var next = 0
    // Where the last `*` stands, and how far it reaches as yet.
    var star: (token: Int, reach: Int)?
    while position < text.count {
      if next < tokens.count {
        switch tokens[next] {
        case .many:
          star = (next, position)
          next += 1
          continue
        case .byte(let byte) where byte == text[position]:
          next += 1
          position += 1
          continue
        // A `*` may have reached into the middle of a scalar; `?` takes whole ones.
        case .one where text[position] & 0xC0 != 0x80:
          next += 1
          repeat { position += 1 } while position < text.count && text[position] & 0xC0 == 0x80
          continue
        default: break
        }
      }
      guard let (token, reach) = star else { return false }
      star = (token, reach + 1)
      position = reach + 1
      next = token + 1
    }
    while next < tokens.count, tokens[next] == .many { next += 1 }
    return next == tokens.count
  }
}
