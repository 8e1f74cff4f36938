// From another encoding to UTF-8. What isn't valid comes out as bytes that no UTF-8 has (a lone surrogate as three bytes,
// the rest as 0xFF), so that the reader's own look at its records finds the one that is wrong, with its line, and the
// rest of the file is read.

/// Turns bytes of an encoding into UTF-8.
struct TextTranscoder {
  /// A byte becomes at most so many.
  static let growth = 3
  /// So many bytes may be written behind the last that counts.
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
  ///   - final: whether nothing follows: then all of it is used up.
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
        // Eight bytes of ASCII at a time. Every encoding here has those as they are.
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
