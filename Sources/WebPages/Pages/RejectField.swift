import ControlAPI

/// A rejected record in a form's field of several lines. Such a field keeps neither the line ends nor every character of
/// a text, so there are records that can't be corrected in one.
struct RejectField: Sendable {
  /// Why a record can't be corrected in a field.
  enum Obstacle: Sendable, Hashable, CustomStringConvertible {
    case isCut
    case isNoText
    case hasNUL
    case hasOddLineEnds

    var description: String {
      switch self {
      case .isCut: "only its beginning can be shown"
      case .isNoText: "it has bytes that aren't UTF-8"
      case .hasNUL: "it has a NUL character"
      case .hasOddLineEnds: "its lines end in different ways, or in CR alone"
      }
    }
  }

  /// Nil where the record can be corrected.
  let obstacle: Obstacle?
  private let reject: Reject
  private let lineEnd: String

  init(_ reject: Reject) {
    self.reject = reject
    let lineEnd = Self.lineEnd(of: reject.record)
    self.lineEnd = lineEnd ?? "\n"
    let shown = reject.record.utf8.count
    if reject.recordBytes > shown {
      obstacle = .isCut
    } else if reject.recordBytes < shown {
      // What stands for such bytes is longer.
      obstacle = .isNoText
    } else if reject.record.unicodeScalars.last == "\u{FFFD}" {
      // A character that was cut in two may make up for what was cut off behind it.
      obstacle = .isCut
    } else if reject.record.utf8.contains(0) {
      obstacle = .hasNUL
    } else {
      obstacle = lineEnd == nil ? .hasOddLineEnds : nil
    }
  }

  /// How many lines the field shows.
  var rows: Int { min(max(reject.record.utf8.count(where: { $0 == Self.lineFeed }) + 2, 3), 20) }

  /// What is sent for a text that came back from the field: nil where nothing was changed and the record can be read as
  /// it is. Its lines end as those of the record, and line ends after it are as they were.
  func correction(_ typed: String) -> String? {
    let original = Self.plain(reject.record)
    var bytes = Self.plain(typed)
    while bytes.last == Self.lineFeed { bytes.removeLast() }
    bytes += original.reversed().prefix { $0 == Self.lineFeed }
    // By bytes: two strings are equal also where one of them has composed characters and the other doesn't.
    if bytes == original { return reject.isReadable ? nil : reject.record }
    let lines = bytes.split(separator: Self.lineFeed, omittingEmptySubsequences: false)
    return String(decoding: Array(lines.joined(separator: lineEnd.utf8)), as: UTF8.self)
  }

  private static var lineFeed: UInt8 { UInt8(ascii: "\n") }
  private static var carriageReturn: UInt8 { UInt8(ascii: "\r") }

  /// What all lines of a text end with; nil where they differ, or where it is CR alone.
  private static func lineEnd(of text: String) -> String? {
    var (feeds, returns, pairs) = (0, 0, 0)
    var previous: UInt8 = 0
    for byte in text.utf8 {
      if byte == carriageReturn { returns += 1 }
      if byte == lineFeed { feeds += 1 }
      if byte == lineFeed, previous == carriageReturn { pairs += 1 }
      previous = byte
    }
    guard returns == pairs, pairs == 0 || pairs == feeds else { return nil }
    return pairs > 0 ? "\r\n" : "\n"
  }

  /// The bytes of a text with every line end as a line feed.
  private static func plain(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var previous: UInt8 = 0
    for byte in text.utf8 {
      if byte == carriageReturn {
        bytes.append(lineFeed)
      } else if byte != lineFeed || previous != carriageReturn {
        bytes.append(byte)
      }
      previous = byte
    }
    return bytes
  }
}
