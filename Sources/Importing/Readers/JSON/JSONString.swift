/// Escapes in JSON strings.
enum JSONString {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Appends a text in quotes.
  static func quote(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
    output.append(JSONToken.quote)
    for byte in text {
      if needsEscape(byte) { escape(byte) { output.append($0) } } else { output.append(byte) }
    }
    output.append(JSONToken.quote)
  }

  /// Whether a byte must be escaped in a string.
  @inline(__always)
  static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == JSONToken.quote || byte == JSONToken.backslash
  }

  /// Passes the escape of such a byte to `put`.
  @inline(__always)
  static func escape(_ byte: UInt8, _ put: (UInt8) -> Void) {
    put(JSONToken.backslash)
    switch byte {
    case 0x0A: put(UInt8(ascii: "n"))
    case 0x0D: put(UInt8(ascii: "r"))
    case 0x09: put(UInt8(ascii: "t"))
    case ..<0x20:
      put(UInt8(ascii: "u"))
      put(UInt8(ascii: "0"))
      put(UInt8(ascii: "0"))
      put(digits[Int(byte >> 4)])
      put(digits[Int(byte & 15)])
    default: put(byte)
    }
  }

  /// Copies the content of a string that was scanned without a mistake, with its escapes decoded. Returns the bytes
  /// written, which are never more than the text has.
  static func unescape(_ text: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int {
    guard var place = text.baseAddress else { return 0 }
    let end = place + text.count
    var output = target
    while place < end {
      guard place.pointee == JSONToken.backslash, place + 1 < end else {
        output.pointee = place.pointee
        output += 1
        place += 1
        continue
      }
      switch place[1] {
      case UInt8(ascii: "b"): output.pointee = 0x08
      case UInt8(ascii: "f"): output.pointee = 0x0C
      case UInt8(ascii: "n"): output.pointee = 0x0A
      case UInt8(ascii: "r"): output.pointee = 0x0D
      case UInt8(ascii: "t"): output.pointee = 0x09
      case UInt8(ascii: "u"):
        var scalar = JSONToken.unit(place, end) ?? 0xFFFD
        place += 6
        if scalar & 0xFC00 == 0xD800, let low = JSONToken.unit(place, end) {
          scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
          place += 6
        }
        output = write(scalar, to: output)
        continue
      default: output.pointee = place[1]
      }
      output += 1
      place += 2
    }
    return output - target
  }

  /// Writes a Unicode scalar in UTF-8; returns the place after it.
  private static func write(
    _ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8> {
    func continuation(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | scalar >> shift & 0x3F) }
    switch scalar {
    case ..<0x80:
      target[0] = UInt8(truncatingIfNeeded: scalar)
      return target + 1
    case ..<0x800:
      target[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
      target[1] = continuation(0)
      return target + 2
    case ..<0x10000:
      target[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
      target[1] = continuation(6)
      target[2] = continuation(0)
      return target + 3
    default:
      target[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
      target[1] = continuation(12)
      target[2] = continuation(6)
      target[3] = continuation(0)
      return target + 4
    }
  }
}
