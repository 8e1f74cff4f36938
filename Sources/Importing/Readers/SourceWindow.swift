// The one place where a source is read.
//
// 1. `base[head..<tail]` are the bytes of the file from `offset` on, without a gap.
// 2. What was consumed is given up: the window holds one block and the record that is being read, never the file.
// 3. `slack` bytes after `tail` may be read (never believed), so that eight bytes can be loaded at any place below it.
// 4. `fill` may move everything: pointers into the window end with it, distances from `head` don't.

import Glibc

/// A sliding window over a file, filled by `pread`. The descriptor stays the caller's, and its own offset unused.
final class SourceWindow {
  static let slack = 16

  let total: Int64
  private(set) var base: UnsafeMutablePointer<UInt8>
  /// Index of the first byte not consumed.
  private(set) var head = 0
  /// Index after the last byte read.
  private(set) var tail = 0
  /// Whether the file has no bytes after `tail`.
  private(set) var atEnd = false

  private let descriptor: Int32
  private let blockSize: Int
  private(set) var capacity: Int
  private var baseOffset: Int64 = 0

  init(descriptor: Int32, blockSize: Int) throws(ReaderError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .readFailed(errno: errno) }
    self.descriptor = descriptor
    self.blockSize = max(1, blockSize)
    total = Int64(status.st_size)
    capacity = self.blockSize
    base = try Self.allocate(capacity)
  }

  deinit { free(base) }

  /// Offset in the file of the first byte not consumed.
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

  /// Goes to another place in the file, backwards too.
  func seek(to target: Int64) {
    if target >= baseOffset, target <= baseOffset + Int64(tail) {
      head = Int(target - baseOffset)
    } else {
      baseOffset = target
      head = 0
      tail = 0
      atEnd = false
    }
  }

  /// Reads on: a block, or as much as is waiting if that is long, so that a long record isn't begun anew too often.
  /// False if the file has no more.
  func fill() throws(ReaderError) -> Bool {
    try fill(until: unread + (unread < 1 << 16 ? 1 : unread))
  }

  /// Reads until so many bytes are waiting, or the file ends. False if nothing came.
  func fill(until wanted: Int) throws(ReaderError) -> Bool {
    let before = unread
    while unread < wanted, !atEnd { try readBlock() }
    return unread > before
  }

  /// Ends the last line of the file if the file doesn't: writes the byte after `tail`, where the slack is.
  /// Returns the index after the last byte to be scanned.
  func endLastLine(with newline: UInt8) -> Int {
    guard atEnd, tail > head, base[tail - 1] != newline else { return tail }
    base[tail] = newline
    return tail + 1
  }

  private func readBlock() throws(ReaderError) {
    try makeRoom()
    while true {
      let count = pread(descriptor, base + tail, blockSize, off_t(baseOffset + Int64(tail)))
      if count < 0 {
        if errno == EINTR { continue }
        throw .readFailed(errno: errno)
      }
      tail += count
      atEnd = count == 0
      return
    }
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
