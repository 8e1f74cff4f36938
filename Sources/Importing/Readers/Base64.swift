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
