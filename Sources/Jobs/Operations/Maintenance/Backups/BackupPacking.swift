import Foundation
import Glibc
import Importing
import ManagedObjects

/// Packs, unpacks and compares files, block by block.
enum BackupPacking {
  private static let blockSize = 1 << 18

  /// Packs a file into a new one.
  static func pack(
    _ source: URL, of form: StoreCopyForm, into target: URL, _ compression: BackupCompression, _ watch: MaintenanceWatch
  ) throws {
    let file = try CompressedFileWriter(target, compression)
    try eachBlock(of: CompressedFileReader(source, form), watch) { try file.write($0) }
    try file.finish()
  }

  /// Unpacks a file into a new one; copies a file that isn't packed.
  static func unpack(_ source: URL, of form: StoreCopyForm, into target: URL, _ watch: MaintenanceWatch) throws {
    let file = try CompressedFileWriter(target, .none)
    try eachBlock(of: CompressedFileReader(source, form), watch) { try file.write($0) }
    try file.finish()
  }

  /// Whether a packed file holds exactly the bytes of another.
  static func holds(_ packed: URL, _ plain: URL, of form: StoreCopyForm, _ watch: MaintenanceWatch) throws -> Bool {
    let other = try CompressedFileReader(plain, form)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
    defer { bytes.deallocate() }
    var isSame = true
    try eachBlock(of: CompressedFileReader(packed, form), watch) { block in
      var rest = block
      while isSame, !rest.isEmpty {
        let count = try other.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<rest.count]))
        guard count > 0, let one = bytes.baseAddress, let two = rest.baseAddress, memcmp(one, two, count) == 0 else {
          isSame = false
          return
        }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
    return try isSame && other.read(into: bytes) == 0
  }

  private static func eachBlock(
    of file: CompressedFileReader, _ watch: MaintenanceWatch, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
    defer { bytes.deallocate() }
    while true {
      try watch.check()
      let count = try file.read(into: bytes)
      if count == 0 { return }
      try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      watch.report(MaintenanceProgress(bytesDone: min(file.position, file.size), bytesTotal: file.size))
    }
  }
}

/// How a backup is packed.
package enum BackupCompression: String, Sendable, Hashable, Codable, CaseIterable {
  /// Not at all: any program can look into it where it is.
  case none
  /// Read by everything; slower and larger than zstd.
  case gzip
  case zstd

  /// What a packed file's name ends with.
  var ending: String { written?.ending ?? "" }

  /// How its bytes are compressed; nil for not at all.
  var written: WrittenCompression? {
    switch self {
    case .none: nil
    case .gzip: .gzip
    case .zstd: .zstd
    }
  }

  /// How a file is packed, by its first bytes; nil when it is none of these, and not of the form either.
  init?(firstBytes bytes: some Collection<UInt8>, of form: StoreCopyForm) {
    if bytes.starts(with: [0x1F, 0x8B]) {
      self = .gzip
    } else if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
      self = .zstd
    } else if bytes.starts(with: form.firstBytes) {
      self = .none
    } else {
      return nil
    }
  }
}
