import CArchive

/// How pages are compressed.
enum PageCodec {
  case none, snappy, gzip, zstd, lz4

  /// - Throws: ``ParquetError/unsupported(what:column:)`` for a compression that isn't read.
  init(_ number: Int64, column: String) throws(ParquetError) {
    switch number {
    case 0: self = .none
    case 1: self = .snappy
    case 2: self = .gzip
    case 6: self = .zstd
    case 7: self = .lz4
    default:
      let name = [3: "LZO", 4: "Brotli", 5: "LZ4 in Hadoop's form"][number] ?? "the unknown compression \(number)"
      throw .unsupported(what: "it is compressed with \(name)", column: column)
    }
  }
}

/// Unpacks pages, whose size is known. For one thread.
final class PageUnpacker {
  private var zstd: OpaquePointer?

  deinit { ZSTD_freeDCtx(zstd) }

  /// Whether the bytes were those of a page that fills the target exactly.
  func unpack(
    _ source: UnsafeBufferPointer<UInt8>, _ codec: PageCodec, into target: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    guard let input = source.baseAddress, let output = target.baseAddress else {
      return target.isEmpty && (source.isEmpty || codec != .none)
    }
    switch codec {
    case .none:
      guard source.count == target.count else { return false }
      output.update(from: input, count: source.count)
      return true
    case .snappy: return Snappy.unpack(source, into: target)
    case .lz4: return LZ4Block.unpack(source, into: target)
    case .gzip: return Self.inflate(source, into: target)
    case .zstd:
      if zstd == nil { zstd = ZSTD_createDCtx() }
      return ZSTD_decompressDCtx(zstd, output, target.count, input, source.count) == target.count
    }
  }

  private static func inflate(
    _ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    var stream = z_stream()
    // With the header of gzip or of zlib.
    guard inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      return false
    }
    defer { inflateEnd(&stream) }
    stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
    stream.avail_in = UInt32(truncatingIfNeeded: source.count)
    stream.next_out = target.baseAddress
    stream.avail_out = UInt32(truncatingIfNeeded: target.count)
    while true {
      switch CArchive.inflate(&stream, Z_FINISH) {
      case Z_STREAM_END:
        // There may be several members.
        if stream.avail_in == 0 || stream.avail_out == 0 { return stream.avail_out == 0 }
        guard inflateReset(&stream) == Z_OK else { return false }
      default: return false
      }
    }
  }
}

/// Google's Snappy. Source: `format_description.txt` of the Snappy project.
enum Snappy {
  static func unpack(_ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    guard var place = source.baseAddress, let output = target.baseAddress else { return false }
    let end = place + source.count
    var length = 0
    var shift = 0
    while true {
      guard place < end, shift < 35 else { return false }
      let byte = place.pointee
      place += 1
      length |= Int(byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    guard length == target.count else { return false }
    var written = 0
    while place < end {
      let tag = place.pointee
      place += 1
      if tag & 3 == 0 {
        var count = Int(tag >> 2)
        if count >= 60 {
          let bytes = count - 59
          guard end - place >= bytes else { return false }
          count = 0
          for index in 0..<bytes { count |= Int(place[index]) << (8 * index) }
          place += bytes
        }
        count += 1
        guard count <= end - place, count <= length - written else { return false }
        (output + written).update(from: place, count: count)
        place += count
        written += count
        continue
      }
      let count: Int
      let offset: Int
      switch tag & 3 {
      case 1:
        guard place < end else { return false }
        count = 4 + Int(tag >> 2 & 7)
        offset = Int(tag >> 5) << 8 | Int(place[0])
        place += 1
      case 2:
        guard end - place >= 2 else { return false }
        count = 1 + Int(tag >> 2)
        offset = Int(place[0]) | Int(place[1]) << 8
        place += 2
      default:
        guard end - place >= 4 else { return false }
        count = 1 + Int(tag >> 2)
        offset = Int(place[0]) | Int(place[1]) << 8 | Int(place[2]) << 16 | Int(place[3]) << 24
        place += 4
      }
      guard ByteCopy.repeatBack(output, &written, offset: offset, count: count, limit: length) else { return false }
    }
    return written == length
  }
}

/// The block format of LZ4, without a frame. Source: `lz4_Block_format.md` of the LZ4 project.
enum LZ4Block {
  static func unpack(_ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    guard var place = source.baseAddress, let output = target.baseAddress else { return false }
    let end = place + source.count
    var written = 0
    func length(_ start: Int) -> Int? {
      var length = start
      guard start == 15 else { return length }
      while true {
        guard place < end, length <= target.count else { return nil }
        let byte = place.pointee
        place += 1
        length += Int(byte)
        if byte < 255 { return length }
      }
    }
    while place < end {
      let token = place.pointee
      place += 1
      guard let literals = length(Int(token >> 4)), literals <= end - place, literals <= target.count - written else {
        return false
      }
      (output + written).update(from: place, count: literals)
      place += literals
      written += literals
      if place == end { break }
      guard end - place >= 2 else { return false }
      let offset = Int(place[0]) | Int(place[1]) << 8
      place += 2
      guard let count = length(Int(token & 15)),
        ByteCopy.repeatBack(output, &written, offset: offset, count: count + 4, limit: target.count)
      else { return false }
    }
    return written == target.count
  }
}

enum ByteCopy {
  /// Repeats bytes that were written before, which may overlap with their copy. False if there aren't any, or no room.
  @inline(__always)
  static func repeatBack(
    _ output: UnsafeMutablePointer<UInt8>, _ written: inout Int, offset: Int, count: Int, limit: Int
  ) -> Bool {
    guard offset > 0, offset <= written, count <= limit - written else { return false }
    let target = output + written
    let source = target - offset
    if offset >= count {
      target.update(from: source, count: count)
    } else {
      for index in 0..<count { target[index] = source[index] }
    }
    written += count
    return true
  }
}
