import Foundation

/// SHA-256 of FIPS 180-4: no library on Linux brings it without bringing much else. For short texts, once in a while.
enum SHA256 {
  /// The digest of `message`, 32 bytes.
  static func digest(_ message: some Sequence<UInt8>) -> Data {
    var bytes = Array(message)
    let bits = UInt64(bytes.count) * 8
    bytes.append(0x80)
    while bytes.count % 64 != 56 { bytes.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
    var hash = initial
    for start in stride(from: 0, to: bytes.count, by: 64) { compress(bytes[start..<start + 64], into: &hash) }
    return Data(hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - $0 * 8)) } })
  }

  private static func compress(_ block: ArraySlice<UInt8>, into hash: inout [UInt32]) {
    var words = (0..<16).map { index in
      block[(block.startIndex + index * 4)..<(block.startIndex + index * 4 + 4)].reduce(UInt32(0)) {
        $0 << 8 | UInt32($1)
      }
    }
    for index in 16..<64 {
      let (a, b) = (words[index - 15], words[index - 2])
      let first = turned(a, 7) ^ turned(a, 18) ^ (a >> 3)
      let second = turned(b, 17) ^ turned(b, 19) ^ (b >> 10)
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var state = hash
    for index in 0..<64 {
      let (a, e) = (state[0], state[4])
      let choice = (e & state[5]) ^ (~e & state[6])
      let one = state[7] &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ choice &+ constants[index] &+ words[index]
      let majority = (a & state[1]) ^ (a & state[2]) ^ (state[1] & state[2])
      let two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ majority
      state = [one &+ two, a, state[1], state[2], state[3] &+ one, e, state[5], state[6]]
    }
    for index in 0..<8 { hash[index] &+= state[index] }
  }

  private static func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

  private static let initial: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  private static let constants: [UInt32] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
  ]
}
