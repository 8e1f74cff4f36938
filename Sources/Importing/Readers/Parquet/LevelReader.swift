/// Numbers of a few bits in runs, each of one number or of packed ones: levels, places in a dictionary, and truth values.
///
/// Source: the Parquet format, `Encodings.md`, “Run Length Encoding / Bit-Packing Hybrid”.
struct HybridReader {
  private var place: BytePointer
  private let end: BytePointer
  private let width: Int
  /// What is left of a run of one number.
  private var repeated = 0
  private var value: UInt32 = 0
  /// What is left of a run of packed ones, and the bit at which the next begins.
  private var packed = 0
  private var bits: BytePointer
  private var bit = 0
  private var bitsEnd: BytePointer

  /// - Parameter width: the bits of a number, up to 32.
  init(_ start: BytePointer, _ end: BytePointer, width: Int) {
    (place, self.end, self.width) = (start, end, width)
    (bits, bitsEnd) = (start, start)
  }

  /// Writes the next numbers; false if there aren't as many.
  mutating func read(_ count: Int, to target: UnsafeMutablePointer<UInt32>) -> Bool {
    var done = 0
    while done < count {
      if repeated > 0 {
        let now = min(repeated, count - done)
        (target + done).update(repeating: value, count: now)
        repeated -= now
        done += now
      } else if packed > 0 {
        let now = min(packed, count - done)
        guard unpack(now, to: target + done) else { return false }
        packed -= now
        done += now
      } else if !nextRun() {
        return false
      }
    }
    return true
  }

  private mutating func nextRun() -> Bool {
    var head: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      guard place < end, shift < 35 else { return false }
      let byte = place.pointee
      place += 1
      head |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    let count = Int(head >> 1)
    if head & 1 == 0 {
      let bytes = (width + 7) / 8
      guard count > 0, end - place >= bytes else { return false }
      value = 0
      for index in 0..<bytes { value |= UInt32(place[index]) << UInt32(8 * index) }
      guard width == 32 || value < 1 << UInt32(width) else { return false }
      place += bytes
      repeated = count
    } else {
      guard count > 0, count <= 1 << 28 else { return false }
      // Some programs leave out the end of the last run, which nothing needs.
      let bytes = min(count * width, end - place)
      (bits, bit, bitsEnd) = (place, 0, place + bytes)
      place += bytes
      packed = count * 8
    }
    return true
  }

  private mutating func unpack(_ count: Int, to target: UnsafeMutablePointer<UInt32>) -> Bool {
    guard width > 0 else {
      target.update(repeating: 0, count: count)
      return true
    }
    guard bit + count * width <= (bitsEnd - bits) * 8 else { return false }
    let mask: UInt64 = (1 << UInt64(width)) - 1
    for index in 0..<count {
      let byte = bits + bit >> 3
      let value: UInt64
      if bitsEnd - byte >= 8 {
        value = UInt64(littleEndian: UnsafeRawPointer(byte).loadUnaligned(as: UInt64.self))
      } else {
        var last: UInt64 = 0
        for offset in 0..<(bitsEnd - byte) { last |= UInt64(byte[offset]) << UInt64(8 * offset) }
        value = last
      }
      target[index] = UInt32(truncatingIfNeeded: (value >> UInt64(bit & 7)) & mask)
      bit += width
    }
    return true
  }
}

/// Levels packed without runs, from each byte's highest bit on, as old files have them.
struct PackedLevels {
  private let start: BytePointer
  private let end: BytePointer
  private let width: Int
  private var bit = 0

  init(_ start: BytePointer, _ end: BytePointer, width: Int) {
    (self.start, self.end, self.width) = (start, end, width)
  }

  mutating func read(_ count: Int, to target: UnsafeMutablePointer<UInt32>) -> Bool {
    guard bit + count * width <= (end - start) * 8 else { return false }
    for index in 0..<count {
      var value: UInt32 = 0
      for _ in 0..<width {
        value = value << 1 | UInt32(start[bit >> 3] >> UInt8(7 - bit & 7)) & 1
        bit += 1
      }
      target[index] = value
    }
    return true
  }
}

/// The levels of a page, of one kind.
enum LevelReader {
  case hybrid(HybridReader)
  case packed(PackedLevels)
  /// All are 0.
  case none

  mutating func read(_ count: Int, to target: UnsafeMutablePointer<UInt32>) -> Bool {
    switch self {
    case .hybrid(var reader):
      let isRead = reader.read(count, to: target)
      self = .hybrid(reader)
      return isRead
    case .packed(var reader):
      let isRead = reader.read(count, to: target)
      self = .packed(reader)
      return isRead
    case .none:
      target.update(repeating: 0, count: count)
      return true
    }
  }

  /// The bits of a level.
  static func width(_ greatest: UInt32) -> Int { 32 - greatest.leadingZeroBitCount }
}

/// Whole numbers as differences, in blocks. Source: the Parquet format, `Encodings.md`, “Delta Encoding”.
struct DeltaReader {
  private(set) var place: BytePointer
  private let end: BytePointer
  private let isNarrow: Bool
  private let miniblocks: Int
  private let perMiniblock: Int
  /// The numbers that aren't read yet.
  private(set) var left: Int
  private var current: Int64
  private var isFirst = true
  private var least: Int64 = 0
  /// The bits of each of a block's small blocks, and the next of them.
  private var widths: BytePointer
  private var next: Int
  private var width = 0
  private var bits: BytePointer
  private var bit = 0
  private var leftInMiniblock = 0

  /// nil if the head is wrong.
  init?(_ start: BytePointer, _ end: BytePointer, isNarrow: Bool) {
    var reader = ThriftReader(start, count: end - start)
    guard let block = try? reader.varint(), let miniblocks = try? reader.varint(), let count = try? reader.varint(),
      let first = try? reader.integer(), block > 0, block <= 1 << 20, block % 128 == 0, miniblocks > 0,
      miniblocks <= block, block % miniblocks == 0, (block / miniblocks) % 32 == 0, count <= 1 << 32
    else { return nil }
    self.end = end
    self.isNarrow = isNarrow
    self.miniblocks = Int(miniblocks)
    perMiniblock = Int(block / miniblocks)
    left = Int(count)
    current = first
    place = reader.place
    (widths, bits) = (start, start)
    next = self.miniblocks
  }

  /// The next number; nil if there is none.
  @inline(__always)
  mutating func read() -> Int64? {
    guard left > 0 else { return nil }
    left -= 1
    if isFirst {
      isFirst = false
      return value
    }
    if leftInMiniblock == 0, !nextMiniblock() { return nil }
    leftInMiniblock -= 1
    var delta: UInt64 = 0
    if width > 0 {
      let byte = bits + bit >> 3
      let shift = UInt64(bit & 7)
      if end - byte >= 9 {
        delta = UInt64(littleEndian: UnsafeRawPointer(byte).loadUnaligned(as: UInt64.self)) >> shift
        if shift > 0 { delta |= UInt64(byte[8]) << (64 - shift) }
      } else {
        for offset in 0..<min(8, end - byte) { delta |= UInt64(byte[offset]) << UInt64(8 * offset) }
        delta >>= shift
      }
      if width < 64 { delta &= (1 << UInt64(width)) - 1 }
      bit += width
    }
    current = current &+ least &+ Int64(bitPattern: delta)
    return value
  }

  private var value: Int64 { isNarrow ? Int64(Int32(truncatingIfNeeded: current)) : current }

  private mutating func nextMiniblock() -> Bool {
    if next == miniblocks {
      var reader = ThriftReader(place, count: end - place)
      guard let least = try? reader.integer(), reader.remaining >= miniblocks else { return false }
      self.least = least
      widths = reader.place
      place = widths + miniblocks
      next = 0
    }
    width = Int(widths[next])
    next += 1
    let bytes = perMiniblock / 8 * width
    guard width <= 64, bytes <= end - place else { return false }
    (bits, bit) = (place, 0)
    place += bytes
    leftInMiniblock = perMiniblock
    return true
  }
}
