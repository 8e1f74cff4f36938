/// A source that libarchive unpacks: a file that is compressed as a whole, or one member of an archive.
final class ArchiveSource: ByteSource {
  private(set) var offset: Int64 = 0
  private let kind: ArchiveHandle.Kind
  private let upstream: any ByteSource
  /// The member and its number in the archive's order; nil for a compressed file.
  private let member: (index: Int, name: String, size: Int64?)?
  private let limit: ExpansionLimit
  private let blockSize: Int
  private var handle: ArchiveHandle?
  /// The unread rest of the last block.
  private var block = UnsafeRawBufferPointer(start: nil, count: 0)
  private var isAtEnd = false
  private var failure: ReaderError?

  init(
    _ kind: ArchiveHandle.Kind, over upstream: any ByteSource, member: (index: Int, name: String, size: Int64?)? = nil,
    limit: ExpansionLimit, blockSize: Int
  ) {
    self.kind = kind
    self.upstream = upstream
    self.member = member
    self.limit = limit
    self.blockSize = blockSize
  }

  var progress: (done: Int64, total: Int64) {
    if let size = member?.size { return (min(offset, size), size) }
    return handle?.progress ?? (0, upstream.progress.total)
  }

  func rewind() throws(ReaderError) {
    handle = nil
    block = UnsafeRawBufferPointer(start: nil, count: 0)
    isAtEnd = false
    failure = nil
    offset = 0
  }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    if let failure { throw failure }
    do throws(ReaderError) {
      while block.isEmpty, !isAtEnd { try nextBlock() }
    } catch {
      failure = error
      throw error
    }
    let got = min(count, block.count)
    if got > 0, let base = block.baseAddress {
      UnsafeMutableRawPointer(target).copyMemory(from: base, byteCount: got)
      block = UnsafeRawBufferPointer(rebasing: block[got...])
      offset += Int64(got)
    }
    return got
  }

  private func nextBlock() throws(ReaderError) {
    let handle = try opened()
    guard !isAtEnd else { return }
    guard let next = try handle.nextBlock(at: offset) else {
      isAtEnd = true
      try checkEnd(handle)
      return
    }
    block = next
    try limit.check(unpacked: offset + Int64(next.count), from: handle.progress.done)
  }

  /// The pass, at the member's first byte.
  private func opened() throws(ReaderError) -> ArchiveHandle {
    if let handle { return handle }
    try upstream.rewind()
    let opened = try ArchiveHandle(kind, over: upstream, blockSize: blockSize)
    handle = opened
    for _ in 0..<(member?.index ?? 0) {
      guard try opened.nextEntry() != nil else { throw changed }
    }
    guard let entry = try opened.nextEntry() else {
      // A compressed file of nothing.
      guard member == nil else { throw changed }
      isAtEnd = true
      try checkEnd(opened)
      return opened
    }
    guard let member else { return opened }
    guard entry.name == member.name else { throw changed }
    if entry.isEncrypted { throw .source(.encrypted(member: member.name)) }
    if let method = opened.unboundedMethod {
      throw .source(.unsupportedMethod(member: member.name, method: method))
    }
    return opened
  }

  private var changed: ReaderError {
    .source(.corrupt(what: kind.name, offset: 0, reason: "it isn't the archive it was when its members were listed"))
  }

  /// libarchive ends without an error where other bytes follow the compressed data, such as a damaged second part.
  private func checkEnd(_ handle: ArchiveHandle) throws(ReaderError) {
    guard member == nil, let file = upstream as? PlainSource else { return }
    let understood = handle.bytesUnderstood
    guard try file.isPadding(from: understood) else {
      throw .source(.trailingData(what: kind.name, offset: understood))
    }
  }
}
