import CLinux
import Foundation
import Testing

@testable import ManagedObjects

@Suite("SHA-256")
struct SHA256Tests {
  private func text(_ digest: Data) -> String { digest.map { String(format: "%02x", $0) }.joined() }

  @Test("has the digests that the standard gives")
  func vectors() {
    #expect(
      text(SHA256.digest([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      text(SHA256.digest("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      text(SHA256.digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      text(SHA256.digest(repeatElement(UInt8(ascii: "a"), count: 1_000_000)))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("is the same in parts of any length")
  func parts() {
    let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    let whole = SHA256.digest(message)
    for length in [1, 7, 63, 64, 65, 200] {
      var hash = SHA256()
      for start in stride(from: 0, to: message.count, by: length) {
        message[start..<min(start + length, message.count)].withUnsafeBytes { hash.update($0) }
      }
      #expect(hash.finish() == whole, "\(length)")
    }
  }

  @Test("the processor's instructions say the same as the portable form")
  func instructions() {
    let bytes = (0..<6400).map { UInt8(truncatingIfNeeded: $0 &* 101 &+ $0 >> 3) }
    for blocks in [0, 1, 2, 99, 100] {
      var (one, other) = ([UInt32](1...8), [UInt32](1...8))
      lade_sha256(&one, bytes, blocks)
      lade_sha256_portable(&other, bytes, blocks)
      #expect(one == other)
    }
  }
}
