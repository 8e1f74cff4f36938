// What lies under the readers: bytes, wherever they come from.
//
//   file ─▶ PlainSource ─▶ [GzipSource | XZSource | ArchiveSource: bzip2, zstd] ─▶ [ArchiveSource: a member of zip or tar]
//                                                  ─▶ [TranscodedSource: UTF-16 and others to UTF-8] ─▶ SourceWindow
//
// 1. Each stage holds a block, never the file, and nothing is written to disk.
// 2. `offset` counts the bytes that this stage has given. Of the last stage it is what `ReaderPosition.byteOffset` means:
//    for a plain file a place in the file, otherwise a place in the unpacked, decoded text.
// 3. The same file gives the same bytes each time. A plain file is gone on with by a seek; all others by reading up to
//    the place again, which costs the time to unpack so much and nothing else.
// 4. Bytes before damage are given first; the error is thrown by the read after, and by every later one.

/// A stage that gives bytes in order. Belongs to one thread at a time.
protocol ByteSource: AnyObject {
  /// Bytes given so far: where the next one stands.
  var offset: Int64 { get }

  /// How far the file underneath has been read, for a progress bar: done of total, in a unit that is the stage's own.
  var progress: (done: Int64, total: Int64) { get }

  /// Puts the next bytes at `target`: some, up to `count`, or 0 at the end.
  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int

  /// Goes back to the beginning.
  func rewind() throws(ReaderError)

  /// Goes to a place. False, and where it then stands is the end, if the source ends before.
  func seek(to target: Int64) throws(ReaderError) -> Bool
}

extension ByteSource {
  /// By reading up to there, from the beginning if need be.
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

  /// Reads so many bytes, fewer if the source ends before.
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
