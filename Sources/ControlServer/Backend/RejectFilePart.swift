/// A part of a job's rejects as one file: in the format of their source, or as JSON Lines.
package struct RejectFilePart: Sendable, Hashable {
  /// The name under which it is kept.
  package var name: String
  package var bytes: [UInt8]
  /// Where the next part begins; nil after the last.
  package var next: Int64?

  package init(name: String, bytes: [UInt8], next: Int64?) {
    self.name = name
    self.bytes = bytes
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
