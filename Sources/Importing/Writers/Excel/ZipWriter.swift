import CArchive

/// Writes a zip archive, one member after another. For one thread.
final class ZipWriter {
  /// Without the extension for larger members, which some programs don't read.
  static let memberLimit: Int64 = (1 << 32) - (1 << 20)

  private let archive: ArchiveWriter
  /// The bytes of the member so far.
  private var length: Int64 = 0

  /// - Parameter put: writes bytes of the archive; what it throws is thrown by the call that led to it.
  init(to put: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    archive = try ArchiveWriter(
      [
        { archive_write_set_format_zip($0) },
        { archive_write_set_format_option($0, "zip", "compression", "deflate") },
        { archive_write_set_format_option($0, "zip", "zip64", nil) },
      ], to: put)
  }

  /// Begins a member, whose bytes follow.
  func begin(_ name: String) throws {
    try archive.begin(name)
    length = 0
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    length += Int64(bytes.count)
    guard length <= Self.memberLimit else {
      throw WriterError.tooMuch(format: "xlsx", what: "bytes of a sheet", limit: Self.memberLimit)
    }
    try archive.write(bytes)
  }

  /// A member as a whole.
  func add(_ name: String, _ text: String) throws {
    try begin(name)
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes the archive's directory.
  func finish() throws { try archive.finish() }
}
