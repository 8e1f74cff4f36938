// The flat memory of a batch: bytes, cells and records, each one block that grows by doubling and is kept.
// Accessed through a pointer: the scanning loops pay for neither reference counts nor exclusivity checks.
//
// For each record, its source bytes stand contiguously in the arena, with decoded texts (doubled quotes, JSON escapes)
// after them; its cells stand contiguously in column order. An unfinished record has its cells at the end,
// and counts only after `finish`.

@usableFromInline
struct BatchStorage {
  /// A record's place in the source and in this memory.
  @usableFromInline
  struct Record {
    @usableFromInline var line: Int64
    @usableFromInline var byteOffset: Int64
    @usableFromInline var byteLength: Int64
    @usableFromInline var arenaOffset: UInt32
    @usableFromInline var arenaLength: UInt32
    @usableFromInline var firstCell: UInt32
    @usableFromInline var cellCount: UInt32
  }

  @usableFromInline var arena: UnsafeMutablePointer<UInt8>
  @usableFromInline var arenaCount = 0
  @usableFromInline var cells: UnsafeMutablePointer<Cell>
  @usableFromInline var records: UnsafeMutablePointer<Record>
  @usableFromInline var count = 0
  var cellCount = 0
  private(set) var cellCapacity: Int
  private var arenaCapacity: Int
  private var recordCapacity: Int

  /// A batch with more than this takes no further record.
  static let arenaLimit = 4 << 20
  static let cellLimit = 1 << 19

  init() {
    arenaCapacity = 1 << 16
    cellCapacity = 1 << 10
    recordCapacity = 1 << 8
    arena = .allocate(capacity: arenaCapacity)
    cells = .allocate(capacity: cellCapacity)
    records = .allocate(capacity: recordCapacity)
  }

  func deallocate() {
    arena.deallocate()
    cells.deallocate()
    records.deallocate()
  }

  /// Forgets everything; keeps the memory, unless a record of unusual length had made it large.
  mutating func removeAll() {
    arenaCount = 0
    cellCount = 0
    count = 0
    if arenaCapacity > 2 * Self.arenaLimit {
      arena.deallocate()
      arenaCapacity = Self.arenaLimit
      arena = .allocate(capacity: arenaCapacity)
    }
  }

  /// Whether the batch takes no further record.
  var isFull: Bool { arenaCount >= Self.arenaLimit || cellCount >= Self.cellLimit }

  @inline(__always)
  mutating func append(_ cell: Cell) {
    if cellCount == cellCapacity { growCells(to: cellCount + 1) }
    cells[cellCount] = cell
    cellCount &+= 1
  }

  mutating func appendMissing(_ number: Int) {
    growCells(to: cellCount + number)
    (cells + cellCount).initialize(repeating: .missing, count: number)
    cellCount += number
  }

  /// Adds the record: its source bytes, and the cells from `firstCell` on.
  mutating func finish(
    bytes: BytePointer, kept: Int, line: Int64, byteOffset: Int64, byteLength: Int, firstCell: Int
  ) {
    if arenaCapacity - arenaCount < kept { growArena(to: arenaCount + kept) }
    (arena + arenaCount).update(from: bytes, count: kept)
    if count == recordCapacity { growRecords() }
    records[count] = Record(
      line: line, byteOffset: byteOffset, byteLength: Int64(byteLength),
      arenaOffset: UInt32(truncatingIfNeeded: arenaCount), arenaLength: UInt32(truncatingIfNeeded: kept),
      firstCell: UInt32(truncatingIfNeeded: firstCell), cellCount: UInt32(truncatingIfNeeded: cellCount - firstCell))
    count &+= 1
    arenaCount &+= kept
  }

  /// Replaces the text of a cell by its decoded form. `decode` gets the text and the target, and returns
  /// the number of bytes written, which is never more than the text has.
  mutating func decode(cell index: Int, _ decode: (UnsafeBufferPointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Int) {
    let cell = cells[index]
    let length = Int(cell.length)
    if arenaCapacity - arenaCount < length { growArena(to: arenaCount + length) }
    let text = UnsafeBufferPointer(start: BytePointer(arena) + Int(cell.offset), count: length)
    let written = decode(text, arena + arenaCount)
    cells[index].offset = UInt32(truncatingIfNeeded: arenaCount)
    cells[index].length = UInt32(truncatingIfNeeded: written)
    arenaCount += written
  }

  /// Gives a cell a text that isn't part of its record's bytes.
  mutating func replace(cell index: Int, by text: [UInt8]) {
    if arenaCapacity - arenaCount < text.count { growArena(to: arenaCount + text.count) }
    text.withUnsafeBufferPointer { bytes in
      if let base = bytes.baseAddress { (arena + arenaCount).update(from: base, count: bytes.count) }
    }
    cells[index].offset = UInt32(truncatingIfNeeded: arenaCount)
    cells[index].length = UInt32(truncatingIfNeeded: text.count)
    arenaCount += text.count
  }

  @inline(never)
  mutating func growCells(to wanted: Int) {
    guard wanted > cellCapacity else { return }
    let capacity = max(wanted, cellCapacity * 2)
    cells = Self.moved(cells, count: cellCount, capacity: capacity)
    cellCapacity = capacity
  }

  @inline(never)
  private mutating func growArena(to wanted: Int) {
    let capacity = max(wanted, arenaCapacity * 2)
    arena = Self.moved(arena, count: arenaCount, capacity: capacity)
    arenaCapacity = capacity
  }

  @inline(never)
  private mutating func growRecords() {
    records = Self.moved(records, count: count, capacity: recordCapacity * 2)
    recordCapacity *= 2
  }

  private static func moved<T>(_ old: UnsafeMutablePointer<T>, count: Int, capacity: Int) -> UnsafeMutablePointer<T> {
    let new = UnsafeMutablePointer<T>.allocate(capacity: capacity)
    new.moveInitialize(from: old, count: count)
    old.deallocate()
    return new
  }
}

/// One value of one record: its kind, and the place of its bytes in the batch's arena.
///
/// A cell is valid only with its batch, and until that batch is filled again.
@usableFromInline
package struct Cell: Sendable, Hashable {
  /// The kind of value in the source.
  @usableFromInline
  package enum Kind: UInt8, Sendable {
    /// The record has no such column.
    case missing
    /// JSON `null`.
    case null
    /// An empty CSV field without quotes.
    case empty
    /// Text, decoded. An empty quoted CSV field is text of zero bytes.
    case text
    /// A JSON number, as it was written.
    case number
    /// JSON `true`.
    case yes
    /// JSON `false`.
    case no
    /// A JSON object or array, as it was written.
    case nested
    /// A number of a spreadsheet, as it was written: like `number`, but no date.
    case quantity
    /// A date or time of a spreadsheet, in ISO 8601 without a zone.
    case date
    /// What a spreadsheet has in place of a value: an error such as `#N/A`, or a formula that wasn't computed, with its `=`.
    case fault
  }

  /// The kind of value in the source.
  @usableFromInline package var kind: Kind
  /// First byte in the arena.
  @usableFromInline package var offset: UInt32
  /// Bytes in the arena.
  @usableFromInline package var length: UInt32

  /// A cell of these parts.
  @inlinable
  package init(kind: Kind, offset: UInt32, length: UInt32) {
    self.kind = kind
    self.offset = offset
    self.length = length
  }

  /// The value of a column that the record doesn't have.
  @inlinable
  package static var missing: Cell { Cell(kind: .missing, offset: 0, length: 0) }
}
