import Foundation

/// A number as bytes that sort like the numbers, for decimals that are stored as BLOBs, which SQLite sorts after all numbers. A
/// number is ±0.d₁d₂d₃… × 10ᵉ:
///
///     negative   00, the complements of e and of the digits, FF
///     zero       01
///     positive   02, e + 32768 in two bytes, the digits in ASCII without zeros at the end
///     infinity   03, and 00 00 00 for the negative one
enum DecimalKey {
  /// - Parameter text: digits with sign, point and exponent, as Swift describes numbers.
  static func bytes(of text: String) -> Data? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    if rest.elementsEqual("inf".utf8) { return isNegative ? Data([0, 0, 0]) : Data([3]) }

    var exponent = 0
    if let mark = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      guard let written = Int(String(decoding: rest[(mark + 1)...], as: UTF8.self)) else { return nil }
      // Beyond every decimal and double, and small enough for additions without overflow.
      exponent = min(max(written, -100_000), 100_000)
      rest = rest[..<mark]
    }
    let point = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
    exponent += point - rest.startIndex
    var digits = rest.filter { $0 != UInt8(ascii: ".") }[...]
    guard !digits.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    while digits.first == 0x30 {
      digits.removeFirst()
      exponent -= 1
    }
    while digits.last == 0x30 { digits.removeLast() }
    if digits.isEmpty { return Data([1]) }

    let biased = UInt16(clamping: exponent + 32_768)
    let body = [UInt8(biased >> 8), UInt8(truncatingIfNeeded: biased)] + digits
    return isNegative ? Data([0] + body.map { ~$0 } + [0xFF]) : Data([2] + body)
  }
}
