/// A file whose bytes are in the queue's store, so that any daemon which shares the queue can have it. All of it is the same in
/// each copy, also its modification time: an import that goes on elsewhere recognises its file by that.
package struct SharedFile: RawRepresentable, Sendable, Hashable {
  package var size: Int64
  /// Nanoseconds since 1970.
  package var modified: Int64
  /// The SHA-256 of its bytes, in hexadecimal digits.
  package var digest: String

  package init(size: Int64, modified: Int64, digest: String) {
    self.size = size
    self.modified = modified
    self.digest = digest
  }

  /// The stored form: `SIZE MODIFIED DIGEST`.
  package var rawValue: String { "\(size) \(modified) \(digest)" }

  /// Nil for another text.
  package init?(rawValue text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let size = Int64(parts[0]), size >= 0, let modified = Int64(parts[1]) else { return nil }
    self.init(size: size, modified: modified, digest: String(parts[2]))
  }
}
