/// A source in another encoding, as UTF-8 without a byte order mark.
final class TranscodedSource: ByteSource {
  private(set) var offset: Int64 = 0
  private let upstream: any ByteSource
  private let transcoder: TextTranscoder
  private let blockSize: Int
  private let input: UnsafeMutablePointer<UInt8>
  /// Bytes at the beginning of `input` whose character is incomplete.
  private var waiting = 0
  private let output: UnsafeMutablePointer<UInt8>
  private var head = 0
  private var tail = 0
  private var isAtStart = true
  private var isAtEnd = false

  /// The source stands at its beginning.
  init(_ upstream: any ByteSource, _ encoding: TextEncoding, blockSize: Int) throws(ReaderError) {
    self.upstream = upstream
    self.blockSize = blockSize
    transcoder = try TextTranscoder(encoding)
    input = .allocate(capacity: blockSize + 4)
    output = .allocate(capacity: (blockSize + 4) * TextTranscoder.growth + TextTranscoder.slack)
  }

  deinit {
    input.deallocate()
    output.deallocate()
  }

  var progress: (done: Int64, total: Int64) { upstream.progress }

  func rewind() throws(ReaderError) {
    try upstream.rewind()
    (offset, waiting, head, tail, isAtStart, isAtEnd) = (0, 0, 0, 0, true, false)
  }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    while head == tail, !isAtEnd { try readBlock() }
    let got = min(count, tail - head)
    target.update(from: output + head, count: got)
    head += got
    offset += Int64(got)
    return got
  }

  private func readBlock() throws(ReaderError) {
    let got = try upstream.read(into: input + waiting, count: blockSize)
    let count = waiting + got
    let (used, written) = transcoder.transcode(from: input, count: count, final: got == 0, to: output)
    waiting = count - used
    input.update(from: input + used, count: waiting)
    (head, tail) = (0, written)
    isAtEnd = got == 0
    if isAtStart, written > 0 {
      isAtStart = false
      let isMarked = written >= 3 && output[0] == 0xEF && output[1] == 0xBB && output[2] == 0xBF
      if isMarked, !transcoder.encoding.isSingleByte { head = 3 }
    }
  }
}
