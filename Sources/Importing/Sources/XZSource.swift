// xz by liblzma: streams one after the other, with their checksums. libarchive would take as much memory as a file says
// that it needs, which may be four gigabytes.

import CArchive
import Glibc

/// An xz file, unpacked.
final class XZSource: ByteSource {
  /// What unpacking may take: twice of what the densest of xz's own settings needs.
  static let memoryLimit: UInt64 = 128 << 20

  /// `LZMA_CONCATENATED`, a macro that Swift can't see: several streams are one file.
  private static let concatenated: UInt32 = 0x08

  private(set) var offset: Int64 = 0
  private let file: PlainSource
  private let limit: ExpansionLimit
  private let stream: UnsafeMutablePointer<lzma_stream>
  private let input: UnsafeMutablePointer<UInt8>
  private let inputSize: Int
  private var isAtEnd = false
  private var failure: ReaderError?

  init(_ file: PlainSource, limit: ExpansionLimit, blockSize: Int) throws(ReaderError) {
    self.file = file
    self.limit = limit
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

  var progress: (done: Int64, total: Int64) { file.progress }

  func rewind() throws(ReaderError) {
    file.rewind()
    stream.pointee.avail_in = 0
    offset = 0
    isAtEnd = false
    failure = nil
    try begin()
  }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    if let failure { throw failure }
    stream.pointee.next_out = target
    stream.pointee.avail_out = count
    do throws(ReaderError) {
      while stream.pointee.avail_out > 0, !isAtEnd { try step() }
    } catch {
      failure = error
    }
    let got = count - stream.pointee.avail_out
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

  private func begin() throws(ReaderError) {
    guard lzma_stream_decoder(stream, Self.memoryLimit, Self.concatenated) == LZMA_OK else {
      throw .readFailed(errno: ENOMEM)
    }
  }

  private func step() throws(ReaderError) {
    if stream.pointee.avail_in == 0 {
      let got = try file.read(into: input, count: inputSize)
      stream.pointee.next_in = UnsafePointer(input)
      stream.pointee.avail_in = got
    }
    // Without another byte this is the end, which liblzma has to be told, for another stream may follow.
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
