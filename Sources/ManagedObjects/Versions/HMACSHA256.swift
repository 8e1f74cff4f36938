/// HMAC with SHA-256, of RFC 2104 and FIPS 198-1: a digest that can't be computed without the key.
package struct HMACSHA256: Sendable {
  private static let block = 64

  // The key with each padding, hashed once: they are the beginnings of every inner and outer message.
  private let inner, outer: SHA256

  /// A code for the messages of one key, of any length.
  package init(key: some Collection<UInt8>) {
    var block = key.count > Self.block ? Array(SHA256.digest(key)) : Array(key)
    block += [UInt8](repeating: 0, count: Self.block - block.count)
    var (inner, outer) = (SHA256(), SHA256())
    block.map { $0 ^ 0x36 }.withUnsafeBytes { inner.update($0) }
    block.map { $0 ^ 0x5C }.withUnsafeBytes { outer.update($0) }
    self.inner = inner
    self.outer = outer
  }

  /// The code of a message, 32 bytes.
  package func code(of message: UnsafeRawBufferPointer) -> [UInt8] {
    var (first, second) = (inner, outer)
    first.update(message)
    first.finish().withUnsafeBytes { second.update($0) }
    return Array(second.finish())
  }

  /// The same of bytes.
  package func code(of message: [UInt8]) -> [UInt8] { message.withUnsafeBytes { code(of: $0) } }
}
