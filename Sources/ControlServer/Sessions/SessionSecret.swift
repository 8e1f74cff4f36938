import CLinux

/// A random number of 256 bits that admits who has it: in a link for signing in, or in a browser's cookie. No way of
/// describing values shows it; ``text`` does.
package struct SessionSecret: Sendable {
  static let size = 32

  private let bytes: [UInt8]

  /// A new one from the kernel's generator, getrandom(2).
  package init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<Self.size).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// - Parameter text: 64 hexadecimal digits in small letters; nil for anything else.
  package init?(_ text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * Self.size else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(digits[place]), let low = Self.value(digits[place + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self.bytes = bytes
  }

  /// The secret in 64 hexadecimal digits.
  package var text: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  var digest: SecretDigest { SecretDigest(of: bytes) }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension SessionSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is kept of a secret: its SHA-256. Who reads the daemon's memory or a core dump can't sign in with it.
struct SecretDigest: Sendable {
  let words: [UInt32]

  /// - Parameter bytes: at most 55, so that they are one block with their padding (FIPS 180-4, 5.1.1).
  init(of bytes: [UInt8]) {
    precondition(bytes.count < 56)
    var block = bytes + [0x80]
    block += [UInt8](repeating: 0, count: 64 - block.count)
    block[62] = UInt8(truncatingIfNeeded: (bytes.count * 8) >> 8)
    block[63] = UInt8(truncatingIfNeeded: bytes.count * 8)
    var state: [UInt32] = [
      0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    lade_sha256(&state, block, 1)
    words = state
  }

  /// Whether it is the same. Takes the same time for every other.
  func matches(_ other: SecretDigest) -> Bool {
    var difference: UInt32 = 0
    for place in words.indices { difference |= words[place] ^ other.words[place] }
    return difference == 0
  }
}
