/// The pattern of `LIKE`: `*` matches any characters, `?` one Unicode scalar; a backslash escapes either, or itself.
///
/// A plain string with `*` at one or both ends never gets here: resolving turns it into `==`, `BEGINSWITH`, `ENDSWITH` or
/// `CONTAINS`, which an index or a plain search can answer.
package struct LikePattern: Sendable, Hashable {
  private enum Token: Hashable {
    case byte(UInt8)
    case one
    case many
  }

  /// The pattern as written.
  package let source: String
  private let tokens: [Token]

  /// Parses `source`. A trailing backslash stands for itself.
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

  /// The plain string, if the pattern is one with at most a `*` at either end.
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

  /// Whether the whole of `text` matches. Takes at most time proportional to the product of both lengths.
  package func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches($0) }
  }

  private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var position = 0
    var next = 0
    // The position of the last `*`, and the end of the text it covers so far.
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
        // A `*` may end in the middle of a scalar; `?` matches whole scalars only.
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
