/// A file that is decompressed while it is read from front to back, if it is compressed. Belongs to one thread at a time.
///
/// For files that aren't imported, such as backups: there is no limit to what they may unpack to.
package final class DecompressedFile {
  /// How the file is compressed, by its first bytes; nil if it isn't.
  package let compression: SourceCompression?
  /// The bytes of the file itself.
  package let size: Int64
  private let source: any ByteSource

  /// - Parameter descriptor: an open regular file. The caller keeps it and closes it after the last read.
  /// - Throws: ``ReaderError``.
  package init(descriptor: Int32, blockSize: Int = 128 << 10) throws {
    let file = try PlainSource(descriptor: descriptor)
    size = file.size
    let beginning = try file.readSample(16)
    file.rewind()
    compression = SourceCompression(beginning: beginning)
    let unlimited = ExpansionLimit(ratio: .max, bytes: .max)
    if let compression {
      source = try compression.unpacking(file, limit: unlimited, blockSize: blockSize)
    } else {
      source = file
    }
  }

  /// Reads the next bytes; returns how many, 0 at the end.
  /// - Throws: ``ReaderError``. A damaged file yields the bytes before the damage first.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard let target = buffer.baseAddress else { return 0 }
    return try source.read(into: target.assumingMemoryBound(to: UInt8.self), count: buffer.count)
  }

  /// The bytes of the file itself that have been read.
  package var position: Int64 { source.progress.done }
}
