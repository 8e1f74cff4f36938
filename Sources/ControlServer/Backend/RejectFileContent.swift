/// A job's rejects as one file, read part by part: in the format of their source, or as JSON Lines.
package struct RejectFileContent: Sendable {
  /// The name under which it is kept.
  package var name: String
  /// Reads the next bytes; nil after the last. To be called by one task.
  package var next: @Sendable () async throws -> [UInt8]?

  package init(name: String, next: @escaping @Sendable () async throws -> [UInt8]?) {
    self.name = name
    self.next = next
  }

  /// The name for a header's value (RFC 6266): with letters alone that need no quotes.
  package var headerName: String {
    String(
      name.unicodeScalars.map { scalar in
        let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
        return isPlain || scalar == "." || scalar == "-" || scalar == "_" ? Character(scalar) : "_"
      })
  }
}
