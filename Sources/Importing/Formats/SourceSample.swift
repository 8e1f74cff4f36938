/// The first bytes of a source's text, after unpacking and decoding, by which its format is chosen.
struct SourceSample {
  let bytes: UnsafeBufferPointer<UInt8>
  /// Whether this is all of it.
  let isWhole: Bool

  /// The size of a sample.
  static let size = 64 << 10
  /// The bytes of the file itself that are compared with signatures.
  static let signatureSize = 256
  private static let binarySize = 8 << 10

  private static let signatures: [(bytes: [UInt8], name: String)] = [
    (Array("Rar!".utf8) + [0x1A, 0x07], "a RAR archive"),
    ([0x04, 0x22, 0x4D, 0x18], "an lz4 file"),
    ([0x1F, 0x9D], "a compress (.Z) file"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7-Zip archive"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "a PNG image"),
    ([0xFF, 0xD8, 0xFF], "a JPEG image"),
    (Array("GIF8".utf8), "a GIF image"),
    (Array("%PDF-".utf8), "a PDF document"),
    (SQLiteFormat.signature, "a SQLite database"),
    (Array("PAR1".utf8), "a Parquet file"),
    (Array("ORC".utf8) + [0x0A], "an ORC file"),
    ([0x7F] + Array("ELF".utf8), "a program (ELF)"),
    ([0xD0, 0xCF, 0x11, 0xE0], "an old Office document"),
  ]

  /// Refuses a source that isn't text or is empty.
  func check() throws(ReaderError) {
    for signature in Self.signatures where bytes.starts(with: signature.bytes) {
      if signature.name == "a Parquet file", !isBinary { continue }
      throw .binaryFile(offset: 0, looksLike: signature.name)
    }
    if let index = bytes.prefix(Self.binarySize).firstIndex(of: 0) {
      throw .binaryFile(offset: Int64(index), looksLike: "binary data")
    }
    if isWhole, text.allSatisfy(JSONToken.isSpace) { throw .emptyFile }
  }

  /// Whether there is a zero byte, which text doesn't have.
  var isBinary: Bool { bytes.prefix(Self.binarySize).contains(0) }

  /// Everything but a byte order mark.
  var text: Slice<UnsafeBufferPointer<UInt8>> {
    bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
  }

  /// The first byte of the text that isn't white space.
  var firstByte: UInt8? { text.first { !JSONToken.isSpace($0) } }
}
