package import Foundation

/// SHA-256 of FIPS 180-4, computed incrementally. No library on Linux provides it without much else.
package struct SHA256: Sendable {
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
  private static let block = 64

  private var state: SIMD8<UInt32> = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  /// Bytes that don't fill a block yet.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0
  private var schedule = [UInt32](repeating: 0, count: 64)

  package init() {}

  /// Adds bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    count &+= UInt64(bytes.count)
    var place = 0
    if !rest.isEmpty {
      place = min(Self.block - rest.count, bytes.count)
      rest += bytes[..<place]
      guard rest.count == Self.block else { return }
      let full = rest
      full.withUnsafeBytes { compress($0) }
      rest.removeAll(keepingCapacity: true)
    }
    while bytes.count - place >= Self.block {
      compress(UnsafeRawBufferPointer(rebasing: bytes[place..<place + Self.block]))
      place += Self.block
    }
    rest += bytes[place...]
  }

  /// The digest of all bytes that were added, 32 bytes. Nothing can be added afterwards.
  package mutating func finish() -> Data {
    let bits = count &* 8
    let zeros = (Self.block * 2 - 9 - rest.count) % Self.block
    let padding =
      [0x80] + [UInt8](repeating: 0, count: zeros) + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    padding.withUnsafeBytes { update($0) }
    var digest = Data(capacity: 32)
    for index in 0..<8 { withUnsafeBytes(of: state[index].bigEndian) { digest.append(contentsOf: $0) } }
    return digest
  }

  /// The digest of a message, 32 bytes.
  package static func digest(_ message: some Sequence<UInt8>) -> Data {
    var hash = SHA256()
    Array(message).withUnsafeBytes { hash.update($0) }
    return hash.finish()
  }

  private mutating func compress(_ block: UnsafeRawBufferPointer) {
    var sum = state
    Self.constants.withUnsafeBufferPointer { constants in
      schedule.withUnsafeMutableBufferPointer { words in
        for index in 0..<16 {
          words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
        }
        for index in 16..<64 {
          let (early, late) = (words[index - 15], words[index - 2])
          let small = Self.turned(early, 7) ^ Self.turned(early, 18) ^ (early >> 3)
          let great = Self.turned(late, 17) ^ Self.turned(late, 19) ^ (late >> 10)
          words[index] = words[index - 16] &+ small &+ words[index - 7] &+ great
        }
        var (a, b, c, d) = (sum[0], sum[1], sum[2], sum[3])
        var (e, f, g, h) = (sum[4], sum[5], sum[6], sum[7])
        for index in 0..<64 {
          let great = Self.turned(e, 6) ^ Self.turned(e, 11) ^ Self.turned(e, 25)
          let first = h &+ great &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
          let small = Self.turned(a, 2) ^ Self.turned(a, 13) ^ Self.turned(a, 22)
          let second = small &+ ((a & b) ^ (a & c) ^ (b & c))
          (h, g, f, e) = (g, f, e, d &+ first)
          (d, c, b, a) = (c, b, a, first &+ second)
        }
        sum = sum &+ SIMD8(a, b, c, d, e, f, g, h)
      }
    }
    state = sum
  }

  @inline(__always)
  private static func turned(_ word: UInt32, _ places: UInt32) -> UInt32 {
    (word &>> places) | (word &<< (32 &- places))
  }
}
