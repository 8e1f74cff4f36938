extension StringProtocol {
  /// How many columns of a terminal the text takes: none for marks that combine, two for East Asian wide characters and
  /// emoji (Unicode Standard Annex #11), else one.
  var displayWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }

  /// The text, or its beginning with `…` where it is wider than it may be.
  func truncated(to width: Int) -> String {
    guard displayWidth > width else { return String(self) }
    guard width > 0 else { return "" }
    var text = ""
    var used = 0
    for character in self {
      guard used + character.displayWidth <= width - 1 else { break }
      text.append(character)
      used += character.displayWidth
    }
    return text + "…"
  }

  /// The text with spaces to a width, after it or before it.
  func padded(to width: Int, right: Bool = false) -> String {
    let spaces = String(repeating: " ", count: Swift.max(0, width - displayWidth))
    return right ? spaces + self : self + spaces
  }
}

extension Character {
  fileprivate var displayWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if unicodeScalars.dropFirst().contains("\u{FE0F}") { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default: return first.properties.isEmojiPresentation ? 2 : 1
    }
  }
}
