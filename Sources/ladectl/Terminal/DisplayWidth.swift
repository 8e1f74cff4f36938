import CLinux

extension StringProtocol {
  /// The number of terminal columns of the text: by wcwidth(3), none for combining marks, two for East Asian wide characters and
  /// emoji, otherwise one.
  var displayWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }

  /// The text, or its beginning with `…` if it is wider than `width`.
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

  /// The text padded with spaces to a width, after it or before it.
  func padded(to width: Int, right: Bool = false) -> String {
    let spaces = String(repeating: " ", count: Swift.max(0, width - displayWidth))
    return right ? spaces + self : self + spaces
  }
}

extension Character {
  /// The width of the first scalar, since the following ones combine with it. Two clusters are wider than their first scalar: an
  /// emoji by variation selector, and a flag of two regional indicators.
  fileprivate var displayWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if unicodeScalars.dropFirst().contains(where: { $0 == "\u{FE0F}" || (0x1F1E6...0x1F1FF).contains($0.value) }) {
      return 2
    }
    let width = Int(lade_column_width(first.value))
    // Not printable, or not known to this C library: terminals show a replacement character.
    return width >= 0 ? width : 1
  }
}
