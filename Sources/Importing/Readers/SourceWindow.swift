// The one place where readers read.
//
// 1. `base[head..<tail]` are the bytes of the source from `offset` on, without a gap.
// 2. What was consumed is given up: the window holds one block and the record that is being read, never the file.
// 3. `slack` bytes after `tail` may be read (never believed), so that eight bytes can be loaded at any place below it.
// 4. `fill` may move everything: pointers into the window end with it, distances from `head` don't.

import Glibc

/// A sliding window over a source. Offsets are those of what the source gives: of the file itself if that is plain text,
/// otherwise of the unpacked and decoded text.
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
  /// The encoding that the source was in; what it gives is UTF-8.
  let encoding: TextEncoding
  private let blockSize: Int
  private(set) var capacity: Int
  private var baseOffset: Int64 = 0

  /// A window at the source's beginning, where that stands.
  init(source: any ByteSource, encoding: TextEncoding = .utf8, blockSize: Int) throws(ReaderError) {
    self.source = source
    self.encoding = encoding
    self.blockSize = max(1, blockSize)
    capacity = self.blockSize
    base = try Self.allocate(capacity)
  }

  /// A window over a plain file. The descriptor stays the caller's, and its own offset unused.
  convenience init(descriptor: Int32, blockSize: Int) throws(ReaderError) {
    try self.init(source: PlainSource(descriptor: descriptor), blockSize: blockSize)
  }

  deinit { free(base) }

  /// What a progress bar ends at: bytes of the file, or of the member that is read.
  var bytesTotal: Int64 { source.progress.total }

  /// How far a progress bar has come. For a plain file what was consumed, otherwise what was read.
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

  /// Passes over a UTF-8 byte order mark, if one stands here.
  func skipByteOrderMark() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { consume(3) }
  }

  /// Goes to another place in the source, backwards too. False if the source ends before it.
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

  /// Goes to where an earlier reader stood.
  func resume(at position: ReaderPosition) throws(ReaderError) {
    guard position.line > 0, position.byteOffset >= 0, try seek(to: position.byteOffset) else {
      let size = (source as? PlainSource)?.size ?? source.offset
      throw .positionInvalid(position, fileSize: size)
    }
  }

  /// Reads on: a block, or as much as is waiting if that is long, so that a long record isn't begun anew too often.
  /// False if the source has no more.
  func fill() throws(ReaderError) -> Bool {
    try fill(until: unread + (unread < 1 << 16 ? 1 : unread))
  }

  /// Reads until so many bytes are waiting, or the source ends. False if nothing came.
  func fill(until wanted: Int) throws(ReaderError) -> Bool {
    let before = unread
    while unread < wanted, !atEnd { try readBlock() }
    return unread > before
  }

  /// Ends the last line of the source if that doesn't: writes the byte after `tail`, where the slack is.
  /// Returns the index after the last byte to be scanned.
  func endLastLine(with newline: UInt8) -> Int {
    guard atEnd, tail > head, base[tail - 1] != newline else { return tail }
    base[tail] = newline
    return tail + 1
  }

  private func readBlock() throws(ReaderError) {
    try makeRoom()
    let count = try source.read(into: base + tail, count: blockSize)
    tail += count
    atEnd = count == 0
  }

  /// Room for a block after `tail`: by moving what waits to the front, and by growing if that isn't enough.
  /// When a long record has passed, its memory goes back.
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

  /// Zeroed, but pages that nothing was read into yet cost nothing.
  private static func allocate(_ count: Int) throws(ReaderError) -> UnsafeMutablePointer<UInt8> {
    guard let memory = calloc(count + slack, 1) else { throw .readFailed(errno: ENOMEM) }
    return memory.assumingMemoryBound(to: UInt8.self)
  }
}
