import CArchive

/// How a written file is compressed.
package enum WrittenCompression: String, Codable, Sendable, CaseIterable {
  case gzip, zstd

  /// The ending that it adds to a file's name.
  package var ending: String { self == .gzip ? ".gz" : ".zst" }
}

/// Compresses on the way into a file. Neither a time nor a name is stored in it. For one thread.
package final class CompressedSink: ByteSink {
  private let archive: ArchiveWriter

  /// - Parameter put: writes compressed bytes; what it throws is thrown by the call that led to it.
  package init(
    _ compression: WrittenCompression, to put: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let filter: [(OpaquePointer) -> Int32] =
      switch compression {
      case .gzip:
        [
          { archive_write_add_filter_gzip($0) },
          { archive_write_set_filter_option($0, "gzip", "timestamp", nil) },
        ]
      case .zstd: [{ archive_write_add_filter_zstd($0) }]
      }
    archive = try ArchiveWriter(filter + [{ archive_write_set_format_raw($0) }], to: put)
    try archive.begin("data")
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws { try archive.write(bytes) }

  /// Writes the rest.
  package func finish() throws { try archive.finish() }
}
