// From another encoding to UTF-8. Invalid input comes out as bytes that UTF-8 doesn't have (a lone surrogate as three bytes,
// the rest as 0xFF): the reader's own check of each record then finds it, with its line, and the
// rest of the file is read.

import Glibc

/// Turns bytes of an encoding into UTF-8.
struct TextTranscoder {
  /// The most bytes that one byte becomes.
  static let growth = 3
  /// Bytes that may be written after the last valid one.
  static let slack = 16

  let encoding: TextEncoding
  private let table: SingleByteTable?

  init(_ encoding: TextEncoding) throws(ReaderError) {
    self.encoding = encoding
    table = encoding.isSingleByte ? try SingleByteTable(encoding) : nil
  }

  /// Transcodes as much as is whole.
  ///
  /// - Parameters:
  ///   - final: whether nothing follows; then all bytes are used.
  /// - Returns: bytes used and bytes written.
  func transcode(
    from start: BytePointer, count: Int, final: Bool, to target: UnsafeMutablePointer<UInt8>
  ) -> (used: Int, written: Int) {
    var writer = Writer(place: target)
    let used =
      switch encoding {
      case .utf16LE: utf16(start, count, final, low: 0, &writer)
      case .utf16BE: utf16(start, count, final, low: 1, &writer)
      case .utf32LE: utf32(start, count, final, isBig: false, &writer)
      case .utf32BE: utf32(start, count, final, isBig: true, &writer)
      default: singleByte(start, count, &writer)
      }
    return (used, writer.place - target)
  }

  private struct Writer {
    var place: UnsafeMutablePointer<UInt8>

    @inline(__always)
    mutating func put(_ byte: UInt32) {
      place.pointee = UInt8(truncatingIfNeeded: byte)
      place += 1
    }

    /// Surrogates too, as if they were characters.
    @inline(__always)
    mutating func put(scalar: UInt32) {
      if scalar < 0x80 {
        put(scalar)
      } else if scalar < 0x800 {
        put(0xC0 | scalar >> 6)
        put(0x80 | scalar & 0x3F)
      } else if scalar < 0x1_0000 {
        put(0xE0 | scalar >> 12)
        put(0x80 | scalar >> 6 & 0x3F)
        put(0x80 | scalar & 0x3F)
      } else if scalar < 0x11_0000 {
        put(0xF0 | scalar >> 18)
        put(0x80 | scalar >> 12 & 0x3F)
        put(0x80 | scalar >> 6 & 0x3F)
        put(0x80 | scalar & 0x3F)
      } else {
        put(0xFF)
      }
    }
  }

  private func singleByte(_ start: BytePointer, _ count: Int, _ writer: inout Writer) -> Int {
    guard let table else { return count }
    table.entries.withUnsafeBufferPointer { entries in
      var place = start
      let end = start + count
      while place < end {
        // Eight bytes of ASCII at a time, which are the same in every encoding here.
        while end - place >= 8 {
          let word = Bytes.load(place)
          guard word & Bytes.top == 0 else { break }
          UnsafeMutableRawPointer(writer.place).storeBytes(of: word.littleEndian, as: UInt64.self)
          writer.place += 8
          place += 8
        }
        guard place < end else { break }
        let entry = entries[Int(place.pointee)]
        UnsafeMutableRawPointer(writer.place).storeBytes(of: entry.littleEndian, as: UInt32.self)
        writer.place += Int(entry >> 24)
        place += 1
      }
    }
    return count
  }

  private func utf16(
    _ start: BytePointer, _ count: Int, _ final: Bool, low: Int, _ writer: inout Writer
  ) -> Int {
    @inline(__always)
    func unit(at index: Int) -> UInt32 { UInt32(start[index + low]) | UInt32(start[index + 1 - low]) << 8 }
    var index = 0
    while count - index >= 2 {
      let first = unit(at: index)
      if first & 0xFC00 == 0xD800 {
        if count - index >= 4 {
          let second = unit(at: index + 2)
          if second & 0xFC00 == 0xDC00 {
            writer.put(scalar: 0x1_0000 + (first & 0x3FF) << 10 + second & 0x3FF)
            index += 4
            continue
          }
        } else if !final {
          break
        }
      }
      writer.put(scalar: first)
      index += 2
    }
    if final, index < count {
      writer.put(0xFF)
      index = count
    }
    return index
  }

  private func utf32(
    _ start: BytePointer, _ count: Int, _ final: Bool, isBig: Bool, _ writer: inout Writer
  ) -> Int {
    var index = 0
    while count - index >= 4 {
      let value = UnsafeRawPointer(start + index).loadUnaligned(as: UInt32.self)
      writer.put(scalar: isBig ? UInt32(bigEndian: value) : UInt32(littleEndian: value))
      index += 4
    }
    if final, index < count {
      writer.put(0xFF)
      index = count
    }
    return index
  }
}

/// The UTF-8 of each byte of an eight-bit encoding. An undefined byte stays itself: alone, from 0x80 on, it is
/// invalid UTF-8, so the record's check finds it.
final class SingleByteTable: Sendable {
  /// Up to three bytes, the first lowest, and how many in the top eight bits.
  let entries: [UInt32]

  /// Where Windows-1252 differs from Latin-1; zero where it has no character.
  private static let windows1252: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]

  /// - Throws: `invalidOption` if the system lacks the encoding's table; two tables are built in.
  init(_ encoding: TextEncoding) throws(ReaderError) {
    var scalars = (0..<256).map { UInt32($0) }
    switch encoding {
    case .latin1: break
    case .windows1252: scalars.replaceSubrange(0x80..<0xA0, with: Self.windows1252)
    default: scalars = try Self.system(encoding)
    }
    entries = scalars.enumerated().map { byte, scalar in
      guard byte == 0 || scalar != 0, let known = Unicode.Scalar(scalar) else { return UInt32(byte) | 1 << 24 }
      let bytes = Array(UTF8.encode(known) ?? .init())
      return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } | UInt32(bytes.count) << 24
    }
  }

  /// glibc's own table, byte by byte; zero where it has no character.
  private static func system(_ encoding: TextEncoding) throws(ReaderError) -> [UInt32] {
    let name =
      encoding.rawValue.hasPrefix("windows-") ? "CP" + encoding.rawValue.dropFirst(8) : encoding.rawValue.uppercased()
    let converter = iconv_open("UTF-32LE", name)
    guard let converter, Int(bitPattern: converter) != -1 else {
      throw .invalidOption(name: "encoding", reason: "this system has no table for \(encoding.rawValue)")
    }
    defer { iconv_close(converter) }
    return (0..<256).map { byte in
      var source = CChar(bitPattern: UInt8(byte))
      var scalar: UInt32 = 0
      let isKnown = withUnsafeMutablePointer(to: &source) { source in
        withUnsafeMutableBytes(of: &scalar) { target in
          var input: UnsafeMutablePointer<CChar>? = source
          var output = target.baseAddress?.assumingMemoryBound(to: CChar.self)
          var inputLeft = 1
          var outputLeft = 4
          iconv(converter, nil, nil, nil, nil)
          return iconv(converter, &input, &inputLeft, &output, &outputLeft) != Int(bitPattern: UInt.max)
            && outputLeft == 0
        }
      }
      return isKnown ? UInt32(littleEndian: scalar) : 0
    }
  }
}

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
