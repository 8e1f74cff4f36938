// Looking at eight bytes at a time, as one 64-bit number. A "mask" has the top bit of a byte set where the byte
// matches, and nothing else; the lowest set bit is the first byte, since the numbers are loaded little-endian.
// (Scalar on purpose: as fast as the vector types for fields this short, and bearable in a debug build.)

import Glibc

typealias BytePointer = UnsafePointer<UInt8>

enum Bytes {
  static let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
  static let top: UInt64 = 0x8080_8080_8080_8080
  static let ones: UInt64 = 0x0101_0101_0101_0101

  /// The byte, eight times.
  @inline(__always)
  static func repeated(_ byte: UInt8) -> UInt64 { ones &* UInt64(byte) }

  @inline(__always)
  static func load(_ place: BytePointer) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
  }

  /// Per byte: top bit set where the byte isn't zero; other bits as they come. Exact, no carry between bytes.
  @inline(__always)
  static func nonzero(_ word: UInt64) -> UInt64 { ((word & low) &+ low) | word }

  /// The mask of the bytes equal to one of two.
  @inline(__always)
  static func mask(_ word: UInt64, of first: UInt64, or second: UInt64) -> UInt64 {
    ~(nonzero(word ^ first) & nonzero(word ^ second)) & top
  }

  /// Bytes before the first match of a mask that isn't zero.
  @inline(__always)
  static func first(_ mask: UInt64) -> Int { mask.trailingZeroBitCount &>> 3 }

  /// The first place of a byte.
  @inline(__always)
  static func find(_ byte: UInt8, from start: BytePointer, to end: BytePointer) -> BytePointer? {
    guard start < end, let found = memchr(start, Int32(byte), end - start) else { return nil }
    return BytePointer(found.assumingMemoryBound(to: UInt8.self))
  }

  /// How often a byte occurs, and its last place.
  static func count(
    _ byte: UInt8, from start: BytePointer, to end: BytePointer
  ) -> (count: Int, last: BytePointer?) {
    let wanted = repeated(byte)
    var count = 0
    var last: BytePointer?
    var place = start
    while end - place >= 8 {
      let mask = ~nonzero(load(place) ^ wanted) & top
      if mask != 0 {
        count &+= Int(truncatingIfNeeded: ((mask &>> 7) &* ones) &>> 56)
        last = place + (7 - mask.leadingZeroBitCount &>> 3)
      }
      place += 8
    }
    while place < end {
      if place.pointee == byte {
        count += 1
        last = place
      }
      place += 1
    }
    return (count, last)
  }

  /// The first byte that isn't plain ASCII text: 0, or 0x80 and above. `end` if there is none.
  static func firstSpecial(from start: BytePointer, to end: BytePointer) -> BytePointer {
    var place = start
    while end - place >= 8 {
      let word = load(place)
      // A zero byte borrows from the bytes after it: only the first match is to be believed.
      let mask = (word | (word &- ones)) & top
      if mask != 0 { return place + first(mask) }
      place += 8
    }
    while place < end, place.pointee != 0, place.pointee < 0x80 { place += 1 }
    return place
  }
}
