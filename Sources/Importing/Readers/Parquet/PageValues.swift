/// The values of a page that aren't null, one after another, each in the bytes that `PLAIN` has for it. The page's bytes
/// belong to the caller.
final class PageValues {
  private enum Mode {
    /// Values of one width, or with their lengths, or of one bit.
    case plain, lengths, bits
    case hybridBits(HybridReader)
    case delta(DeltaReader)
    case deltaLengths(DeltaReader)
    /// Each begins with bytes of the one before: how many, and the lengths of what follows.
    case deltaBytes(prefixes: DeltaReader, suffixes: DeltaReader)
    /// The first bytes of all values, then the second ones: this many values.
    case split(Int)
    case none
  }

  private let leaf: ParquetLeaf
  private let isNarrow: Bool
  private var mode = Mode.none
  private var place: BytePointer
  private var end: BytePointer
  private var index = 0
  private let slot: UnsafeMutablePointer<UInt8>
  /// The last value of `deltaBytes`.
  private var last: [UInt8] = []

  init(_ leaf: ParquetLeaf) {
    self.leaf = leaf
    isNarrow = leaf.physical == .int32
    // Also for the decoded bits of a truth value, and for a number.
    slot = .allocate(capacity: max(8, leaf.width))
    (place, end) = (BytePointer(slot), BytePointer(slot))
  }

  deinit { slot.deallocate() }

  /// Begins with a page's values, `count` at most.
  /// - Throws: ``ParquetError/unsupported(what:column:)`` for an encoding that isn't one of the type's.
  /// - Returns: false if the bytes can't be such values.
  func begin(_ start: BytePointer, _ end: BytePointer, encoding: Int64, count: Int64) throws(ParquetError) -> Bool {
    (place, self.end, index) = (start, end, 0)
    let isWhole = leaf.physical == .int32 || leaf.physical == .int64
    switch (encoding, leaf.physical) {
    case (0, .boolean): mode = .bits
    case (0, .bytes): mode = .lengths
    case (0, _): mode = .plain
    case (3, .boolean):
      guard let length = length(), length <= end - place else { return false }
      mode = .hybridBits(HybridReader(place, place + length, width: 1))
    case (5, _) where isWhole:
      guard let reader = DeltaReader(start, end, isNarrow: isNarrow), reader.left <= count else { return false }
      mode = .delta(reader)
    case (6, .bytes):
      guard let lengths = lengths(at: start, count) else { return false }
      mode = .deltaLengths(lengths)
    case (7, .bytes), (7, .fixed):
      guard let prefixes = DeltaReader(start, end, isNarrow: true), prefixes.left <= count,
        let rest = Self.end(of: prefixes),
        let suffixes = lengths(at: rest, count), suffixes.left == prefixes.left
      else { return false }
      last.removeAll(keepingCapacity: true)
      mode = .deltaBytes(prefixes: prefixes, suffixes: suffixes)
    case (9, _) where leaf.width > 0 && leaf.physical != .boolean && leaf.physical != .int96:
      guard (end - start) % leaf.width == 0 else { return false }
      mode = .split((end - start) / leaf.width)
    default:
      let names: [Int64: String] = [
        2: "a dictionary", 3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY",
        7: "DELTA_BYTE_ARRAY", 8: "a dictionary", 9: "BYTE_STREAM_SPLIT",
      ]
      throw .unsupported(
        what:
          "its values are encoded by \(names[encoding] ?? "the unknown encoding \(encoding)"), which its type doesn't have",
        column: leaf.name)
    }
    return true
  }

  /// The next value, until the one after it is asked for; nil if there is none.
  @inline(__always)
  func next() -> UnsafeBufferPointer<UInt8>? {
    switch mode {
    case .plain: return take(leaf.width)
    case .lengths:
      guard let length = length() else { return nil }
      return take(length)
    default: return nextOther()
    }
  }

  @inline(never)
  private func nextOther() -> UnsafeBufferPointer<UInt8>? {
    switch mode {
    case .bits:
      guard index < (end - place) * 8 else { return nil }
      slot[0] = place[index >> 3] >> UInt8(index & 7) & 1
      index += 1
      return UnsafeBufferPointer(start: slot, count: 1)
    case .hybridBits(var reader):
      var bit: UInt32 = 0
      guard reader.read(1, to: &bit) else { return nil }
      mode = .hybridBits(reader)
      slot[0] = UInt8(truncatingIfNeeded: bit)
      return UnsafeBufferPointer(start: slot, count: 1)
    case .delta(var reader):
      guard let number = reader.read() else { return nil }
      mode = .delta(reader)
      UnsafeMutableRawPointer(slot).storeBytes(of: number.littleEndian, as: Int64.self)
      return UnsafeBufferPointer(start: slot, count: isNarrow ? 4 : 8)
    case .deltaLengths(var reader):
      guard let length = reader.read() else { return nil }
      mode = .deltaLengths(reader)
      return take(Int(length))
    case .deltaBytes(var prefixes, var suffixes):
      guard let prefix = prefixes.read(), let suffix = suffixes.read(), prefix >= 0, prefix <= last.count,
        let rest = take(Int(suffix))
      else { return nil }
      mode = .deltaBytes(prefixes: prefixes, suffixes: suffixes)
      last.removeLast(last.count - Int(prefix))
      last.append(contentsOf: rest)
      guard leaf.width == 0 || last.count == leaf.width else { return nil }
      return last.withUnsafeBufferPointer { $0 }
    case .split(let count):
      guard index < count else { return nil }
      for byte in 0..<leaf.width { slot[byte] = place[byte * count + index] }
      index += 1
      return UnsafeBufferPointer(start: slot, count: leaf.width)
    case .plain, .lengths, .none: return nil
    }
  }

  @inline(__always)
  private func take(_ count: Int) -> UnsafeBufferPointer<UInt8>? {
    guard count >= 0, count <= end - place else { return nil }
    let bytes = UnsafeBufferPointer(start: place, count: count)
    place += count
    return bytes
  }

  /// The length in the next four bytes.
  @inline(__always)
  private func length() -> Int? {
    guard end - place >= 4 else { return nil }
    let length = UInt32(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt32.self))
    place += 4
    return Int(length)
  }

  /// The lengths that stand at a place; the bytes behind them are then the next.
  private func lengths(at start: BytePointer, _ count: Int64) -> DeltaReader? {
    guard let reader = DeltaReader(start, end, isNarrow: true), reader.left <= count,
      let behind = Self.end(of: reader)
    else { return nil }
    place = behind
    return reader
  }

  /// Where numbers end; nil if they don't.
  private static func end(of reader: DeltaReader) -> BytePointer? {
    var reader = reader
    while reader.left > 0 {
      guard reader.read() != nil else { return nil }
    }
    return reader.place
  }
}

/// The values of a dictionary page, as texts.
final class ParquetDictionary {
  private(set) var count = 0
  private let text = TextBuffer(capacity: 1 << 10)
  private var kinds: [Cell.Kind] = []
  private var ends: [Int] = [0]

  /// The bytes that it takes.
  var bytes: Int { text.count + count * 9 }

  @inline(__always)
  func entry(_ index: Int) -> (kind: Cell.Kind, bytes: UnsafeBufferPointer<UInt8>) {
    let start = ends[index]
    return (kinds[index], UnsafeBufferPointer(start: text.start + start, count: ends[index + 1] - start))
  }

  /// Takes the values of a page.
  /// - Returns: false if there aren't as many.
  /// - Throws: ``ParquetError/tooLarge(part:bytes:limit:)`` if their texts are longer than a limit.
  func fill(
    _ values: PageValues, count: Int, _ form: ParquetText, limit: Int, part: () -> String
  ) throws(ParquetError) -> Bool {
    kinds.reserveCapacity(min(count, 1 << 16))
    for _ in 0..<count {
      guard let value = values.next() else { return false }
      let kind = form.append(value, to: text)
      kinds.append(kind)
      ends.append(text.count)
      self.count += 1
      guard bytes <= limit else { throw .tooLarge(part: part(), bytes: Int64(bytes), limit: Int64(limit)) }
    }
    return true
  }
}
