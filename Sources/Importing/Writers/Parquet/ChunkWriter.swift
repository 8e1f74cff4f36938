// A column of a row group that is being written. Its values are kept until the group is full: as places in a dictionary as
// long as that pays, as plain bytes otherwise. Pages end at records, after a mebibyte or 20,000 records.

import Glibc

/// How the values of a column are kept in a file.
struct WrittenType {
  enum Annotation {
    case none, text, json, uuid, timestamp
    case integer(bits: Int8)
    case decimal(precision: Int, scale: Int)
  }

  let physical: ParquetLeaf.Physical
  /// The bytes of a value; 0 where values differ.
  let width: Int
  let annotation: Annotation

  /// The order of values, for statistics.
  fileprivate func isLess(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    switch physical {
    case .int32: return a.loadUnaligned(as: Int32.self) < b.loadUnaligned(as: Int32.self)
    case .int64: return a.loadUnaligned(as: Int64.self) < b.loadUnaligned(as: Int64.self)
    case .float: return a.loadUnaligned(as: Float.self) < b.loadUnaligned(as: Float.self)
    case .double: return a.loadUnaligned(as: Double.self) < b.loadUnaligned(as: Double.self)
    case .boolean, .int96, .bytes, .fixed:
      if case .decimal = annotation, let first = a.first, let second = b.first, first >> 7 != second >> 7 {
        return first >> 7 > second >> 7
      }
      return a.lexicographicallyPrecedes(b)
    }
  }

  /// Whether a value has a place in that order.
  fileprivate func isOrdered(_ value: UnsafeRawBufferPointer) -> Bool {
    switch physical {
    case .float: return !value.loadUnaligned(as: Float.self).isNaN
    case .double: return !value.loadUnaligned(as: Double.self).isNaN
    case .bytes: return value.count <= 64
    default: return true
    }
  }
}

/// Collects the values of a column, and writes them as its part of a row group. For one thread.
final class ChunkWriter {
  let type: WrittenType
  private let repetition: UInt8
  private let definition: UInt8

  private var repetitions: [UInt8] = []
  private var definitions: [UInt8] = []
  /// The values that are there.
  private var count = 0
  private let plain = TextBuffer(capacity: 1 << 12)
  /// Truth values, which are packed when they are written.
  private var bits: [Bool] = []
  private var dictionary: ValueDictionary?
  private var places: [UInt32] = []

  /// Where pages end: the levels, values and plain bytes before.
  private var ends: [(levels: Int, values: Int, bytes: Int)] = []
  private var levels = 0
  private var pageRecords = 0
  private var pageBytes = 0

  private var nulls = 0
  private var least: [UInt8]?
  private var greatest: [UInt8]?
  /// A value that statistics can't have, or that is too long, leaves them out.
  private var hasUnordered = false

  private static let pageBytesLimit = 1 << 20
  private static let pageRecordsLimit = 20_000

  init(_ type: WrittenType, repetition: Int, definition: Int) {
    self.type = type
    self.repetition = UInt8(repetition)
    self.definition = UInt8(definition)
    if type.physical != .boolean { dictionary = ValueDictionary(width: type.width) }
  }

  /// The bytes that are kept.
  var held: Int { plain.count + places.count * 4 + (dictionary?.bytes ?? 0) + bits.count + 2 * definitions.count }

  /// A value that isn't there, from a level of definition on.
  func appendAbsent(_ repetition: Int = 0, at definition: Int) {
    nulls += 1
    note(repetition, definition)
  }

  /// A value that is there, in the bytes that `PLAIN` has for it, but for the length.
  func append(_ value: UnsafeRawBufferPointer, _ repetition: Int = 0) {
    note(repetition, Int(definition))
    count += 1
    pageBytes += value.count + (type.width == 0 ? 4 : 0)
    noteStatistics(value)
    if let dictionary {
      if let place = dictionary.place(of: value) {
        places.append(place)
        return
      }
      leaveDictionary(dictionary)
    }
    appendPlain(value)
  }

  func append(flag: Bool, _ repetition: Int = 0) {
    note(repetition, Int(definition))
    count += 1
    bits.append(flag)
    withUnsafeBytes(of: UInt8(flag ? 1 : 0)) { noteStatistics($0) }
  }

  /// A record ends. Returns whether a page does, too.
  func endRecord() -> Bool {
    pageRecords += 1
    guard pageBytes >= Self.pageBytesLimit || pageRecords >= Self.pageRecordsLimit else { return false }
    endPage()
    return true
  }

  private func endPage() {
    ends.append((levels, count, plain.count))
    (pageRecords, pageBytes) = (0, 0)
  }

  private func note(_ repetition: Int, _ definition: Int) {
    levels += 1
    if self.repetition > 0 { repetitions.append(UInt8(truncatingIfNeeded: repetition)) }
    if self.definition > 0 { definitions.append(UInt8(truncatingIfNeeded: definition)) }
  }

  private func noteStatistics(_ value: UnsafeRawBufferPointer) {
    guard !hasUnordered else { return }
    guard type.isOrdered(value) else {
      (hasUnordered, least, greatest) = (true, nil, nil)
      return
    }
    if least?.withUnsafeBytes({ type.isLess(value, $0) }) ?? true { least = Array(value) }
    if greatest?.withUnsafeBytes({ type.isLess($0, value) }) ?? true { greatest = Array(value) }
  }

  private func appendPlain(_ value: UnsafeRawBufferPointer) {
    let place = plain.room(for: 4 + value.count)
    var start = 0
    if type.width == 0 {
      UnsafeMutableRawPointer(place).storeBytes(of: UInt32(value.count).littleEndian, as: UInt32.self)
      start = 4
    }
    if let base = value.baseAddress, !value.isEmpty {
      UnsafeMutableRawPointer(place + start).copyMemory(from: base, byteCount: value.count)
    }
    plain.advance(by: start + value.count)
  }

  /// The dictionary doesn't pay: the values so far become plain.
  private func leaveDictionary(_ dictionary: ValueDictionary) {
    self.dictionary = nil
    var next = 0
    for (index, place) in places.enumerated() {
      while next < ends.count, ends[next].values == index {
        ends[next].bytes = plain.count
        next += 1
      }
      appendPlain(dictionary.value(place))
    }
    while next < ends.count {
      ends[next].bytes = plain.count
      next += 1
    }
    places = []
  }
}

// MARK: Writing

extension ChunkWriter {
  /// What a footer says of a chunk.
  struct Written {
    let values: Int
    let packedBytes: Int64
    let unpackedBytes: Int64
    let start: Int64
    let hasDictionary: Bool
    let dictionaryBytes: Int64
    let nulls: Int
    let least: [UInt8]?
    let greatest: [UInt8]?
  }

  /// Writes the pages, and forgets the values.
  /// - Parameters:
  ///   - start: the place in the file.
  ///   - put: writes bytes there.
  func write(
    at start: Int64, _ packer: PagePacker, _ put: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Written {
    if pageRecords > 0 || ends.isEmpty { endPage() }
    var (packedBytes, unpackedBytes): (Int64, Int64) = (0, 0)
    func page(_ bytes: UnsafeRawBufferPointer, _ details: (inout ThriftWriter) -> Void, type: Int) throws {
      let packed = try packer.pack(bytes)
      var header = ThriftWriter()
      header.structure { header in
        header.i32(1, type)
        header.i32(2, bytes.count)
        header.i32(3, packed.count)
        details(&header)
      }
      try header.bytes.withUnsafeBytes { try put($0) }
      try put(packed)
      packedBytes += Int64(header.bytes.count + packed.count)
      unpackedBytes += Int64(header.bytes.count + bytes.count)
    }
    var dictionaryBytes: Int64 = 0
    // One that repeats nothing would be there in addition.
    if let dictionary, dictionary.count * 2 > count { leaveDictionary(dictionary) }
    if let dictionary {
      try page(
        dictionary.encoded.bytes,
        { header in
          header.structure(7) { details in
            details.i32(1, dictionary.count)
            details.i32(2, 0)
          }
        }, type: 2)
      dictionaryBytes = packedBytes
    }
    let buffer = TextBuffer(capacity: 1 << 16)
    var before = (levels: 0, values: 0, bytes: 0)
    for end in ends {
      buffer.removeAll()
      if repetition > 0 {
        LevelWriter.write(repetitions[before.levels..<end.levels], greatest: repetition, to: buffer)
      }
      if definition > 0 {
        LevelWriter.write(definitions[before.levels..<end.levels], greatest: definition, to: buffer)
      }
      if let dictionary {
        let width = LevelReader.width(UInt32(max(0, dictionary.count - 1)))
        buffer.append(UInt8(width))
        LevelWriter.writeRuns(places[before.values..<end.values], width: width, to: buffer)
      } else if type.physical == .boolean {
        LevelWriter.pack(bits[before.values..<end.values].map { $0 ? 1 : 0 }, width: 1, to: buffer)
      } else {
        buffer.append(
          UnsafeBufferPointer(start: BytePointer(plain.start) + before.bytes, count: end.bytes - before.bytes))
      }
      let values = end.levels - before.levels
      try page(
        buffer.bytes,
        { header in
          header.structure(5) { details in
            details.i32(1, values)
            details.i32(2, dictionary == nil ? 0 : 8)
            details.i32(3, 3)
            details.i32(4, 3)
          }
        }, type: 0)
      before = end
    }
    let written = Written(
      values: levels, packedBytes: packedBytes, unpackedBytes: unpackedBytes, start: start,
      hasDictionary: dictionary != nil, dictionaryBytes: dictionaryBytes, nulls: nulls, least: least,
      greatest: greatest)
    removeAll()
    return written
  }

  private func removeAll() {
    repetitions.removeAll(keepingCapacity: true)
    definitions.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    bits.removeAll(keepingCapacity: true)
    ends.removeAll()
    plain.removeAll()
    (count, levels, pageRecords, pageBytes, nulls) = (0, 0, 0, 0, 0)
    (least, greatest, hasUnordered) = (nil, nil, false)
    if type.physical != .boolean { dictionary = ValueDictionary(width: type.width) }
  }
}

/// The distinct values of a column, as long as they are few.
final class ValueDictionary {
  /// The values, as `PLAIN` has them.
  let encoded = TextBuffer(capacity: 1 << 10)
  private(set) var count = 0
  private let width: Int
  /// Where each value begins, behind its length.
  private var starts: [(start: Int, length: Int)] = []
  /// Places by hashes, and -1.
  private var slots = [Int32](repeating: -1, count: 1 << 8)
  private var seen = 0

  private static let bytesLimit = 1 << 20
  /// After this many values, half of them must be in the dictionary.
  private static let trial = 4_096

  init(width: Int) { self.width = width }

  var bytes: Int { encoded.count + starts.count * 16 + slots.count * 4 }

  func value(_ place: UInt32) -> UnsafeRawBufferPointer {
    let (start, length) = starts[Int(place)]
    return UnsafeRawBufferPointer(start: encoded.start + start, count: length)
  }

  /// The place of a value, which is added; nil if there are too many.
  func place(of value: UnsafeRawBufferPointer) -> UInt32? {
    seen += 1
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: Self.hash(value)) & mask
    while slots[slot] >= 0 {
      let place = UInt32(slots[slot])
      let known = self.value(place)
      if known.count == value.count, Self.areEqual(known, value) { return place }
      slot = (slot + 1) & mask
    }
    if encoded.count + value.count > Self.bytesLimit || (seen > Self.trial && count * 2 > seen) { return nil }
    if width == 0 {
      let length = UInt32(value.count)
      for shift in 0..<4 { encoded.append(UInt8(truncatingIfNeeded: length >> UInt32(8 * shift))) }
    }
    starts.append((encoded.count, value.count))
    encoded.append(value.bindMemory(to: UInt8.self))
    slots[slot] = Int32(count)
    count += 1
    if count * 2 > slots.count { grow() }
    return UInt32(count - 1)
  }

  private static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard let first = a.baseAddress, let second = b.baseAddress, !a.isEmpty else { return true }
    return memcmp(first, second, a.count) == 0
  }

  private func grow() {
    slots = [Int32](repeating: -1, count: slots.count * 2)
    let mask = slots.count - 1
    for place in 0..<count {
      var slot = Int(truncatingIfNeeded: Self.hash(value(UInt32(place)))) & mask
      while slots[slot] >= 0 { slot = (slot + 1) & mask }
      slots[slot] = Int32(place)
    }
  }

  private static func hash(_ value: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in value { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash ^ hash >> 29
  }
}

/// Writes small numbers in runs. Source: the Parquet format, `Encodings.md`.
enum LevelWriter {
  /// Levels, with their length before them.
  static func write(_ levels: ArraySlice<UInt8>, greatest: UInt8, to buffer: TextBuffer) {
    let start = buffer.count
    for _ in 0..<4 { buffer.append(0 as UInt8) }
    writeRuns(levels, width: LevelReader.width(UInt32(greatest)), to: buffer)
    let length = UInt32(buffer.count - start - 4)
    UnsafeMutableRawPointer(buffer.start + start).storeBytes(of: length.littleEndian, as: UInt32.self)
  }

  /// Runs of eight or more equal numbers by their count, others packed.
  static func writeRuns(
    _ numbers: ArraySlice<some UnsignedInteger & FixedWidthInteger>, width: Int, to buffer: TextBuffer
  ) {
    var place = numbers.startIndex
    while place < numbers.endIndex {
      let run = self.run(numbers, from: place)
      if run >= 8 || place + run == numbers.endIndex {
        varint(run << 1, to: buffer)
        for shift in 0..<(width + 7) / 8 {
          buffer.append(UInt8(truncatingIfNeeded: UInt32(numbers[place]) >> UInt32(8 * shift)))
        }
        place += run
        continue
      }
      // Groups of eight, until a long run begins at the end of one.
      var end = place
      while end < numbers.endIndex, end - place < 8 * 63 {
        end = min(end + 8, numbers.endIndex)
        if end < numbers.endIndex, self.run(numbers, from: end) >= 8 { break }
      }
      let groups = (end - place + 7) / 8
      varint(groups << 1 | 1, to: buffer)
      var packed = numbers[place..<end].map { UInt32($0) }
      packed += [UInt32](repeating: 0, count: groups * 8 - packed.count)
      pack(packed, width: width, to: buffer)
      place = end
    }
  }

  private static func run(_ numbers: ArraySlice<some Equatable>, from start: Int) -> Int {
    var end = start + 1
    while end < numbers.endIndex, numbers[end] == numbers[start] { end += 1 }
    return end - start
  }

  /// Numbers of a few bits, from each byte's lowest bit on.
  static func pack(_ numbers: [UInt32], width: Int, to buffer: TextBuffer) {
    var (bits, count): (UInt64, Int) = (0, 0)
    for number in numbers {
      bits |= UInt64(number) << UInt64(count)
      count += width
      while count >= 8 {
        buffer.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        count -= 8
      }
    }
    if count > 0 { buffer.append(UInt8(truncatingIfNeeded: bits)) }
  }

  private static func varint(_ value: Int, to buffer: TextBuffer) {
    var rest = value
    while rest >= 0x80 {
      buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    buffer.append(UInt8(rest))
  }
}
