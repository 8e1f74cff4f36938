// gzip, RFC 1952, by zlib: members one after the other, each with its checksum and length looked at.

import CArchive

/// A gzip file, unpacked.
final class GzipSource: ByteSource {
  private enum Place {
    case member
    /// Behind a member: another may follow, or zero bytes up to the end.
    case between
    case end
  }

  private(set) var offset: Int64 = 0
  private let file: PlainSource
  private let limit: ExpansionLimit
  /// On the heap, since zlib's own state points back to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutablePointer<UInt8>
  private let inputSize: Int
  private var place = Place.member
  private var failure: ReaderError?

  init(_ file: PlainSource, limit: ExpansionLimit, blockSize: Int) throws(ReaderError) {
    self.file = file
    self.limit = limit
    inputSize = blockSize
    input = .allocate(capacity: inputSize)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15: the largest window; 16 more: gzip, not zlib.
    guard inflateInit2_(stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw .source(.corrupt(what: "gzip", offset: 0, reason: "zlib can't begin"))
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    input.deallocate()
  }

  var progress: (done: Int64, total: Int64) { file.progress }

  func rewind() {
    file.rewind()
    inflateReset(stream)
    stream.pointee.avail_in = 0
    offset = 0
    place = .member
    failure = nil
  }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    if let failure { throw failure }
    let wanted = UInt32(clamping: count)
    stream.pointee.next_out = target
    stream.pointee.avail_out = wanted
    do throws(ReaderError) {
      while stream.pointee.avail_out > 0, place != .end { try step() }
    } catch {
      failure = error
    }
    let got = Int(wanted - stream.pointee.avail_out)
    offset += Int64(got)
    do throws(ReaderError) {
      try limit.check(unpacked: offset, from: file.offset)
    } catch {
      failure = error
      throw error
    }
    if got == 0, let failure { throw failure }
    return got
  }

  private func step() throws(ReaderError) {
    if stream.pointee.avail_in == 0 {
      let got = try file.read(into: input, count: inputSize)
      stream.pointee.next_in = input
      stream.pointee.avail_in = UInt32(got)
      if got == 0 {
        guard place == .between else { throw .source(.truncated(what: "gzip", offset: file.offset)) }
        place = .end
        return
      }
    }
    if place == .between {
      guard stream.pointee.next_in.pointee == 0x1F else {
        guard try file.isPadding(from: position) else {
          throw .source(.trailingData(what: "gzip", offset: position))
        }
        stream.pointee.avail_in = 0
        place = .end
        return
      }
      inflateReset(stream)
      place = .member
    }
    switch inflate(stream, Z_NO_FLUSH) {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END: place = .between
    default:
      let reason = stream.pointee.msg.map { String(cString: $0) } ?? "it can't be unpacked"
      throw .source(.corrupt(what: "gzip", offset: position, reason: reason))
    }
  }

  /// Where zlib stands in the file.
  private var position: Int64 { file.offset - Int64(stream.pointee.avail_in) }
}
