/// Rows of one entity that a fetch has read one after the other, in one piece of memory.
///
/// A value takes 8 bytes and one for its kind, a third of an array's memory, and a row no allocation of its own. What doesn't
/// fit into 8 bytes, such as a string, stands in a second piece. A block lives for as long as one of its rows is used.
final class RowBlock: @unchecked Sendable {
  // Sendable: a row is written before anybody else gets it, and never again. Only the one who fills the block touches the
  // counters.
  private let layout: RowBlockLayout
  private let capacity: Int
  private let rows: UnsafeMutableRawPointer
  private let others: UnsafeMutablePointer<Value>
  private var count = 0
  private var otherCount = 0

  fileprivate init(_ layout: RowBlockLayout, capacity: Int) {
    self.layout = layout
    self.capacity = capacity
    rows = .allocate(byteCount: capacity * layout.bytesPerRow, alignment: MemoryLayout<Int64>.alignment)
    others = .allocate(capacity: capacity * layout.othersPerRow)
  }

  deinit {
    others.deinitialize(count: otherCount)
    others.deallocate()
    rows.deallocate()
  }

  fileprivate var isFull: Bool { count == capacity }

  /// The memory of one more row.
  fileprivate func add() -> PackedRow {
    let row = PackedRow(start: rows + count * layout.bytesPerRow, slots: layout.slots)
    count += 1
    return row
  }

  /// Keeps a value that doesn't fit into 8 bytes. Returns its address.
  fileprivate func add(_ value: consuming Value) -> Int64 {
    let place = others + otherCount
    place.initialize(to: value)
    otherCount += 1
    return Int64(Int(bitPattern: place))
  }

  /// A value of one of its rows.
  @inline(__always)
  func value(of row: PackedRow, _ slot: Int) -> Value {
    let (kind, word) = row[slot]
    switch kind {
    case .null: return .null
    case .unresolved: return .unresolved
    case .integer: return .int(word)
    case .real: return .double(Double(bitPattern: UInt64(bitPattern: word)))
    case .reference: return layout.object(slot, word)
    case .other: return UnsafePointer<Value>(bitPattern: Int(word))?.pointee ?? .null
    }
  }
}

/// What the rows of a block have in common.
package final class RowBlockLayout: Sendable {
  /// What a slot holds beside null.
  package enum Slot: Sendable {
    /// An integer, a floating-point number or nothing at all.
    case plain
    /// An object whose ID has this scope.
    case reference(IDScope)
    /// A value of another type.
    case other
  }

  private struct Scope: Sendable {
    // Scopes live as long as the process (see `IDScope`), so the reference needn't be counted.
    unowned(unsafe) let scope: IDScope?
  }

  fileprivate let slots: Int
  fileprivate let bytesPerRow: Int
  fileprivate let othersPerRow: Int
  private let scopes: ContiguousArray<Scope>

  package init(_ slots: [Slot]) {
    self.slots = slots.count
    bytesPerRow = PackedRow.offsetOfWords(slots.count) + slots.count * MemoryLayout<Int64>.stride
    othersPerRow = slots.count { if case .other = $0 { true } else { false } }
    scopes = ContiguousArray(
      slots.map { slot in
        if case .reference(let scope) = slot { Scope(scope: scope) } else { Scope(scope: nil) }
      })
  }

  /// The object to which a slot refers by number.
  fileprivate func object(_ slot: Int, _ number: Int64) -> Value {
    scopes[slot].scope.map { .object(ManagedObjectID(scope: $0, number: number)) } ?? .null
  }
}

/// The memory of one row in its block: the number of its slots, the kind of each value, and then a word for each.
package struct PackedRow: @unchecked Sendable {
  // Sendable: as its block.

  /// How a word is to be read.
  package enum Kind: UInt8 {
    case null, unresolved, integer
    /// The word is a double's bit pattern.
    case real
    /// The word is the number of an object, whose scope the layout has.
    case reference
    /// The word is the address of the value.
    case other
  }

  private let start: UnsafeMutableRawPointer
  private static var offsetOfKinds: Int { MemoryLayout<UInt32>.stride }

  fileprivate init(start: UnsafeMutableRawPointer, slots: Int) {
    self.start = start
    start.storeBytes(of: UInt32(slots), as: UInt32.self)
  }

  @inline(__always)
  fileprivate static func offsetOfWords(_ slots: Int) -> Int {
    let alignment = MemoryLayout<Int64>.alignment
    return (offsetOfKinds + slots + alignment - 1) & ~(alignment - 1)
  }

  /// The number of its slots.
  @inline(__always)
  var slots: Int { Int(start.load(as: UInt32.self)) }

  fileprivate var kinds: UnsafeMutablePointer<Kind> { (start + Self.offsetOfKinds).assumingMemoryBound(to: Kind.self) }
  fileprivate var words: UnsafeMutablePointer<Int64> {
    (start + Self.offsetOfWords(slots)).assumingMemoryBound(to: Int64.self)
  }

  /// The kind and the word of a slot.
  @inline(__always)
  subscript(slot: Int) -> (kind: Kind, word: Int64) {
    let slots = slots
    precondition(UInt(bitPattern: slot) < UInt(bitPattern: slots), "the entity has no slot of this number")
    return (
      start.load(fromByteOffset: Self.offsetOfKinds + slot, as: Kind.self),
      start.load(fromByteOffset: Self.offsetOfWords(slots) + slot * MemoryLayout<Int64>.stride, as: Int64.self)
    )
  }
}

/// Packs rows into blocks, one after the other. The first blocks are small, because few fetches bring many rows.
package struct RowPacker {
  private static let mostRows = 128

  private let layout: RowBlockLayout
  private var block: RowBlock
  private var capacity = 4

  package init(_ layout: RowBlockLayout) {
    self.layout = layout
    block = RowBlock(layout, capacity: capacity)
  }

  /// One more row, of which each slot has to be set before it is used.
  package mutating func next() -> PackedRowWriter {
    if block.isFull {
      capacity = min(capacity * 4, Self.mostRows)
      block = RowBlock(layout, capacity: capacity)
    }
    return PackedRowWriter(block, block.add())
  }
}

/// Sets the slots of a row that is being packed.
package struct PackedRowWriter {
  private let block: RowBlock
  private let row: PackedRow
  // Not functions, because those of another module aren't inlined for each value of each row.
  /// The kind of each slot's word.
  package let kinds: UnsafeMutablePointer<PackedRow.Kind>
  /// The word of each slot that isn't null or unresolved.
  package let words: UnsafeMutablePointer<Int64>

  fileprivate init(_ block: RowBlock, _ row: PackedRow) {
    self.block = block
    self.row = row
    kinds = row.kinds
    words = row.words
  }

  /// The row, when each slot has been set.
  package var content: RowValues { RowValues(block, row) }

  /// Sets a value of a slot that the layout calls other.
  package func set(_ slot: Int, other value: consuming Value) {
    kinds[slot] = .other
    words[slot] = block.add(value)
  }
}
