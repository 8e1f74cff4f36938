/// How a source is compressed as a whole.
package enum SourceCompression: String, Codable, Sendable, CaseIterable {
  case gzip, bzip2, xz, zstd

  /// The first bytes of such a file.
  var signature: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .bzip2: Array("BZh".utf8)
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }

  /// Endings of file names, and their replacements.
  private var endings: [(String, String)] {
    switch self {
    case .gzip: [(".tgz", ".tar"), (".gz", ""), (".gzip", "")]
    case .bzip2: [(".tbz2", ".tar"), (".tbz", ".tar"), (".bz2", ""), (".bz", "")]
    case .xz: [(".txz", ".tar"), (".xz", "")]
    case .zstd: [(".tzst", ".tar"), (".zst", ""), (".zstd", "")]
    }
  }

  /// The compression of a source that begins with these bytes.
  init?(beginning bytes: some Collection<UInt8>) {
    let found = Self.allCases.first { kind in
      guard bytes.starts(with: kind.signature) else { return false }
      // Three letters may begin a text, too: a bzip2 file continues with a digit and the digits of pi, or of its root.
      guard kind == .bzip2 else { return true }
      let rest = Array(bytes.dropFirst(3).prefix(3))
      return rest.count < 3 || rest.dropFirst() == [0x31, 0x41] || rest.dropFirst() == [0x17, 0x72]
    }
    guard let found else { return nil }
    self = found
  }

  /// The compression that a file name's ending states, whatever its case, and the name without the ending.
  static func ofName(_ name: String) -> (kind: SourceCompression, inner: String)? {
    let lower = name.lowercased()
    for kind in allCases {
      for (ending, replacement) in kind.endings where lower.hasSuffix(ending) && lower.count > ending.count {
        return (kind, String(name.dropLast(ending.count)) + replacement)
      }
    }
    return nil
  }
}

extension SourceCompression {
  /// The unpacked content of a file that is compressed in this way.
  func unpacking(_ file: PlainSource, limit: ExpansionLimit, blockSize: Int) throws(ReaderError) -> any ByteSource {
    switch self {
    case .gzip: return try DecodedSource(file, GzipDecoder(file, blockSize: blockSize), limit: limit)
    case .xz: return try DecodedSource(file, XZDecoder(file, blockSize: blockSize), limit: limit)
    case .bzip2, .zstd: return ArchiveSource(.compression(self), over: file, limit: limit, blockSize: blockSize)
    }
  }
}

/// The kind of an archive.
package enum SourceArchiveKind: String, Codable, Sendable, CaseIterable {
  case zip, tar

  static let zipSignatures: [[UInt8]] = ["PK\u{3}\u{4}", "PK\u{5}\u{6}"].map { Array($0.utf8) }

  init?(beginning bytes: [UInt8]) {
    if Self.zipSignatures.contains(where: bytes.starts(with:)) {
      self = .zip
    } else if Self.isTarHeader(bytes) {
      self = .tar
    } else {
      return nil
    }
  }

  /// A tar archive begins with a header of 512 bytes with its own checksum, in octal digits, in every variant of the format.
  private static func isTarHeader(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 512, bytes[0] != 0 else { return false }
    let field = 148..<156
    let digits = bytes[field].drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
    guard !digits.isEmpty else { return false }
    let said = digits.reduce(0) { $0 * 8 + Int($1 - 0x30) }
    let sum = bytes[..<512].indices.reduce(0) { $0 + (field.contains($1) ? 0x20 : Int(bytes[$1])) }
    return said == sum
  }
}

/// The limit on unpacking, for decompression bombs. Memory is bounded without it, since
/// only blocks are held; it bounds the time and the rows written to the store.
struct ExpansionLimit {
  /// Unpacked bytes for each byte of the file; checked only past `unchecked`.
  var ratio: Int
  /// Unpacked bytes.
  var bytes: Int64

  /// Short files may be of any density: this many bytes are always unpacked, unless `bytes` is less.
  static let unchecked: Int64 = 64 << 20

  func check(unpacked: Int64, from fileBytes: Int64) throws(ReaderError) {
    if unpacked > bytes { throw .source(.unpacksTooFar(limit: bytes)) }
    guard unpacked > Self.unchecked else { return }
    let (allowed, overflow) = max(1, fileBytes).multipliedReportingOverflow(by: Int64(ratio))
    if !overflow, unpacked > allowed {
      throw .source(.unpacksTooMuch(ratio: ratio, unpacked: unpacked, fileBytes: fileBytes))
    }
  }
}

extension ReaderOptions {
  var expansionLimit: ExpansionLimit { ExpansionLimit(ratio: maximumExpansion, bytes: maximumUnpackedBytes) }
}
