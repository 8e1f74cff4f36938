import Glibc

/// One component of a path, byte for byte as in the directory. It needn't be UTF-8, and it is never trusted.
struct FileName: Hashable, Sendable {
  /// The bytes and a NUL, for system calls.
  let terminated: [CChar]

  init(_ text: String) {
    terminated = Array(text.utf8CString)
  }

  /// A NUL-terminated name from `readdir` or inotify.
  init(cString: UnsafePointer<CChar>) {
    terminated = Array(UnsafeBufferPointer(start: cString, count: strlen(cString) + 1))
  }

  /// Bytes that end with a NUL.
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

  /// The name for a log or a message: invalid UTF-8 replaced, control characters escaped, length limited.
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

  /// Byte order. Names decide the order where times are equal.
  static func < (left: FileName, right: FileName) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

// MARK: Rules for names

extension FileName {
  /// A name longer than this many bytes is refused: `active/`, `done/` and `corrupt/` add a number and a suffix.
  static let longest = 200

  /// Whether this is the name of a ticket.
  var isTicket: Bool {
    bytes.reversed().starts(with: ".job".utf8.reversed()) && count > 4
  }

  /// Why an entry of this name is refused, or nil if the name is acceptable.
  var refusal: SpoolRefusal? {
    guard let text else { return .nameNotUTF8 }
    if text.unicodeScalars.contains(where: FileName.isControl) { return .controlCharacters }
    return count > FileName.longest ? .nameTooLong(bytes: count, limit: FileName.longest) : nil
  }

  /// The name with everything but letters, digits and `. _ + = @ - ,` replaced by `_`, at most 200 bytes of it, and without a
  /// leading dot.
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

  /// C0, DEL, C1, and the invisible characters that end a line or change the direction of a terminal's text.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

/// Finds a name that isn't taken: `name`, `name.2`, `name.3` and so on.
enum FreeName {
  static func numbered(_ name: String, _ number: Int) -> String {
    number == 1 ? name : "\(name).\(number)"
  }

  /// A number whose name is free, from 1: the smallest, unless some were removed. Takes logarithmic time, because the same name
  /// may be handed in a hundred thousand times.
  static func number(isTaken: (Int) throws -> Bool) rethrows -> Int {
    var (taken, free) = (0, 1)
    while try isTaken(free) { (taken, free) = (free, free * 2) }
    while free - taken > 1 {
      let middle = taken + (free - taken) / 2
      if try isTaken(middle) { taken = middle } else { free = middle }
    }
    return free
  }

  /// Finds a free name and calls `claim` with it. If `claim` throws EEXIST, because another process was faster, tries the next.
  @discardableResult
  static func claim(
    _ name: String, isTaken: (FileName) throws -> Bool, claim: (FileName) throws -> Void
  ) throws -> String {
    while true {
      let free = numbered(name, try number { try isTaken(FileName(numbered(name, $0))) })
      do {
        try claim(FileName(free))
        return free
      } catch let error as SpoolError where error.code == EEXIST {
        continue
      }
    }
  }
}

/// Recognises unfinished files by their names: uploading programs mark them with a prefix or a suffix.
struct PartialNames: Sendable {
  /// With the usual suffixes only.
  static let usual = PartialNames(more: [])

  /// The suffixes of browsers, download managers, FTP and SFTP clients, and editors. Names that begin with a dot are unfinished,
  /// too, such as rsync's `.NAME.XXXXXX`.
  private static let known = [
    ".part", ".partial", ".filepart", ".tmp", ".temp", ".swp", ".swx", ".crdownload", ".download", ".opdownload",
    ".aria2", ".uploading", ".inprogress", "~",
  ]

  /// In lower case: ASCII letters match in either case.
  private let endings: [[UInt8]]
  private let longest: Int

  /// - Parameter more: suffixes in addition to the usual ones.
  init(more: [String]) {
    endings = (PartialNames.known + more).map { $0.utf8.map(PartialNames.lowercase) }
    longest = endings.map(\.count).max() ?? 0
  }

  /// Whether the name marks its entry as unfinished. Such an entry is ignored, whatever it is.
  func match(_ name: FileName) -> Bool {
    if name.terminated.first == CChar(bitPattern: UInt8(ascii: ".")) { return true }
    let tail = name.bytes.suffix(longest).map(PartialNames.lowercase)
    return endings.contains { !$0.isEmpty && tail.suffix($0.count).elementsEqual($0) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
