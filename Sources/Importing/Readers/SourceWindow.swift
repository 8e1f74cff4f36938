// The only place where readers read their source.
//
// 1. `base[head..<tail]` are the bytes of the source from `offset` on, without a gap.
// 2. Consumed bytes are discarded: the window holds one block and the record being read, never the file.
// 3. `slack` bytes after `tail` may be loaded but not interpreted, so that eight bytes can be loaded at any place below it.
// 4. `fill` may move everything: it invalidates pointers into the window, but not distances from `head`.
// 5. Before each block, an `Interruption` may end the reading: a source may have no record for a long time.

import Glibc
import ManagedObjects

/// A sliding window over a source. Offsets are those in the source's output: in the file itself if it is plain text,
/// otherwise in the unpacked and decoded text.
final class SourceWindow {
  static let slack = 16

  private(set) var base: UnsafeMutablePointer<UInt8>
  /// Index of the first byte not consumed.
  private(set) var head = 0
  /// Index after the last byte read.
  private(set) var tail = 0
  /// Whether the source has no bytes after `tail`.
  private(set) var atEnd = false

  private let source: any ByteSource
  /// The original encoding of the source, whose output is UTF-8.
  let encoding: TextEncoding
  private let blockSize: Int
  private(set) var capacity: Int
  private var baseOffset: Int64 = 0

  /// A window at the beginning of a source, which must be at its beginning too.
  init(source: any ByteSource, encoding: TextEncoding = .utf8, blockSize: Int) throws(ReaderError) {
    self.source = source
    self.encoding = encoding
    self.blockSize = max(1, blockSize)
    capacity = self.blockSize
    base = try Self.allocate(capacity)
  }

  /// A window over a plain file. The caller keeps the descriptor, whose own offset isn't used.
  convenience init(descriptor: Int32, blockSize: Int) throws(ReaderError) {
    try self.init(source: PlainSource(descriptor: descriptor), blockSize: blockSize)
  }

  deinit { free(base) }

  /// The end of a progress bar: bytes of the file, or of the member that is read.
  var bytesTotal: Int64 { source.progress.total }

  /// The position of a progress bar: for a plain file the bytes consumed, otherwise the bytes read.
  var bytesRead: Int64 {
    let (done, total) = source.progress
    return source is PlainSource ? offset : min(done, total)
  }

  /// Offset in the source of the first byte not consumed.
  var offset: Int64 { baseOffset + Int64(head) }

  /// Bytes read and not consumed.
  var unread: Int { tail - head }

  /// The bytes read and not consumed.
  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base + head, count: unread) }

  func consume(_ count: Int) {
    head += count
    assert(head <= tail)
  }

  /// Skips a UTF-8 byte order mark.
  func skipByteOrderMark() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { consume(3) }
  }

  /// Moves to another place in the source, forwards or backwards. False if the source ends before it.
  @discardableResult
  func seek(to target: Int64) throws(ReaderError) -> Bool {
    if target >= baseOffset, target <= baseOffset + Int64(tail) {
      head = Int(target - baseOffset)
      return true
    }
    guard try source.seek(to: target) else { return false }
    baseOffset = target
    head = 0
    tail = 0
    atEnd = false
    return true
  }

  /// Moves to the position of an earlier reader.
  func resume(at position: ReaderPosition) throws(ReaderError) {
    guard position.line > 0, position.byteOffset >= 0, try seek(to: position.byteOffset) else {
      let size = (source as? PlainSource)?.size ?? source.offset
      throw .positionInvalid(position, fileSize: size)
    }
  }

  /// Reads a block, or as many bytes as are unread if that is more: a long record is then rescanned a bounded number of times.
  /// False if the source has no more.
  func fill() throws(ReaderError) -> Bool {
    try fill(until: unread + (unread < 1 << 16 ? 1 : unread))
  }

  /// Reads until this many bytes are unread, or the source ends. False if nothing was read.
  func fill(until wanted: Int) throws(ReaderError) -> Bool {
    let before = unread
    while unread < wanted, !atEnd { try readBlock() }
    return unread > before
  }

  /// Terminates the last line of the source if it has no end: writes the byte after `tail`, into the slack.
  /// Returns the index after the last byte to be scanned.
  func endLastLine(with newline: UInt8) -> Int {
    guard atEnd, tail > head, base[tail - 1] != newline else { return tail }
    base[tail] = newline
    return tail + 1
  }

  private func readBlock() throws(ReaderError) {
    // `Interruption.limit` throws `Interrupted` in its place.
    if Interruption.isRequested { throw .readFailed(errno: ECANCELED) }
    try makeRoom()
    let count = try source.read(into: base + tail, count: blockSize)
    tail += count
    atEnd = count == 0
  }

  /// Makes room for a block after `tail`, by moving unread bytes to the front and by growing if that isn't enough.
  /// Memory for a long record is freed after it.
  private func makeRoom() throws(ReaderError) {
    let waiting = unread
    let isOversized = capacity > blockSize * 8 && waiting < blockSize
    guard isOversized || capacity - tail < blockSize else { return }
    var wanted = capacity
    if isOversized {
      wanted = blockSize * 2
    } else if capacity - waiting < blockSize {
      wanted = max(capacity * 2, waiting + blockSize)
    }
    if wanted == capacity {
      base.update(from: base + head, count: waiting)
    } else {
      let moved = try Self.allocate(wanted)
      moved.update(from: base + head, count: waiting)
      free(base)
      base = moved
      capacity = wanted
    }
    baseOffset += Int64(head)
    head = 0
    tail = waiting
  }

  /// Zeroed; untouched pages cost no memory.
  private static func allocate(_ count: Int) throws(ReaderError) -> UnsafeMutablePointer<UInt8> {
    guard let memory = calloc(count + slack, 1) else { throw .readFailed(errno: ENOMEM) }
    return memory.assumingMemoryBound(to: UInt8.self)
  }
}

// Lines.

extension SourceWindow {
  /// Lends the next line without its end, and consumes it. A line longer than the limit goes into the batch as a record
  /// that is too long.
  /// - Parameters:
  ///   - line: the number of the line.
  ///   - body: takes the line, and how far the window may be looked at.
  /// - Returns: false at the end of the source.
  @inline(__always)
  func takeLine(
    endingWith newline: UInt8, limit: Int, into batch: RecordBatch, line: Int64,
    _ body: (_ start: BytePointer, _ end: BytePointer, _ horizon: BytePointer) throws(ReaderError) -> Void
  ) throws(ReaderError) -> Bool {
    var searched = 0
    while true {
      let start = BytePointer(base + head)
      let end = start + unread
      let found = Bytes.find(newline, from: start + searched, to: end)
      if found == nil, !atEnd, end - start <= limit {
        searched = end - start
        _ = try fill()
        continue
      }
      if found == nil, start == end { return false }
      let lineEnd = found ?? end
      if lineEnd - start > limit {
        try skipLine(endingWith: newline, into: batch, line: line, limit: limit)
        return true
      }
      try body(start, lineEnd, end)
      consume(lineEnd - start + (found == nil ? 0 : 1))
      return true
    }
  }

  /// Skips lines of any length; returns how many, which is fewer if the file ends.
  func skipLines(_ count: Int, endingWith newline: UInt8) throws(ReaderError) -> Int64 {
    var passed: Int64 = 0
    while passed < count {
      let start = BytePointer(base + head)
      if let found = Bytes.find(newline, from: start, to: start + unread) {
        consume(found - start + 1)
        passed += 1
        continue
      }
      consume(unread)
      if try !fill() { break }
    }
    return passed
  }

  /// Whether a comment begins here; nil if too little of the file is in memory.
  func begins(with comment: [UInt8], at start: BytePointer, tail: BytePointer, final: Bool) -> Bool? {
    guard !comment.isEmpty else { return false }
    for (index, byte) in comment.enumerated() {
      guard start + index < tail else { return final ? false : nil }
      if start[index] != byte { return false }
    }
    return true
  }

  /// Adds the line that begins here to the batch as a record that is too long, and skips it.
  func skipLine(endingWith newline: UInt8, into batch: RecordBatch, line: Int64, limit: Int) throws(ReaderError) {
    let start = offset
    _ = try fill(until: RecordBatch.keptBytes)
    let beginning = Array(bytes.prefix(RecordBatch.keptBytes))
    var length = 0
    while true {
      let place = BytePointer(base + head)
      if let found = Bytes.find(newline, from: place, to: place + unread) {
        length += found - place
        consume(found - place + 1)
        break
      }
      length += unread
      consume(unread)
      if try !fill() { break }
    }
    batch.finishTooLong(beginning: beginning, line: line, byteOffset: start, byteLength: length, limit: limit)
  }
}
