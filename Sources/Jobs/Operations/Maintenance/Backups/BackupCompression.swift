/// How a backup is packed.
package enum BackupCompression: String, Sendable, Hashable, Codable, CaseIterable {
  /// Not at all: any program can look into it where it is.
  case none
  /// Read by everything; slower and larger than zstd.
  case gzip
  case zstd

  /// What a packed file's name ends with.
  var ending: String {
    switch self {
    case .none: return ""
    case .gzip: return ".gz"
    case .zstd: return ".zst"
    }
  }

  /// How a file is packed, by its first bytes; nil when it is none of these, and no SQLite file.
  init?(firstBytes bytes: some Collection<UInt8>) {
    if bytes.starts(with: [0x1F, 0x8B]) {
      self = .gzip
    } else if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
      self = .zstd
    } else if bytes.starts(with: Array("SQLite format 3\0".utf8)) {
      self = .none
    } else {
      return nil
    }
  }
}
