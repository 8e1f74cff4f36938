// What a source is, from its first bytes.

/// The beginning of a source, looked at before a reader is chosen.
struct SourceSample {
  let bytes: UnsafeBufferPointer<UInt8>
  /// Whether this is all of it.
  let isWhole: Bool

  /// As much of a source is looked at.
  static let size = 64 << 10
  private static let binarySize = 8 << 10

  private static let signatures: [(bytes: [UInt8], name: String)] = [
    ([0x1F, 0x8B], "a gzip file"),
    (Array("PK\u{3}\u{4}".utf8), "a zip archive (or an Office document)"),
    (Array("PK\u{5}\u{6}".utf8), "an empty zip archive"),
    (Array("BZh".utf8), "a bzip2 file"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "an xz file"),
    ([0x28, 0xB5, 0x2F, 0xFD], "a zstd file"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7-Zip archive"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "a PNG image"),
    ([0xFF, 0xD8, 0xFF], "a JPEG image"),
    (Array("GIF8".utf8), "a GIF image"),
    (Array("%PDF-".utf8), "a PDF document"),
    (Array("SQLite format 3\0".utf8), "a SQLite database"),
    (Array("PAR1".utf8), "a Parquet file"),
    (Array("ORC".utf8) + [0x0A], "an ORC file"),
    ([0x7F] + Array("ELF".utf8), "a program (ELF)"),
    ([0xD0, 0xCF, 0x11, 0xE0], "an old Office document"),
  ]

  /// Refuses what isn't text, and what has no text.
  func check() throws(ReaderError) {
    for signature in Self.signatures where bytes.starts(with: signature.bytes) {
      // Three letters may begin a text, too: a bzip2 file goes on with a digit and the digits of pi.
      if signature.bytes.count == 3, signature.bytes[0] < 0x80, !bytes.dropFirst(4).starts(with: [0x31, 0x41]) {
        continue
      }
      if signature.name == "a Parquet file", !bytes.prefix(Self.binarySize).contains(0) { continue }
      throw .binaryFile(offset: 0, looksLike: signature.name)
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw .notUTF8(line: 1, looksLike: "UTF-16")
    }
    if let index = bytes.prefix(Self.binarySize).firstIndex(of: 0) {
      let everyOther = (index & 1)...(index & 1)
      let isWide =
        bytes.count > 8
        && stride(from: everyOther.lowerBound, to: min(bytes.count, 32), by: 2).allSatisfy { bytes[$0] == 0 }
      if isWide { throw .notUTF8(line: 1, looksLike: "UTF-16 without a byte order mark") }
      throw .binaryFile(offset: Int64(index), looksLike: "binary data")
    }
    if isWhole, text.allSatisfy(JSONToken.isSpace) { throw .emptyFile }
  }

  /// The format, as far as name and bytes tell; CSV if they don't.
  func format(fileName: String) -> SourceFormat {
    let named = SourceFormat(fileName: fileName)
    if let named, named != .json { return named }
    guard let first = text.firstIndex(where: { !JSONToken.isSpace($0) }) else { return named ?? .csv }
    switch text[first] {
    case UInt8(ascii: "{"): return objectIsFollowedByAnother(from: first) ? .ndjson : .json
    case UInt8(ascii: "["): return .json
    case UInt8(ascii: "<") where text[first...].starts(with: Array("<?xml".utf8)): return named ?? .xml
    default: return named ?? .csv
    }
  }

  /// Everything but a byte order mark.
  private var text: Slice<UnsafeBufferPointer<UInt8>> {
    bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
  }

  /// Two objects in a row are no JSON document, but they are NDJSON.
  private func objectIsFollowedByAnother(from index: Int) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    var walker = JSONWalker(depth: 0)
    let end = base + bytes.count
    guard case .end(let place) = walker.walk(from: base + index, to: end, final: true) else { return false }
    let next = JSONToken.skipSpace(place, end)
    return next < end && next.pointee == UInt8(ascii: "{")
  }
}
