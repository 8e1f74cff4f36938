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
