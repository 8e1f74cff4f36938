/// Where a reader stands between two records: enough to open the same file there again after a kill.
package struct ReaderPosition: Codable, Sendable, Hashable {
  /// Offset in the source, in bytes, of the next byte to be read: in the text after unpacking and decoding. To go on
  /// there, a plain UTF-8 file is sought in; one that is compressed or in another encoding is read up to there again.
  package var byteOffset: Int64
  /// Line of that byte, counted from 1.
  package var line: Int64
  /// Records delivered so far, those with a problem included.
  package var record: Int64
  /// What else the reader must know to go on; only the reader that wrote it reads it. Empty for CSV and NDJSON.
  package var state: String

  /// A position of these parts.
  package init(byteOffset: Int64, line: Int64, record: Int64, state: String = "") {
    self.byteOffset = byteOffset
    self.line = line
    self.record = record
    self.state = state
  }

  /// The beginning of a file.
  package static let start = ReaderPosition(byteOffset: 0, line: 1, record: 0)
}
