import CLinux
package import Foundation

/// SHA-256 of FIPS 180-4, computed incrementally. No library on Linux provides it without much else.
package struct SHA256: Sendable {
  private static let block = 64

  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  /// Bytes that don't fill a block yet.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

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
    let whole = (bytes.count - place) / Self.block * Self.block
    compress(UnsafeRawBufferPointer(rebasing: bytes[place..<place + whole]))
    rest += bytes[(place + whole)...]
  }

  /// The digest of all bytes that were added, 32 bytes. Nothing can be added afterwards.
  package mutating func finish() -> Data {
    let bits = count &* 8
    let zeros = (Self.block * 2 - 9 - rest.count) % Self.block
    let padding =
      [0x80] + [UInt8](repeating: 0, count: zeros) + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    padding.withUnsafeBytes { update($0) }
    var digest = Data(capacity: 32)
    for word in state { withUnsafeBytes(of: word.bigEndian) { digest.append(contentsOf: $0) } }
    return digest
  }

  /// The digest of a message, 32 bytes.
  package static func digest(_ message: some Sequence<UInt8>) -> Data {
    var hash = SHA256()
    Array(message).withUnsafeBytes { hash.update($0) }
    return hash.finish()
  }

  /// Adds whole blocks.
  private mutating func compress(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
    state.withUnsafeMutableBufferPointer { lade_sha256($0.baseAddress, start, bytes.count / Self.block) }
  }
}
