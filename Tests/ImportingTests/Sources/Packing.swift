import CArchive
import Testing

@testable import Importing

/// Why a file couldn't be made for a test.
struct PackingError: Error {
  let reason: String
}

/// Makes compressed files and archives with libarchive, in memory.
enum Packing {
  static func compressed(_ bytes: [UInt8], _ kind: SourceCompression) throws -> [UInt8] {
    try write { archive in
      filter(archive, kind)
      archive_write_set_format_raw(archive)
    } members: {
      [("data", bytes)]
    }
  }

  static func zip(
    _ members: [(String, [UInt8])], stored: Bool = false, password: String? = nil
  ) throws -> [UInt8] {
    try write { archive in
      archive_write_set_format_zip(archive)
      if stored { archive_write_zip_set_compression_store(archive) }
      if let password {
        archive_write_set_passphrase(archive, password)
        archive_write_set_format_option(archive, "zip", "encryption", "traditional")
      }
    } members: {
      members
    }
  }

  static func tar(_ members: [(String, [UInt8])], _ kind: SourceCompression? = nil) throws -> [UInt8] {
    try write { archive in
      if let kind { filter(archive, kind) }
      archive_write_set_format_pax_restricted(archive)
      // No padding to the blocks of a tape.
      archive_write_set_bytes_per_block(archive, 0)
    } members: {
      members
    }
  }

  /// A member that is this long, of which all but the beginning is a hole.
  static func sparseTar(_ name: String, _ beginning: [UInt8], size: Int64) throws -> [UInt8] {
    try write { archive in
      archive_write_set_format_pax(archive)
      archive_write_set_bytes_per_block(archive, 0)
    } members: {
      [(name, beginning)]
    } describe: { entry in
      archive_entry_set_size(entry, size)
      archive_entry_sparse_add_entry(entry, 0, Int64(beginning.count))
    }
  }

  private static func filter(_ archive: OpaquePointer, _ kind: SourceCompression) {
    switch kind {
    case .gzip: archive_write_add_filter_gzip(archive)
    case .bzip2: archive_write_add_filter_bzip2(archive)
    case .xz: archive_write_add_filter_xz(archive)
    case .zstd: archive_write_add_filter_zstd(archive)
    }
  }

  /// A name that ends in a slash makes a folder.
  private static func write(
    _ configure: (OpaquePointer) -> Void, members: () -> [(String, [UInt8])],
    describe: (OpaquePointer) -> Void = { _ in }
  ) throws -> [UInt8] {
    guard let archive = archive_write_new() else { throw PackingError(reason: "no memory") }
    defer { archive_write_free(archive) }
    configure(archive)
    archive_write_set_bytes_in_last_block(archive, 1)
    let room = members().reduce(1 << 20) { $0 + $1.1.count * 2 + 4_096 }
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
    defer { memory.deallocate() }
    var used = 0
    func check(_ result: Int32) throws {
      guard result >= ARCHIVE_WARN else {
        throw PackingError(reason: archive_error_string(archive).map { String(cString: $0) } ?? "unknown")
      }
    }
    try check(archive_write_open_memory(archive, memory, room, &used))
    for (name, bytes) in members() {
      guard let entry = archive_entry_new() else { throw PackingError(reason: "no memory") }
      defer { archive_entry_free(entry) }
      archive_entry_set_pathname(entry, name)
      archive_entry_set_filetype(entry, name.hasSuffix("/") ? 0o040000 : 0o100000)
      archive_entry_set_perm(entry, 0o644)
      archive_entry_set_size(entry, Int64(bytes.count))
      describe(entry)
      try check(archive_write_header(archive, entry))
      if !bytes.isEmpty, archive_write_data(archive, bytes, bytes.count) < 0 { try check(ARCHIVE_FATAL) }
    }
    try check(archive_write_close(archive))
    return Array(UnsafeBufferPointer(start: memory, count: used))
  }
}

/// The ways in which a text may come packed.
enum PackedCase: String, CaseIterable {
  case gzip, bzip2, xz, zstd, gzipTwice, zip, zipStored, zipSecond, tar, tarGzip, tarZstd, tarSecond
  case utf16, utf16Big, utf16Marked, utf32, gzipUTF16, zipLatin

  var options: ReaderOptions {
    var options = ReaderOptions()
    if self == .zipSecond || self == .tarSecond { options.member = "folder/a.csv" }
    if self == .zipLatin { options.encoding = .windows1252 }
    return options
  }

  /// The file's name, for a text that would be called so.
  func name(_ inner: String) -> String {
    switch self {
    case .gzip, .gzipTwice, .gzipUTF16: inner + ".gz"
    case .bzip2: inner + ".bz2"
    case .xz: inner + ".xz"
    case .zstd: inner + ".zst"
    case .zip, .zipStored, .zipSecond, .zipLatin: "data.zip"
    case .tar, .tarSecond: "data.tar"
    case .tarGzip: "data.tgz"
    case .tarZstd: "data.tar.zst"
    case .utf16, .utf16Big, .utf16Marked, .utf32: inner
    }
  }

  func pack(_ text: String, as inner: String = "a.csv") throws -> [UInt8] {
    let bytes = Array(text.utf8)
    let others: [(String, [UInt8])] = [
      ("folder/", []), ("folder/other.csv", Array("x\n1\n".utf8)), ("folder/" + inner, bytes),
      ("z.csv", Array("y\n1\n".utf8)),
    ]
    let middle = bytes.count / 2
    return switch self {
    case .gzip: try Packing.compressed(bytes, .gzip)
    case .bzip2: try Packing.compressed(bytes, .bzip2)
    case .xz: try Packing.compressed(bytes, .xz)
    case .zstd: try Packing.compressed(bytes, .zstd)
    case .gzipTwice:
      try Packing.compressed(Array(bytes[..<middle]), .gzip) + Packing.compressed(Array(bytes[middle...]), .gzip)
    case .zip: try Packing.zip([(inner, bytes)])
    case .zipStored: try Packing.zip([(inner, bytes)], stored: true)
    case .zipSecond: try Packing.zip(others)
    case .tar: try Packing.tar([(inner, bytes)])
    case .tarGzip: try Packing.tar([(inner, bytes)], .gzip)
    case .tarZstd: try Packing.tar([(inner, bytes)], .zstd)
    case .tarSecond: try Packing.tar(others)
    case .utf16: text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    case .utf16Big: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    case .utf16Marked: [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    case .utf32:
      [0xFF, 0xFE, 0, 0]
        + text.unicodeScalars.flatMap { scalar in (0..<4).map { UInt8(scalar.value >> (8 * $0) & 0xFF) } }
    case .gzipUTF16: try Packing.compressed(PackedCase.utf16Marked.pack(text), .gzip)
    case .zipLatin: try Packing.zip([(inner, text.unicodeScalars.map { UInt8($0.value & 0xFF) })])
    }
  }

  func file(_ text: String, as inner: String = "a.csv") throws -> SourceFile {
    try SourceFile(pack(text, as: inner), name: name(inner))
  }
}
