import Glibc

/// One component of a path, byte for byte as the directory has it: it need not be UTF-8, and it is never trusted.
struct FileName: Hashable, Sendable {
  /// The bytes and a NUL, for the system's calls.
  let terminated: [CChar]

  init(_ text: String) {
    terminated = Array(text.utf8CString)
  }

  /// The name that `readdir` or inotify gave: NUL-terminated.
  init(cString: UnsafePointer<CChar>) {
    terminated = Array(UnsafeBufferPointer(start: cString, count: strlen(cString) + 1))
  }

  /// The bytes and a NUL, as they were.
  init(terminated: [CChar]) {
    self.terminated = terminated
  }

  var count: Int { terminated.count - 1 }

  var bytes: some BidirectionalCollection<UInt8> {
    terminated.lazy.dropLast().map { UInt8(bitPattern: $0) }
  }

  /// The name as text, or nil if it isn't UTF-8.
  var text: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// The name for a log or a message: what isn't UTF-8 replaced, control characters escaped, never too long.
  var shown: String {
    var shown = ""
    for scalar in String(decoding: bytes.prefix(FileName.longest + 20), as: UTF8.self).unicodeScalars {
      if FileName.isControl(scalar) {
        shown += "\\u{" + String(scalar.value, radix: 16) + "}"
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return count > FileName.longest + 20 ? shown + "…" : shown
  }

  /// Byte order: the order of names where times are equal.
  static func < (left: FileName, right: FileName) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

// MARK: Rules for names

extension FileName {
  /// A name longer than this many bytes is refused: `active/`, `done/` and `corrupt/` add a number and a suffix.
  static let longest = 200

  /// Whether this is a ticket's name.
  var isTicket: Bool {
    bytes.reversed().starts(with: ".job".utf8.reversed()) && count > 4
  }

  /// Why an entry of this name is refused, or nil if the name will do.
  var refusal: SpoolRefusal? {
    guard let text else { return .nameNotUTF8 }
    if text.unicodeScalars.contains(where: FileName.isControl) { return .controlCharacters }
    return count > FileName.longest ? .nameTooLong(bytes: count, limit: FileName.longest) : nil
  }

  /// The name with everything but letters, digits and `. _ + = @ - ,` replaced by `_`, at most 200 bytes of it, and
  /// without a dot at its start.
  var sanitised: String {
    var name = ""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let keeps =
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || "._+=@-,".unicodeScalars.contains(scalar)
      let next = keeps ? scalar : "_"
      if name.utf8.count + UTF8.width(next) > FileName.longest { break }
      name.unicodeScalars.append(next)
    }
    if name.hasPrefix(".") { name = "_" + name.dropFirst() }
    return name.isEmpty ? "_" : name
  }

  /// C0, DEL, C1, and the invisible ones that end a line or turn the direction of a terminal's text.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
