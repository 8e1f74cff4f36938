/// Parses one object in memory into the cells of a record.
///
/// From `{"id":7,"note":"a\nb","tags":["x"]}` come three cells: a number and a nested value that lie in the record's
/// own bytes, and a text that is decoded behind them once those are in the batch.
struct JSONObjectParser {
  private(set) var keys: KeyTable
  /// Columns whose text had escapes, and for each whether it still has: another value may have replaced it.
  private var escapedColumns: [Int] = []
  private var isEscaped: [Bool] = []
  /// The state of the record parsed last.
  private var firstCell = 0
  private var scratch: [UInt8] = []

  init(columns: [String]) { keys = KeyTable(names: columns) }

  /// The column of a name, which is added if no record has shown it yet.
  mutating func addColumn(_ name: String) throws(ReaderError) -> Int {
    var name = name
    let column = name.withUTF8 { keys.column(of: $0, expected: 0) }
    guard let column else { throw .tooManyColumns(limit: ReaderOptions.maximumColumns) }
    return column
  }

  /// Parses the object that begins at `start`, which is `depth` levels deep, and appends its cells. When the end
  /// isn't reached, the caller must remove the cells.
  /// - Parameter record: the first of the record's bytes, at `start` or before.
  mutating func parse(
    from start: BytePointer, of record: BytePointer, to end: BytePointer, final: Bool, depth: Int,
    into storage: UnsafeMutablePointer<BatchStorage>
  ) -> JSONScan {
    firstCell = storage.pointee.cellCount
    storage.pointee.appendMissing(keys.names.count)
    for column in escapedColumns { isEscaped[column] = false }
    escapedColumns.removeAll(keepingCapacity: true)
    let arenaStart = storage.pointee.arenaCount
    var expected = 0
    var place = JSONToken.skipSpace(start + 1, end)
    guard place < end else { return .more(place) }
    if place.pointee == UInt8(ascii: "}") { return .end(place + 1) }
    while true {
      guard place.pointee == JSONToken.quote else {
        return .mistake(place.pointee == UInt8(ascii: "}") ? .trailingComma : .expectedKey, at: place)
      }
      let key = place
      var escaped = false
      switch JSONToken.string(place + 1, end, escaped: &escaped) {
      case .end(let next): place = next
      case let other: return other
      }
      guard let column = column(of: key + 1, length: place - key - 2, escaped: escaped, expected: expected) else {
        return .mistake(.tooManyKeys, at: key)
      }
      expected = column + 1
      let cell = firstCell + column
      if cell >= storage.pointee.cellCount {
        storage.pointee.appendMissing(cell + 1 - storage.pointee.cellCount)
      }
      place = JSONToken.skipSpace(place, end)
      guard place < end else { return .more(place) }
      guard place.pointee == UInt8(ascii: ":") else { return .mistake(.expectedColon, at: place) }
      place = JSONToken.skipSpace(place + 1, end)
      guard place < end else { return .more(place) }

      let value = place
      let byte = value.pointee
      var kind = Cell.Kind.nested
      var scan: JSONScan
      escaped = false
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        var walker = JSONWalker(depth: depth + 1)
        scan = walker.walk(from: value, to: end, final: final)
      } else {
        (kind, scan) = JSONToken.scalar(value, end, final: final, escaped: &escaped)
      }
      guard case .end(let next) = scan else { return scan }
      place = next
      let quotes = kind == .text ? 1 : 0
      storage.pointee.cells[cell] = Cell(
        kind: kind, offset: UInt32(truncatingIfNeeded: arenaStart + (value - record) + quotes),
        length: UInt32(truncatingIfNeeded: place - value - 2 * quotes))
      if escaped, kind == .text {
        noteEscapes(in: column)
      } else if !escapedColumns.isEmpty, column < isEscaped.count {
        // The last of two equal keys wins.
        isEscaped[column] = false
      }

      place = JSONToken.skipSpace(place, end)
      guard place < end else { return .more(place) }
      if place.pointee == UInt8(ascii: "}") { return .end(place + 1) }
      guard place.pointee == UInt8(ascii: ",") else { return .mistake(.expectedComma, at: place) }
      place = JSONToken.skipSpace(place + 1, end)
      guard place < end else { return .more(place) }
    }
  }

  /// Decodes the texts with escapes, once the record's bytes are in the batch.
  mutating func decodeTexts(in storage: UnsafeMutablePointer<BatchStorage>) {
    for column in escapedColumns where isEscaped[column] {
      isEscaped[column] = false
      storage.pointee.decode(cell: firstCell + column, JSONString.unescape)
    }
    escapedColumns.removeAll(keepingCapacity: true)
  }

  /// Puts the key under which the last record stands in an object into a column, once the record's bytes, which begin
  /// with that key, are in the batch and its texts are decoded.
  /// - Parameter length: the bytes between the key's quotes.
  /// - Returns: false if the record itself has another value there, which it keeps.
  func take(keyOf length: Int, into column: Int, in storage: UnsafeMutablePointer<BatchStorage>) -> Bool {
    if hasReasonOnly(storage) { return true }
    let index = firstCell + column
    let own = storage.pointee.cells[index]
    let record = storage.pointee.records[storage.pointee.count - 1]
    storage.pointee.cells[index] = Cell(
      kind: .text, offset: record.arenaOffset + 1, length: UInt32(truncatingIfNeeded: length))
    if bytes(of: index, in: storage).contains(JSONToken.backslash) {
      storage.pointee.decode(cell: index, JSONString.unescape)
    }
    if own.kind == .missing || own.kind == .null { return true }
    let key = Array(bytes(of: index, in: storage))
    storage.pointee.cells[index] = own
    return own.kind != .nested && bytes(of: index, in: storage).elementsEqual(key)
  }

  private func bytes(
    of cell: Int, in storage: UnsafeMutablePointer<BatchStorage>
  ) -> UnsafeBufferPointer<UInt8> {
    let cell = storage.pointee.cells[cell]
    return UnsafeBufferPointer(start: storage.pointee.arena + Int(cell.offset), count: Int(cell.length))
  }

  /// Whether a record of a reject file has nothing but the reason: it isn't an object that has a key.
  private func hasReasonOnly(_ storage: UnsafeMutablePointer<BatchStorage>) -> Bool {
    var only: Int?
    for column in 0..<(storage.pointee.cellCount - firstCell)
    where storage.pointee.cells[firstCell + column].kind != .missing {
      if only != nil { return false }
      only = column
    }
    guard let only, keys.names[only] == RejectReason.member else { return false }
    return storage.pointee.cells[firstCell + only].kind == .nested
  }

  private mutating func noteEscapes(in column: Int) {
    while isEscaped.count <= column { isEscaped.append(false) }
    if isEscaped[column] { return }
    isEscaped[column] = true
    escapedColumns.append(column)
  }

  private mutating func column(of key: BytePointer, length: Int, escaped: Bool, expected: Int) -> Int? {
    guard escaped else {
      return keys.column(of: UnsafeBufferPointer(start: key, count: length), expected: expected)
    }
    let text = UnsafeBufferPointer(start: key, count: length)
    scratch = Array(unsafeUninitializedCapacity: length) { buffer, count in
      count = buffer.baseAddress.map { JSONString.unescape(text, to: $0) } ?? 0
    }
    return scratch.withUnsafeBufferPointer { keys.column(of: $0, expected: expected) }
  }
}

/// The column of every key seen so far. Keys are looked up by their bytes, without creating a `String`.
///
/// Hashed with the process's random seed, and bounded, so that a file can't choose keys that make it slow or large.
struct KeyTable {
  private(set) var names: [String] = []
  private var text: [UInt8] = []
  /// Where each column's name begins in `text`, and where the last one ends.
  private var starts: [Int] = [0]
  /// Open addressing: column + 1, or 0. At least twice as many slots as columns.
  private var slots = [Int32](repeating: 0, count: 64)

  init(names: [String]) {
    for name in names {
      var name = name
      name.withUTF8 { _ = column(of: $0, expected: 0) }
    }
  }

  /// The column of a key, which is added if it is new; nil if there are too many.
  ///
  /// - Parameter expected: the probable column, since most records have their keys in the same order.
  mutating func column(of key: UnsafeBufferPointer<UInt8>, expected: Int) -> Int? {
    if expected < names.count, matches(expected, key) { return expected }
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(key))
    let hash = hasher.finalize()
    var slot = hash & (slots.count - 1)
    while slots[slot] != 0 {
      let column = Int(slots[slot]) - 1
      if matches(column, key) { return column }
      slot = (slot + 1) & (slots.count - 1)
    }
    guard names.count < ReaderOptions.maximumColumns, text.count + key.count <= ReaderOptions.maximumColumnText else {
      return nil
    }
    names.append(String(decoding: key, as: UTF8.self))
    text.append(contentsOf: key)
    starts.append(text.count)
    slots[slot] = Int32(names.count)
    if names.count * 2 > slots.count { grow() }
    return names.count - 1
  }

  @inline(__always)
  private func matches(_ column: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = starts[column]
    guard starts[column + 1] - start == key.count else { return false }
    return text.withUnsafeBufferPointer { bytes in
      for index in 0..<key.count where bytes[start &+ index] != key[index] { return false }
      return true
    }
  }

  private mutating func grow() {
    slots = [Int32](repeating: 0, count: slots.count * 2)
    for column in names.indices {
      var hasher = Hasher()
      text.withUnsafeBytes { hasher.combine(bytes: .init(rebasing: $0[starts[column]..<starts[column + 1]])) }
      var slot = hasher.finalize() & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(column + 1)
    }
  }
}
