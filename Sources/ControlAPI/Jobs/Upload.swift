/// A file that is sent to the daemon in parts, because its sender has no path that the daemon could open.
package struct Upload: Codable, Sendable, Hashable {
  /// Its number among its user's, which no other has had.
  package var id: Int64
  /// As its sender calls it.
  package var name: String
  /// Bytes that it is to have.
  package var size: Int64
  /// Bytes that have arrived.
  package var received: Int64

  package init(id: Int64, name: String, size: Int64, received: Int64) {
    self.id = id
    self.name = name
    self.size = size
    self.received = received
  }

  package var isWhole: Bool { received == size }

  /// What names it as the source of a job, or of a test of a recipe, of the same user: `upload:7`.
  package var source: String { Self.prefix + String(id) }

  private static let prefix = "upload:"

  /// The number in a ``source``; nil for a path.
  package static func id(ofSource source: String) -> Int64? {
    source.hasPrefix(prefix) ? Int64(source.dropFirst(prefix.count)) : nil
  }
}
