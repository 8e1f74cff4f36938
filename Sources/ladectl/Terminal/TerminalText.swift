import CLinux

extension StringProtocol {
  /// The number of terminal columns of the text: by wcwidth(3), none for combining marks, two for East Asian wide characters and
  /// emoji, otherwise one.
  var displayWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }

  /// The text, or its beginning with `…` if it is wider than `width`.
  /// - Parameter inTheMiddle: whether to keep the end, too, with `…` between.
  func truncated(to width: Int, inTheMiddle: Bool = false) -> String {
    guard displayWidth > width else { return String(self) }
    guard width > 0 else { return "" }
    let tail = inTheMiddle ? Self.fitting(reversed(), (width - 1) / 2) : []
    return String(Self.fitting(self, width - 1 - (inTheMiddle ? (width - 1) / 2 : 0))) + "…" + String(tail.reversed())
  }

  /// The first characters that fit into a width.
  private static func fitting(_ characters: some Sequence<Character>, _ width: Int) -> [Character] {
    var left = width
    return Array(
      characters.prefix { character in
        left -= character.displayWidth
        return left >= 0
      })
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

extension String {
  /// The text without control sequences, so that data from files can't control the terminal. Control characters become their
  /// pictures (U+2400…), other invisible controls the replacement character.
  var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0..<0x20: text.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
      case 0x7F: text.unicodeScalars.append("\u{2421}")
      default: text.unicodeScalars.append(scalar.isControl ? "\u{FFFD}" : scalar)
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, the line and paragraph separators and the controls of writing direction.
  fileprivate var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
