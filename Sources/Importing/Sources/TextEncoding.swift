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

// The encoding of a source, guessed from its beginning, in this order:
//
// 1. A byte order mark, whatever the options say: no text begins with one by chance.
// 2. The encoding that the options name, or that an XML declaration names, if it has one byte per character.
// 3. UTF-16 without a mark, by its zeros.
// 4. UTF-8, if the beginning is valid UTF-8, or if no fallback is named: invalid records are then rejected
//    one by one. To assume Windows-1252 unasked would silently be wrong for half of the world's files.
// 5. The fallback, if one is named and no character of the beginning could be UTF-8. A note reports it.

/// An encoding, and the reason for it.
struct EncodingGuess: Equatable {
  enum Reason: Equatable {
    case mark, options, declared, zeros, valid, fallback
    /// Not all of the beginning is valid.
    case invalid
  }

  var encoding: TextEncoding
  var reason: Reason

  init(sample: [UInt8], isWhole: Bool, options: ReaderOptions) {
    if let marked = Self.marked(sample) {
      (encoding, reason) = (marked, .mark)
    } else if let given = options.encoding {
      (encoding, reason) = (given, .options)
    } else if let declared = Self.declared(sample) {
      (encoding, reason) = (declared, .declared)
    } else if let wide = Self.wide(sample) {
      (encoding, reason) = (wide, .zeros)
    } else {
      let text = Self.look(at: sample, isWhole: isWhole)
      if text.isValid {
        (encoding, reason) = (.utf8, .valid)
      } else if let fallback = options.fallbackEncoding, !text.hasCharacters {
        (encoding, reason) = (fallback, .fallback)
      } else {
        (encoding, reason) = (.utf8, .invalid)
      }
    }
  }

  private static func marked(_ bytes: [UInt8]) -> TextEncoding? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return .utf32LE }
    if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32BE }
    if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LE }
    if bytes.starts(with: [0xFE, 0xFF]) { return .utf16BE }
    return nil
  }

  /// The encoding that `<?xml version="1.0" encoding="…"?>` names, if it has one byte per character.
  private static func declared(_ bytes: [UInt8]) -> TextEncoding? {
    guard bytes.starts(with: "<?xml".utf8), let end = bytes.prefix(200).firstIndex(of: UInt8(ascii: ">")) else {
      return nil
    }
    let parts = String(decoding: bytes[..<end], as: UTF8.self).split { $0.isWhitespace || "=\"'?".contains($0) }
    guard let index = parts.firstIndex(of: "encoding"), index + 1 < parts.count,
      let encoding = TextEncoding(name: String(parts[index + 1])), encoding.isSingleByte
    else { return nil }
    return encoding
  }

  /// UTF-16 without a mark: there are zeros, nearly all on one side of the pairs, and bytes of ASCII punctuation are
  /// mostly paired with one, as delimiters and line ends are in every script.
  private static func wide(_ bytes: [UInt8]) -> TextEncoding? {
    guard bytes.count >= 4 else { return nil }
    var zeros = [0, 0]
    var marks = [0, 0]
    var paired = [0, 0]
    for index in 0..<(bytes.count & ~1) {
      let side = index & 1
      switch bytes[index] {
      case 0: zeros[side] += 1
      case 0x09, 0x0A, 0x0D, 0x20...0x2F, 0x3A...0x3F, 0x5B, 0x5D, 0x7B...0x7D:
        marks[side] += 1
        if bytes[index ^ 1] == 0 { paired[side] += 1 }
      default: break
      }
    }
    for (text, encoding) in [(0, TextEncoding.utf16LE), (1, .utf16BE)] {
      guard zeros[text] * 4 <= zeros[text ^ 1] else { continue }
      guard zeros[text ^ 1] * 10 >= bytes.count / 2, paired[text] > 0 else { continue }
      if paired[text] * 2 > marks[0] + marks[1] { return encoding }
    }
    return nil
  }

  /// Whether it is valid UTF-8, except for a last character that is cut off, and whether it has any character beyond ASCII.
  private static func look(at bytes: [UInt8], isWhole: Bool) -> (isValid: Bool, hasCharacters: Bool) {
    bytes.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return (true, false) }
      var isValid = true
      var hasCharacters = false
      var place = base
      let end = base + buffer.count
      while place < end {
        if place.pointee < 0x80 {
          place += 1
          continue
        }
        let length = (2...4).first { length in
          end - place >= length && TextValidator.validate(from: place, to: place + length) == nil
        }
        if let length {
          hasCharacters = true
          place += length
        } else {
          if isWhole || end - place > 3 { isValid = false }
          place += 1
        }
      }
      return (isValid, hasCharacters)
    }
  }
}
