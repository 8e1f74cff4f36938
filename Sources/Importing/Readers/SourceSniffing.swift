// What a source is, from its first bytes: those of its text, when it was unpacked and decoded.

/// The beginning of a source, looked at before a reader is chosen.
struct SourceSample {
  let bytes: UnsafeBufferPointer<UInt8>
  /// Whether this is all of it.
  let isWhole: Bool

  /// As much of a source is looked at.
  static let size = 64 << 10
  private static let binarySize = 8 << 10

  /// What a SQLite database begins with.
  static let sqlite = Array("SQLite format 3\0".utf8)
  private static let signatures: [(bytes: [UInt8], name: String)] = [
    (Array("Rar!".utf8) + [0x1A, 0x07], "a RAR archive"),
    ([0x04, 0x22, 0x4D, 0x18], "an lz4 file"),
    ([0x1F, 0x9D], "a compress (.Z) file"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7-Zip archive"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "a PNG image"),
    ([0xFF, 0xD8, 0xFF], "a JPEG image"),
    (Array("GIF8".utf8), "a GIF image"),
    (Array("%PDF-".utf8), "a PDF document"),
    (sqlite, "a SQLite database"),
    (Array("PAR1".utf8), "a Parquet file"),
    (Array("ORC".utf8) + [0x0A], "an ORC file"),
    ([0x7F] + Array("ELF".utf8), "a program (ELF)"),
    ([0xD0, 0xCF, 0x11, 0xE0], "an old Office document"),
  ]

  /// Refuses what isn't text, and what has no text.
  func check() throws(ReaderError) {
    for signature in Self.signatures where bytes.starts(with: signature.bytes) {
      if signature.name == "a Parquet file", !bytes.prefix(Self.binarySize).contains(0) { continue }
      throw .binaryFile(offset: 0, looksLike: signature.name)
    }
    if let index = bytes.prefix(Self.binarySize).firstIndex(of: 0) {
      throw .binaryFile(offset: Int64(index), looksLike: "binary data")
    }
    if isWhole, text.allSatisfy(JSONToken.isSpace) { throw .emptyFile }
  }

  /// The format, as far as name and bytes tell; CSV if they don't.
  func format(fileName: String) -> SourceFormat {
    let named = SourceFormat(fileName: fileName)
    if let named, named != .json, named != .xml { return named }
    guard let first = text.firstIndex(where: { !JSONToken.isSpace($0) }) else { return named ?? .csv }
    switch text[first] {
    case UInt8(ascii: "{") where text[first...].starts(with: Array("{\"lade\":{\"line\":".utf8)):
      return .ndjson  // A reject file, be it of one record.
    case UInt8(ascii: "{"): return objectIsFollowedByAnother(from: first) ? .ndjson : .json
    case UInt8(ascii: "["): return .json
    case UInt8(ascii: "<") where named == .xml || text[first...].starts(with: Array("<?xml".utf8)):
      return text[first...].prefix(1_024).contains(Array("<plist".utf8)) ? .plist : .xml
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
