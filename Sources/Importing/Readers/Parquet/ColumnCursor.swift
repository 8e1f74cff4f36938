// A column of a row group, value by value. In memory is one page, unpacked, and the dictionary; levels and places in the
// dictionary are decoded a few hundred at a time, since a page of a few bytes may have billions of them.

import CArchive
import Glibc

/// The bytes of pages that are in memory, and all that were unpacked.
final class PageMemory {
  private(set) var held = 1 << 12
  private(set) var unpacked: Int64 = 0
  /// The bytes of values that were left out since they are longer than a record may be.
  private var omitted: Int64 = 0
  /// How long a value may be, and how much of a longer one is kept.
  let longestValue: Int
  private let kept: Int
  private var isRecounting = false
  private let limit: Int
  private let note: (Int64) throws(ParquetError) -> Void
  /// A page as it is in the file; one after another is read.
  private var packed: UnsafeMutableBufferPointer<UInt8>
  let unpacker = PageUnpacker()

  /// - Parameters:
  ///   - limit: of the pages.
  ///   - longestValue: of a longer value, the first `kept` bytes are.
  ///   - note: gets the bytes unpacked so far, and throws if they are too many.
  init(limit: Int, longestValue: Int, kept: Int, note: @escaping (Int64) throws(ParquetError) -> Void) {
    self.limit = limit
    self.longestValue = longestValue
    self.kept = min(kept, longestValue)
    self.note = note
    packed = .allocate(capacity: held)
  }

  /// The beginning of a value that is too long.
  func beginning(of value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    omitted += Int64(value.count - kept)
    return UnsafeBufferPointer(rebasing: value[..<kept])
  }

  /// The bytes that were left out since this was asked.
  func takeOmitted() -> Int64 {
    defer { omitted = 0 }
    return omitted
  }

  deinit { packed.deallocate() }

  func hold(_ bytes: Int) throws(ParquetError) {
    held += bytes
    guard held <= limit else {
      held -= bytes
      throw .tooManyPages(limit: Int64(limit))
    }
  }

  func release(_ bytes: Int) { held -= bytes }

  /// Reads pages that an earlier reader has counted.
  /// - Parameter count: the bytes that it had unpacked.
  func recount(_ count: Int64, _ body: () throws(ParquetError) -> Void) throws(ParquetError) {
    isRecounting = true
    defer { isRecounting = false }
    try body()
    unpacked = count
  }

  func noteUnpacked(_ bytes: Int) throws(ParquetError) {
    if isRecounting { return }
    unpacked += Int64(bytes)
    try note(unpacked)
  }

  /// Room for a page, until the next is read.
  func room(_ count: Int) throws(ParquetError) -> UnsafeMutableBufferPointer<UInt8> {
    if packed.count < count {
      let capacity = max(count, 1 << 16)
      release(packed.count)
      packed.deallocate()
      packed = UnsafeMutableBufferPointer(start: nil, count: 0)
      try hold(capacity)
      packed = .allocate(capacity: capacity)
    }
    return UnsafeMutableBufferPointer(rebasing: packed[..<count])
  }
}

/// Reads a column of a row group. For one thread.
final class ColumnCursor {
  let leaf: ParquetLeaf
  private let file: ParquetFile
  private let chunk: ParquetChunk
  private let group: Int
  private let codec: PageCodec
  private let memory: PageMemory
  private let values: PageValues
  private let form: ParquetText
  /// The place of the next page.
  private var place: Int64
  /// The values of the chunk, and those of the page, whose levels aren't decoded yet.
  private var leftInChunk: Int64
  private var leftInPage: Int64 = 0
  private var page: UnsafeMutableBufferPointer<UInt8>
  private var dictionary: ParquetDictionary?
  private var hasPage = false
  private var places: HybridReader?

  // The levels that are decoded.
  private var repetitionReader = LevelReader.none
  private var definitionReader = LevelReader.none
  private let repetitions: UnsafeMutablePointer<UInt32>
  private let definitions: UnsafeMutablePointer<UInt32>
  private var level = 0
  private var levels = 0
  private let indexes: UnsafeMutablePointer<UInt32>
  private var index = 0
  private var indexCount = 0
  /// The values of the page that aren't null, as far as levels tell, and whose places aren't decoded.
  private var leftOfPlaces: Int64 = 0

  static let pageLimit = 128 << 20
  static let dictionaryLimit = 64 << 20
  private static let decoded = 256
  private static let leastPage = 64
  private static let headerLimit = 1 << 20

  init(_ file: ParquetFile, _ leaf: ParquetLeaf, _ chunk: ParquetChunk, group: Int, _ memory: PageMemory)
    throws(ParquetError)
  {
    self.file = file
    self.leaf = leaf
    self.chunk = chunk
    self.group = group
    self.memory = memory
    codec = try PageCodec(chunk.codec, column: leaf.name)
    values = PageValues(leaf)
    form = ParquetText(leaf)
    place = chunk.start
    leftInChunk = chunk.values
    try memory.hold(Self.leastPage)
    page = .allocate(capacity: Self.leastPage)
    repetitions = .allocate(capacity: leaf.repetition > 0 ? Self.decoded : 1)
    definitions = .allocate(capacity: leaf.definition > 0 ? Self.decoded : 1)
    indexes = .allocate(capacity: Self.decoded)
  }

  deinit {
    repetitions.deallocate()
    definitions.deallocate()
    indexes.deallocate()
    memory.release(page.count + (dictionary?.bytes ?? 0))
    page.deallocate()
  }

  private var part: String { "the column “\(leaf.name)” of row group \(group + 1)" }

  func malformed(_ what: String) -> ParquetError { .malformed(part: part, what: what) }

  // MARK: Values

  /// Whether there is a further value, whose levels are then known. A column without values left is at a new record.
  @inline(__always)
  func isAtValue() throws(ParquetError) -> Bool { level < levels ? true : try decodeLevels() }

  /// The levels of the next value. Only after ``isAtValue()``.
  @inline(__always)
  var repetition: UInt32 { leaf.repetition > 0 ? repetitions[level] : 0 }
  @inline(__always)
  var definition: UInt32 { leaf.definition > 0 ? definitions[level] : 0 }

  /// Goes on behind a value that isn't there.
  @inline(__always)
  func pass() { level &+= 1 }

  /// Appends the text of the next value, which is there, and goes on behind it.
  @inline(__always)
  func append(to text: TextBuffer) throws(ParquetError) -> Cell.Kind {
    level &+= 1
    if let dictionary {
      if index == indexCount { try decodePlaces() }
      if places != nil {
        let place = Int(indexes[index])
        index &+= 1
        guard place < dictionary.count else { throw malformed("a value isn't in the dictionary") }
        let entry = dictionary.entry(place)
        text.append(entry.bytes.count <= memory.longestValue ? entry.bytes : memory.beginning(of: entry.bytes))
        return entry.kind
      }
    }
    guard let bytes = values.next() else { throw malformed("a page has too few values") }
    if bytes.count > memory.longestValue {
      text.append(memory.beginning(of: bytes))
      return .text
    }
    return form.append(bytes, to: text)
  }

  /// Goes on behind a value that is there.
  func skipValue() throws(ParquetError) {
    level += 1
    if places != nil {
      if index == indexCount { try decodePlaces() }
      index += 1
    } else if values.next() == nil {
      throw malformed("a page has too few values")
    }
  }

  private func decodePlaces() throws(ParquetError) {
    guard places != nil else { return }
    let count = Int(min(Int64(Self.decoded), max(1, leftOfPlaces)))
    guard places?.read(count, to: indexes) == true else { throw malformed("a page has too few values") }
    leftOfPlaces -= Int64(count)
    (index, indexCount) = (0, count)
  }

  private func decodeLevels() throws(ParquetError) -> Bool {
    guard try hasLevelsLeft() else { return false }
    let count = Int(min(Int64(Self.decoded), leftInPage))
    if leaf.repetition > 0 {
      guard repetitionReader.read(count, to: repetitions) else { throw malformed("a page has too few levels") }
      for index in 0..<count where repetitions[index] > leaf.repetition {
        throw malformed("a level of repetition is too high")
      }
    }
    var present = count
    if leaf.definition > 0 {
      guard definitionReader.read(count, to: definitions) else { throw malformed("a page has too few levels") }
      for index in 0..<count {
        guard definitions[index] <= leaf.definition else { throw malformed("a level of definition is too high") }
        if definitions[index] < leaf.definition { present -= 1 }
      }
    }
    leftOfPlaces += Int64(present)
    leftInPage -= Int64(count)
    (level, levels) = (0, count)
    return true
  }

  /// Whether there are levels to decode, of the page or of another one.
  private func hasLevelsLeft() throws(ParquetError) -> Bool {
    while leftInPage == 0 {
      guard leftInChunk > 0 else { return false }
      try readPage(skipping: 0)
    }
    return true
  }

  // MARK: Rows

  /// Skips rows. Pages of which nothing is needed aren't unpacked.
  func skipRows(_ count: Int64) throws(ParquetError) {
    var left = count
    if leaf.repetition == 0 {
      while left > 0 {
        if level < levels {
          if definition == leaf.definition { try skipValue() } else { pass() }
          left -= 1
        } else if leftInPage > 0 {
          _ = try decodeLevels()
        } else {
          guard leftInChunk > 0 else { throw malformed("it has fewer values than rows") }
          left -= try readPage(skipping: left)
        }
      }
      return
    }
    while left > 0 {
      guard try isAtValue() else { throw malformed("it has fewer values than rows") }
      repeat {
        if definition == leaf.definition { try skipValue() } else { pass() }
      } while try isAtValue() && repetition > 0
      left -= 1
    }
  }

  // MARK: Pages

  /// Reads the next page: a dictionary, or one with values.
  /// - Parameter skipping: the rows to skip. A page with no more is passed as a whole.
  /// - Returns: the rows that were passed.
  @discardableResult
  private func readPage(skipping rows: Int64) throws(ParquetError) -> Int64 {
    let (header, start) = try readHeader()
    let end = chunk.start + chunk.size
    guard header.packedBytes >= 0, header.packedBytes <= end - start, header.unpackedBytes >= 0, header.values >= 0
    else {
      throw malformed("a page's sizes are wrong")
    }
    let pageStart = place
    place = start + header.packedBytes
    guard header.unpackedBytes <= Int64(Self.pageLimit), header.packedBytes <= Int64(Self.pageLimit) else {
      throw .tooLarge(
        part: "a page of \(part)", bytes: max(header.unpackedBytes, header.packedBytes), limit: Int64(Self.pageLimit))
    }
    // Also what takes time only: a page without values is read, too.
    try memory.noteUnpacked(max(Self.leastPage, Int(place - pageStart), Int(header.unpackedBytes)))
    switch header.kind {
    case .other: return 0
    case .dictionary:
      guard !hasPage, dictionary == nil else { throw malformed("a dictionary isn't its first page") }
      try readDictionary(header, at: start)
      return 0
    case .data, .dataV2:
      hasPage = true
      guard header.values <= leftInChunk else { throw malformed("its pages have more values than it has") }
      leftInChunk -= header.values
      if header.values <= rows, leaf.repetition == 0 { return header.values }
      leftInPage = header.values
      leftOfPlaces = 0
      (level, levels, index, indexCount) = (0, 0, 0, 0)
      if header.values > 0 { try readValues(header, at: start) }
      return 0
    }
  }

  private func readHeader() throws(ParquetError) -> (ParquetPageHeader, Int64) {
    var size = 512
    let left = chunk.start + chunk.size - place
    while true {
      let count = Int(min(Int64(size), left))
      guard count > 0 else { throw malformed("it has fewer values than it should have") }
      let bytes = try memory.room(count)
      try file.read(at: place, into: bytes)
      guard let base = bytes.baseAddress else { throw malformed("it has no pages") }
      var reader = ThriftReader(base, count: count)
      do throws(ThriftReader.Mistake) {
        let header = try ParquetPageHeader(&reader)
        return (header, place + Int64(count - reader.remaining))
      } catch {
        // Statistics in it may be long.
        guard error == .truncated, Int64(count) < left, size < Self.headerLimit else {
          throw malformed("a page has no header")
        }
        size *= 8
      }
    }
  }

  /// Reads the bytes of a page, checks them, and unpacks them into memory of its own.
  private func load(_ header: ParquetPageHeader, at start: Int64, plain: Int = 0) throws(ParquetError) {
    let (packedCount, count) = (Int(header.packedBytes), Int(header.unpackedBytes))
    guard plain <= packedCount, plain <= count else { throw malformed("a page's levels are longer than it") }
    if page.count < count {
      let capacity = count + count / 4
      // The old one goes first, or both would be in memory.
      memory.release(page.count)
      page.deallocate()
      page = UnsafeMutableBufferPointer(start: nil, count: 0)
      try memory.hold(capacity)
      page = .allocate(capacity: capacity)
    }
    let packed = try memory.room(packedCount)
    try file.read(at: start, into: packed)
    let bytes = UnsafeBufferPointer(packed)
    if let checksum = header.checksum {
      guard UInt32(truncatingIfNeeded: crc32(0, bytes.baseAddress, UInt32(packedCount))) == checksum else {
        throw .damaged(part: part)
      }
    }
    if plain > 0, let from = bytes.baseAddress, let to = page.baseAddress { to.update(from: from, count: plain) }
    let codec = header.isPacked ? codec : .none
    // Of values that are all null, some programs pack nothing.
    if packedCount == plain, count == plain { return }
    guard
      memory.unpacker.unpack(
        UnsafeBufferPointer(rebasing: bytes[plain...]), codec,
        into: UnsafeMutableBufferPointer(rebasing: page[plain..<count]))
    else { throw malformed("a page can't be unpacked") }
  }

  private func readDictionary(_ header: ParquetPageHeader, at start: Int64) throws(ParquetError) {
    guard header.encoding == 0 || header.encoding == 2 else {
      throw .unsupported(what: "its dictionary has the encoding \(header.encoding)", column: leaf.name)
    }
    try load(header, at: start)
    let made = ParquetDictionary()
    let (first, end) = try bounds(header)
    guard try values.begin(first, end, encoding: 0, count: header.values),
      try made.fill(
        values, count: Int(header.values), form, limit: Self.dictionaryLimit, part: { "the dictionary of \(part)" })
    else { throw malformed("its dictionary has too few values") }
    try memory.hold(made.bytes)
    dictionary = made
  }

  private func bounds(_ header: ParquetPageHeader) throws(ParquetError) -> (BytePointer, BytePointer) {
    let bytes = UnsafeBufferPointer(page)
    guard let start = bytes.baseAddress else { throw malformed("a page is empty") }
    return (start, start + Int(header.unpackedBytes))
  }

  private func readValues(_ header: ParquetPageHeader, at start: Int64) throws(ParquetError) {
    var levelBytes: Int64 = 0
    if header.kind == .dataV2 {
      guard (0...header.packedBytes).contains(header.repetitionBytes),
        (0...header.packedBytes - header.repetitionBytes).contains(header.definitionBytes)
      else { throw malformed("a page's levels are longer than it") }
      levelBytes = header.definitionBytes + header.repetitionBytes
    }
    try load(header, at: start, plain: Int(levelBytes))
    var (first, end) = try bounds(header)
    if header.kind == .dataV2 {
      let (repetitionEnd, valuesStart) = (first + Int(header.repetitionBytes), first + Int(levelBytes))
      repetitionReader = .hybrid(HybridReader(first, repetitionEnd, width: LevelReader.width(leaf.repetition)))
      definitionReader = .hybrid(HybridReader(repetitionEnd, valuesStart, width: LevelReader.width(leaf.definition)))
      first = valuesStart
    } else {
      repetitionReader = try levels(leaf.repetition, header.repetitionEncoding, header.values, &first, end)
      definitionReader = try levels(leaf.definition, header.definitionEncoding, header.values, &first, end)
    }
    places = nil
    guard header.encoding == 2 || header.encoding == 8 else {
      guard try values.begin(first, end, encoding: header.encoding, count: header.values) else {
        throw malformed("a page's values can't be read")
      }
      return
    }
    guard dictionary != nil else { throw malformed("it has no dictionary") }
    guard first < end else {
      // All of them are null.
      places = HybridReader(first, first, width: 0)
      return
    }
    guard first.pointee <= 32 else { throw malformed("places in its dictionary have more than 32 bits") }
    places = HybridReader(first + 1, end, width: Int(first.pointee))
    end = first
  }

  /// The levels at the beginning of a page of the first version.
  private func levels(
    _ greatest: UInt32, _ encoding: Int64, _ values: Int64, _ first: inout BytePointer, _ end: BytePointer
  ) throws(ParquetError) -> LevelReader {
    guard greatest > 0 else { return .none }
    let width = LevelReader.width(greatest)
    let start: BytePointer
    let bytes: Int64
    switch encoding {
    case 3:
      guard end - first >= 4 else { throw malformed("a page has no levels") }
      bytes = Int64(UInt32(littleEndian: UnsafeRawPointer(first).loadUnaligned(as: UInt32.self)))
      start = first + 4
    case 4:
      guard values <= 1 << 40 else { throw malformed("a page has too few levels") }
      bytes = (values * Int64(width) + 7) / 8
      start = first
    default: throw .unsupported(what: "its levels have the encoding \(encoding)", column: leaf.name)
    }
    guard bytes <= Int64(end - start) else { throw malformed("a page's levels are longer than it") }
    first = start + Int(bytes)
    return encoding == 3
      ? .hybrid(HybridReader(start, first, width: width)) : .packed(PackedLevels(start, first, width: width))
  }
}
