/// Base64 of RFC 4648, with padding and without line ends.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let left = bytes.count - index
      let group =
        UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
        | (left > 2 ? UInt32(bytes[index + 2]) : 0)
      output.append(digits[Int(group >> 18)])
      output.append(digits[Int(group >> 12 & 63)])
      output.append(left > 1 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "="))
      output.append(left > 2 ? digits[Int(group & 63)] : UInt8(ascii: "="))
      index += 3
    }
  }
}
