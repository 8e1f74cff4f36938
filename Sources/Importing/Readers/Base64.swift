/// Base64 of RFC 4648, with padding and without line ends.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    let length = (bytes.count + 2) / 3 * 4
    output.reserveCapacity(output.count + length)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, length)) { text in
      guard let start = text.baseAddress else { return }
      output.append(contentsOf: text[..<write(bytes, to: start)])
    }
  }

  /// Appends Base64, or `\x` and hexadecimal digits where a converter could take that text for hexadecimal.
  static func appendPlainly(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    let start = output.count
    append(bytes, to: &output)
    guard output[start...].withUnsafeBytes({ isHexadecimal($0) }) else { return }
    output.removeSubrange(start...)
    output.append(contentsOf: "\\x".utf8)
    let hexadecimal = Array("0123456789abcdef".utf8)
    for byte in bytes { output += [hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]] }
  }

  /// Whether a text consists of hexadecimal digits, as `binary_encoding: hex` has them.
  static func isHexadecimal(_ text: UnsafeRawBufferPointer) -> Bool {
    !text.isEmpty && text.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }
  }

  /// Whether a text consists of at least eight hexadecimal digits of one case, and of an even number of them. Capital letters
  /// alone don't count: zeros in Base64 are such a text.
  static func looksHexadecimal(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count >= 8, text.count.isMultiple(of: 2) else { return false }
    var (hasDigit, hasSmall, hasCapital) = (false, false, false)
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
      case UInt8(ascii: "a")...UInt8(ascii: "f"): hasSmall = true
      case UInt8(ascii: "A")...UInt8(ascii: "F"): hasCapital = true
      default: return false
      }
    }
    return hasSmall ? !hasCapital : hasDigit
  }

  /// Writes to memory with room for four bytes per started three. Returns the number of bytes written.
  static func write(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutablePointer<UInt8>) -> Int {
    var index = 0
    var written = 0
    while index < bytes.count {
      let left = bytes.count - index
      let group =
        UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
        | (left > 2 ? UInt32(bytes[index + 2]) : 0)
      output[written] = digits[Int(group >> 18)]
      output[written + 1] = digits[Int(group >> 12 & 63)]
      output[written + 2] = left > 1 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "=")
      output[written + 3] = left > 2 ? digits[Int(group & 63)] : UInt8(ascii: "=")
      index += 3
      written += 4
    }
    return written
  }
}
