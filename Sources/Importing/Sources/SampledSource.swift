/// A source of which the beginning has been looked at: it gives that again, and then goes on, so that nothing is
/// unpacked twice.
final class SampledSource: ByteSource {
  private(set) var offset: Int64 = 0
  /// The beginning; empty once the source was read from its beginning again.
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
