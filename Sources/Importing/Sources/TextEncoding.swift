/// How a source's text is encoded.
package enum TextEncoding: String, Sendable, CaseIterable {
  case utf8 = "utf-8"
  case utf16LE = "utf-16le"
  case utf16BE = "utf-16be"
  case utf32LE = "utf-32le"
  case utf32BE = "utf-32be"
  /// ISO 8859-1 strictly, with 0x80 to 0x9F as control characters. Most files labelled so are Windows-1252.
  case latin1 = "iso-8859-1"
  /// Central European.
  case latin2 = "iso-8859-2"
  /// Western European with the euro sign.
  case latin9 = "iso-8859-15"
  /// Central European.
  case windows1250 = "windows-1250"
  /// Cyrillic.
  case windows1251 = "windows-1251"
  /// Western European: what Excel writes as CSV.
  case windows1252 = "windows-1252"
  /// Greek.
  case windows1253 = "windows-1253"
  /// Turkish.
  case windows1254 = "windows-1254"
  /// Baltic.
  case windows1257 = "windows-1257"
  case koi8r = "koi8-r"
  /// DOS.
  case ibm437, ibm850
  /// Mac OS before X.
  case macintosh

  /// The encoding with this name or a usual alias, whatever the case: `latin1`, `cp1252`, `UTF8`. `utf-16` alone means
  /// little-endian unless a byte order mark says otherwise.
  package init?(name: String) {
    let key = Self.plain(name)
    let others: [String: TextEncoding] = [
      "utf16": .utf16LE, "ucs2": .utf16LE, "unicode": .utf16LE, "utf32": .utf32LE, "latin1": .latin1, "l1": .latin1,
      "latin2": .latin2, "latin9": .latin9, "cp437": .ibm437, "cp850": .ibm850, "macroman": .macintosh,
      "ascii": .utf8, "usascii": .utf8, "utf8bom": .utf8, "utf8sig": .utf8, "ansi": .windows1252,
    ]
    if let found = Self.allCases.first(where: { Self.plain($0.rawValue) == key }) ?? others[key] {
      self = found
    } else if key.hasPrefix("cp125"), let found = TextEncoding(rawValue: "windows-" + key.dropFirst(2)) {
      self = found
    } else {
      return nil
    }
  }

  private static func plain(_ name: String) -> String {
    name.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }
  }

  /// Whether each character is one byte, with ASCII unchanged.
  package var isSingleByte: Bool {
    switch self {
    case .utf8, .utf16LE, .utf16BE, .utf32LE, .utf32BE: false
    default: true
    }
  }
}

extension TextEncoding: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let encoding = TextEncoding(name: name) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "“\(name)” isn't an encoding that can be read; these are: "
          + Self.allCases.map(\.rawValue).joined(separator: ", "))
    }
    self = encoding
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}
