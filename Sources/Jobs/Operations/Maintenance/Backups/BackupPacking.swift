import Foundation
import Glibc
import ManagedObjects

/// Packs, unpacks and compares files, block by block.
enum BackupPacking {
  private static let blockSize = 1 << 18

  /// Packs a file into a new one.
  static func pack(_ source: URL, into target: URL, _ compression: BackupCompression, _ watch: MaintenanceWatch) throws
  {
    let file = try CompressedFileWriter(target, compression)
    try eachBlock(of: CompressedFileReader(source), watch) { try file.write($0) }
    try file.finish()
  }

  /// Unpacks a file into a new one; copies a file that isn't packed.
  static func unpack(_ source: URL, into target: URL, _ watch: MaintenanceWatch) throws {
    let file = try CompressedFileWriter(target, .none)
    try eachBlock(of: CompressedFileReader(source), watch) { try file.write($0) }
    try file.finish()
  }

  /// Whether a packed file holds exactly the bytes of another.
  static func holds(_ packed: URL, _ plain: URL, _ watch: MaintenanceWatch) throws -> Bool {
    let other = try CompressedFileReader(plain)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
    defer { bytes.deallocate() }
    var isSame = true
    try eachBlock(of: CompressedFileReader(packed), watch) { block in
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
