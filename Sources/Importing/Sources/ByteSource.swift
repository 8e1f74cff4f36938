import Glibc

// The stages under the readers, each a source of bytes.
//
//   file ─▶ PlainSource ─▶ [DecodedSource: gzip, xz | ArchiveSource: bzip2, zstd] ─▶ [ArchiveSource: a member of zip or tar]
//                                                  ─▶ [TranscodedSource: UTF-16 and others to UTF-8] ─▶ SourceWindow
//
// 1. Each stage holds a block, never the file, and nothing is written to disk.
// 2. `offset` counts the bytes that this stage has delivered. For the last stage it is `ReaderPosition.byteOffset`:
//    for a plain file a place in the file, otherwise a place in the unpacked, decoded text.
// 3. The same file yields the same bytes each time. In a plain file a reader resumes by a seek; in all others by reading up to
//    the place again, which costs the time to unpack that part.
// 4. Bytes before damage are delivered first; the next read and every later one throw the error.

/// A stage that delivers bytes in order. Belongs to one thread at a time.
protocol ByteSource: AnyObject {
  /// Bytes delivered so far: the offset of the next one.
  var offset: Int64 { get }

  /// How much of the file underneath has been read, for a progress bar: done of total, in the stage's own unit.
  var progress: (done: Int64, total: Int64) { get }

  /// Writes the next bytes to `target`: at least one and up to `count`, or 0 at the end.
  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int

  /// Moves back to the beginning.
  func rewind() throws(ReaderError)

  /// Moves to a place. False if the source ends before it; the source is then at its end.
  func seek(to target: Int64) throws(ReaderError) -> Bool
}

extension ByteSource {
  /// Reads up to there, from the beginning if necessary.
  func seek(to target: Int64) throws(ReaderError) -> Bool {
    guard target >= 0 else { return false }
    if target < offset { try rewind() }
    let size = 64 << 10
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    defer { scratch.deallocate() }
    while offset < target {
      if try read(into: scratch, count: Int(min(Int64(size), target - offset))) == 0 { return false }
    }
    return true
  }

  /// Reads this many bytes, fewer if the source ends before.
  func readSample(_ count: Int) throws(ReaderError) -> [UInt8] {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    defer { memory.deallocate() }
    var filled = 0
    while filled < count {
      let got = try read(into: memory + filled, count: count - filled)
      if got == 0 { break }
      filled += got
    }
    return Array(UnsafeBufferPointer(start: memory, count: filled))
  }
}

/// A file as it is, read by `pread`. The caller keeps the descriptor, whose own offset isn't used.
final class PlainSource: ByteSource {
  let size: Int64
  private(set) var offset: Int64 = 0
  private let descriptor: Int32

  init(descriptor: Int32) throws(ReaderError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .readFailed(errno: errno) }
    self.descriptor = descriptor
    size = Int64(status.st_size)
  }

  var progress: (done: Int64, total: Int64) { (offset, size) }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    while true {
      let got = pread(descriptor, target, count, off_t(offset))
      if got < 0 {
        if errno == EINTR { continue }
        throw .readFailed(errno: errno)
      }
      offset += Int64(got)
      return got
    }
  }

  func rewind() { offset = 0 }

  func seek(to target: Int64) -> Bool {
    guard (0...size).contains(target) else { return false }
    offset = target
    return true
  }

  /// Whether there are only zero bytes from a place on, with which tapes and some file systems pad.
  func isPadding(from start: Int64) throws(ReaderError) -> Bool {
    offset = start
    while true {
      let bytes = try readSample(64 << 10)
      if bytes.isEmpty { return true }
      if bytes.contains(where: { $0 != 0 }) { return false }
    }
  }
}

/// A source whose beginning was sampled: it delivers the sample and continues after it, so that nothing is
/// unpacked twice.
final class PeekedSource: ByteSource {
  private(set) var offset: Int64 = 0
  /// The sample; empty once the source was read from its beginning again.
  private(set) var sample: [UInt8]
  /// Whether the sample is all that the source has.
  let isWhole: Bool
  private let upstream: any ByteSource

  init(_ upstream: any ByteSource, sampling count: Int) throws(ReaderError) {
    self.upstream = upstream
    sample = try upstream.readSample(count)
    isWhole = sample.count < count
  }

  var progress: (done: Int64, total: Int64) { upstream.progress }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    var got = 0
    if offset < Int64(sample.count) {
      let start = Int(offset)
      got = min(count, sample.count - start)
      sample.withUnsafeBufferPointer { bytes in
        if let base = bytes.baseAddress { target.update(from: base + start, count: got) }
      }
    } else {
      got = try upstream.read(into: target, count: count)
    }
    offset += Int64(got)
    return got
  }

  func rewind() throws(ReaderError) {
    if offset > Int64(sample.count) {
      sample = []
      try upstream.rewind()
    }
    offset = 0
  }
}
