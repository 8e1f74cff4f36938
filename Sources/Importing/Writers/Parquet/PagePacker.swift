import CArchive

/// How the pages of a written file are compressed.
enum WrittenCodec: Int {
  case snappy = 1, gzip = 2, zstd = 6
}

/// Compresses pages. For one thread.
final class PagePacker {
  let codec: WrittenCodec
  private let zstd: OpaquePointer?
  private var packed: UnsafeMutableBufferPointer<UInt8> = .allocate(capacity: 1 << 16)
  private let matches: UnsafeMutablePointer<UInt32>

  init(_ codec: WrittenCodec) {
    self.codec = codec
    zstd = codec == .zstd ? ZSTD_createCCtx() : nil
    matches = .allocate(capacity: Snappy.tableSize)
  }

  deinit {
    ZSTD_freeCCtx(zstd)
    packed.deallocate()
    matches.deallocate()
  }

  /// The bytes of a page, until the next is packed.
  /// - Throws: ``WriterError/packing(reason:)``.
  func pack(_ bytes: UnsafeRawBufferPointer) throws(WriterError) -> UnsafeRawBufferPointer {
    let bound: Int
    switch codec {
    case .snappy: bound = Snappy.packedBound(bytes.count)
    case .gzip: bound = Int(compressBound(UInt(bytes.count))) + 32
    case .zstd: bound = ZSTD_compressBound(bytes.count)
    }
    if packed.count < bound {
      packed.deallocate()
      packed = .allocate(capacity: bound)
    }
    guard let target = packed.baseAddress else { throw .packing(reason: "there is no memory") }
    let count: Int
    switch codec {
    case .snappy:
      count = Snappy.pack(bytes.bindMemory(to: UInt8.self), into: target, matches)
    case .gzip: count = try gzip(bytes, into: target, room: bound)
    case .zstd:
      count = ZSTD_compressCCtx(zstd, target, bound, bytes.baseAddress, bytes.count, 3)
      guard ZSTD_isError(count) == 0 else { throw .packing(reason: String(cString: ZSTD_getErrorName(count))) }
    }
    return UnsafeRawBufferPointer(start: target, count: count)
  }

  private func gzip(
    _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<UInt8>, room: Int
  ) throws(WriterError) -> Int {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw .packing(reason: "there is no memory") }
    defer { deflateEnd(&stream) }
    stream.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
    stream.avail_in = UInt32(truncatingIfNeeded: bytes.count)
    stream.next_out = target
    stream.avail_out = UInt32(truncatingIfNeeded: room)
    guard deflate(&stream, Z_FINISH) == Z_STREAM_END else { throw .packing(reason: "zlib can't end a page") }
    return room - Int(stream.avail_out)
  }
}

extension Snappy {
  /// The places that are remembered, by their next four bytes.
  static let tableSize = 1 << 14
  /// Places are searched for within blocks of this size.
  private static let block = 1 << 16

  /// The most bytes that ``pack(_:into:_:)`` writes for that many.
  static func packedBound(_ count: Int) -> Int { 32 + count + count / 6 }

  /// Compresses, and returns the number of bytes.
  static func pack(
    _ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>,
    _ matches: UnsafeMutablePointer<UInt32>
  ) -> Int {
    var output = target
    var length = source.count
    while length >= 0x80 {
      output.pointee = UInt8(truncatingIfNeeded: length) | 0x80
      output += 1
      length >>= 7
    }
    output.pointee = UInt8(truncatingIfNeeded: length)
    output += 1
    guard let base = source.baseAddress else { return output - target }
    var start = 0
    while start < source.count {
      let count = min(block, source.count - start)
      pack(base + start, count, &output, matches)
      start += count
    }
    return output - target
  }

  private static func pack(
    _ bytes: BytePointer, _ count: Int, _ output: inout UnsafeMutablePointer<UInt8>,
    _ matches: UnsafeMutablePointer<UInt32>
  ) {
    matches.update(repeating: 0, count: tableSize)
    func word(_ place: Int) -> UInt32 { UnsafeRawPointer(bytes + place).loadUnaligned(as: UInt32.self) }
    var place = 1
    var literal = 0
    // Searching gets faster where nothing is found.
    var missed = 32
    while place + 4 <= count {
      let now = word(place)
      let slot = Int((now &* 0x1E35_A7BD) >> 18)
      let match = Int(matches[slot])
      matches[slot] = UInt32(place)
      guard match < place, word(match) == now else {
        place += missed >> 5
        missed += 1
        continue
      }
      missed = 32
      if literal < place { append(bytes + literal, place - literal, &output) }
      var length = 4
      while place + length < count, bytes[match + length] == bytes[place + length] { length += 1 }
      append(copy: place - match, length, &output)
      place += length
      literal = place
    }
    if literal < count { append(bytes + literal, count - literal, &output) }
  }

  private static func append(_ bytes: BytePointer, _ count: Int, _ output: inout UnsafeMutablePointer<UInt8>) {
    let length = count - 1
    if length < 60 {
      output.pointee = UInt8(length << 2)
      output += 1
    } else if length < 256 {
      output[0] = 60 << 2
      output[1] = UInt8(length)
      output += 2
    } else {
      output[0] = 61 << 2
      output[1] = UInt8(truncatingIfNeeded: length)
      output[2] = UInt8(truncatingIfNeeded: length >> 8)
      output += 3
    }
    output.update(from: bytes, count: count)
    output += count
  }

  private static func append(copy offset: Int, _ count: Int, _ output: inout UnsafeMutablePointer<UInt8>) {
    var left = count
    while left > 0 {
      let length = min(64, left)
      output[0] = UInt8((length - 1) << 2) | 2
      output[1] = UInt8(truncatingIfNeeded: offset)
      output[2] = UInt8(truncatingIfNeeded: offset >> 8)
      output += 3
      left -= length
    }
  }
}
