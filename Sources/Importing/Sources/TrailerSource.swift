import Glibc

/// A text without its last line, which holds the number of records before it. Empty lines after it go with it.
///
/// Only the end of the text is held back, as many bytes as that line may have.
final class TrailerSource: ByteSource {
  /// The longest line, with the line ends around it.
  static let longest = 64 << 10

  private(set) var offset: Int64 = 0
  /// The line, without its end, once the text has been read to its end.
  private(set) var line: [UInt8]?
  private let upstream: any ByteSource
  private let blockSize: Int
  /// Where reading began.
  private var begin: Int64 = 0
  private var held: [UInt8] = []
  /// Where in `held` the next byte is.
  private var next = 0
  private var isAtEnd = false

  init(_ upstream: any ByteSource, blockSize: Int) {
    self.upstream = upstream
    // What is held is moved once for each block.
    self.blockSize = max(Self.longest, blockSize)
  }

  var progress: (done: Int64, total: Int64) { upstream.progress }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    try fill()
    let free = held.count - next - (isAtEnd ? 0 : Self.longest)
    let got = min(count, max(0, free))
    held.withUnsafeBufferPointer { bytes in
      if let base = bytes.baseAddress, got > 0 { target.update(from: base + next, count: got) }
    }
    next += got
    offset += Int64(got)
    return got
  }

  /// Reads until something may be delivered, or to the end.
  private func fill() throws(ReaderError) {
    guard !isAtEnd, held.count - next <= Self.longest else { return }
    held.removeFirst(next)
    next = 0
    while !isAtEnd, held.count <= Self.longest {
      let more = try upstream.readSample(blockSize)
      held += more
      if more.count < blockSize { isAtEnd = true }
    }
    if isAtEnd { try cut() }
  }

  private func cut() throws(ReaderError) {
    func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
    var end = held.count
    while end > 0, isLineEnd(held[end - 1]) { end -= 1 }
    var start = end
    while start > 0, !isLineEnd(held[start - 1]) { start -= 1 }
    if start == 0, offset > begin {
      throw .invalidOption(name: "set.control.trailer", reason: "the last line has more than \(Self.longest) bytes")
    }
    line = Array(held[start..<end])
    held.removeLast(held.count - start)
  }

  func rewind() throws(ReaderError) {
    try upstream.rewind()
    restart(at: 0)
  }

  func seek(to target: Int64) throws(ReaderError) -> Bool {
    guard try upstream.seek(to: target) else { return false }
    restart(at: target)
    return true
  }

  private func restart(at place: Int64) {
    (held, next, isAtEnd, line, offset, begin) = ([], 0, false, nil, place, place)
  }
}
