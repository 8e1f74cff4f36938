// Decompression of a whole file by zlib or liblzma: one source for both, over a decoder each.

import CArchive
import Glibc

/// The stream of a decompression library over a file.
protocol StreamDecoder: AnyObject {
  /// Whether the file has ended where it may.
  var isAtEnd: Bool { get }
  /// Bytes of the last target that nothing was written to yet.
  var room: Int { get }

  /// Names the memory that the next steps write to.
  func aim(at target: UnsafeMutablePointer<UInt8>, count: Int)
  /// Reads or unpacks a piece.
  func step() throws(ReaderError)
  /// Starts over, when the file stands at its beginning again.
  func restart() throws(ReaderError)
}

/// A compressed file, unpacked.
final class DecodedSource: ByteSource {
  private(set) var offset: Int64 = 0
  private let file: PlainSource
  private let limit: ExpansionLimit
  private let decoder: any StreamDecoder
  private var failure: ReaderError?

  init(_ file: PlainSource, _ decoder: any StreamDecoder, limit: ExpansionLimit) {
    self.file = file
    self.decoder = decoder
    self.limit = limit
  }

  var progress: (done: Int64, total: Int64) { file.progress }

  func rewind() throws(ReaderError) {
    file.rewind()
    offset = 0
    failure = nil
    try decoder.restart()
  }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    if let failure { throw failure }
    let wanted = min(count, Int(UInt32.max))
    decoder.aim(at: target, count: wanted)
    do throws(ReaderError) {
      while decoder.room > 0, !decoder.isAtEnd { try decoder.step() }
    } catch {
      failure = error
    }
    let got = wanted - decoder.room
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
}

/// gzip, RFC 1952, by zlib: members one after the other, each checked against its checksum and length.
final class GzipDecoder: StreamDecoder {
  private enum Place {
    case member
    /// Behind a member: another may follow, or zero bytes up to the end.
    case between
    case end
  }

  private let file: PlainSource
  /// On the heap, since zlib's own state points back to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutablePointer<UInt8>
  private let inputSize: Int
  private var place = Place.member

  init(_ file: PlainSource, blockSize: Int) throws(ReaderError) {
    self.file = file
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

  var isAtEnd: Bool { place == .end }
  var room: Int { Int(stream.pointee.avail_out) }

  func aim(at target: UnsafeMutablePointer<UInt8>, count: Int) {
    stream.pointee.next_out = target
    stream.pointee.avail_out = UInt32(count)
  }

  func restart() {
    inflateReset(stream)
    stream.pointee.avail_in = 0
    place = .member
  }

  func step() throws(ReaderError) {
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

/// xz by liblzma: streams one after the other, with their checksums. libarchive isn't used, because it would allocate as much
/// memory as the file demands, up to four gigabytes.
final class XZDecoder: StreamDecoder {
  /// The memory that unpacking may take: twice what the densest of xz's own settings needs.
  static let memoryLimit: UInt64 = 128 << 20

  /// `LZMA_CONCATENATED`, a macro that Swift doesn't import: several streams are one file.
  private static let concatenated: UInt32 = 0x08

  private let file: PlainSource
  private let stream: UnsafeMutablePointer<lzma_stream>
  private let input: UnsafeMutablePointer<UInt8>
  private let inputSize: Int
  private(set) var isAtEnd = false

  init(_ file: PlainSource, blockSize: Int) throws(ReaderError) {
    self.file = file
    inputSize = blockSize
    input = .allocate(capacity: inputSize)
    stream = .allocate(capacity: 1)
    stream.initialize(to: lzma_stream())
    try begin()
  }

  deinit {
    lzma_end(stream)
    stream.deallocate()
    input.deallocate()
  }

  var room: Int { stream.pointee.avail_out }

  func aim(at target: UnsafeMutablePointer<UInt8>, count: Int) {
    stream.pointee.next_out = target
    stream.pointee.avail_out = count
  }

  func restart() throws(ReaderError) {
    stream.pointee.avail_in = 0
    isAtEnd = false
    try begin()
  }

  private func begin() throws(ReaderError) {
    guard lzma_stream_decoder(stream, Self.memoryLimit, Self.concatenated) == LZMA_OK else {
      throw .readFailed(errno: ENOMEM)
    }
  }

  func step() throws(ReaderError) {
    if stream.pointee.avail_in == 0 {
      let got = try file.read(into: input, count: inputSize)
      stream.pointee.next_in = UnsafePointer(input)
      stream.pointee.avail_in = got
    }
    // Another stream may follow, so liblzma takes the end of the file for the end of the data only when told so.
    switch lzma_code(stream, stream.pointee.avail_in == 0 ? LZMA_FINISH : LZMA_RUN) {
    case LZMA_OK: break
    case LZMA_STREAM_END: isAtEnd = true
    case LZMA_BUF_ERROR: throw .source(.truncated(what: "xz", offset: position))
    case LZMA_MEMLIMIT_ERROR:
      throw .source(
        .needsMemory(what: "xz", bytes: lzma_memusage(stream), limit: Self.memoryLimit))
    case LZMA_MEM_ERROR: throw .readFailed(errno: ENOMEM)
    case LZMA_FORMAT_ERROR: throw corrupt("no xz data begins there")
    case LZMA_OPTIONS_ERROR: throw corrupt("it uses what liblzma doesn't know")
    default: throw corrupt("it doesn't agree with its checksum, or with itself")
    }
  }

  private func corrupt(_ reason: String) -> ReaderError {
    .source(.corrupt(what: "xz", offset: position, reason: reason))
  }

  /// Where liblzma stands in the file.
  private var position: Int64 { file.offset - Int64(stream.pointee.avail_in) }
}
