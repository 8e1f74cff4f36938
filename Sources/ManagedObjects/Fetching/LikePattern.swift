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
  /// What is before, between and behind the `*`; at least one.
  private let segments: [LikeSegment]

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
    segments = tokens.split(separator: .many, omittingEmptySubsequences: false).map { part in
      LikeSegment(
        part.map { token in
          if case .byte(let byte) = token { byte } else { nil }
        })
    }
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

  /// Whether the whole of `text` matches. Between two `*`, plain characters are searched for in time proportional to the
  /// text, and those with a `?` among them in time proportional to the product of both lengths, which an ``Interruption`` ends.
  package func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches($0) }
  }

  /// The first segment is at the beginning, the last at the end, and each of the others where it occurs first: what comes
  /// after it then has the most room.
  private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard var position = segments[0].end(in: text, at: 0) else { return false }
    guard let last = segments.dropFirst().last else { return position == text.count }
    for segment in segments[1..<(segments.count - 1)] {
      guard let end = segment.find(in: text, from: position) else { return false }
      position = end
    }
    return last.isEnd(of: text, from: position)
  }
}

/// What is between two `*` of a pattern.
private struct LikeSegment: Sendable, Hashable {
  /// Scalars, nil for a `?`, each as its bytes.
  private let tokens: [UInt8?]
  /// The bytes of a segment without `?`.
  private let plain: ByteSearch?

  init(_ tokens: [UInt8?]) {
    self.tokens = tokens
    let bytes = tokens.compactMap { $0 }
    plain = bytes.count == tokens.count ? ByteSearch(bytes) : nil
  }

  /// Where the segment ends if it begins at `start`.
  func end(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
    var position = start
    for token in tokens {
      guard position < text.count else { return nil }
      if let token {
        guard text[position] == token else { return nil }
        position += 1
      } else {
        // A `*` may end in the middle of a scalar; `?` matches whole scalars only.
        guard !Self.isContinuation(text[position]) else { return nil }
        repeat { position += 1 } while position < text.count && Self.isContinuation(text[position])
      }
    }
    return position
  }

  /// Where the segment's first occurrence ends.
  func find(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    if let plain { return plain.find(in: text, from: start) }
    let between = max(1, (1 << 20) / tokens.count)
    guard start < text.count else { return nil }
    for place in start..<text.count {
      if place % between == 0, Interruption.isRequested { return nil }
      if let end = end(in: text, at: place) { return end }
    }
    return nil
  }

  /// Whether the text ends with the segment, which may begin at `start` or later.
  func isEnd(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    var place = text.count
    for token in tokens.reversed() {
      // As many scalars back as the segment has: one for a `?`, and one for each first byte.
      if let token, Self.isContinuation(token) { continue }
      repeat { place -= 1 } while place >= start && Self.isContinuation(text[place])
      guard place >= start else { return false }
    }
    return end(in: text, at: place) == text.count
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
