/// The values of one row by slot: where a fetch has put them, until they change or somebody wants them as an array.
package struct RowValues: Sendable {
  /// The values, unless they are packed: see ``unpack()``. The others of this type's users take ``all``.
  private(set) var array: ContiguousArray<Value>
  /// Keeps `row` in memory.
  private var block: RowBlock?
  private var row: PackedRow?

  package init(_ array: ContiguousArray<Value>) { self.array = array }

  /// A row that a fetch has packed.
  init(_ block: RowBlock, _ row: PackedRow) {
    array = []
    self.block = block
    self.row = row
  }

  // MARK: Reading

  /// The value in a slot.
  @inline(__always)
  subscript(slot: Int) -> Value {
    guard let row, let block else { return array[slot] }
    return block.value(of: row, slot)
  }

  /// The integer in a slot, nil when it holds none.
  @inline(__always)
  func integer(_ slot: Int) -> Int64? {
    if let row {
      let (kind, word) = row[slot]
      return kind == .integer ? word : nil
    }
    guard case .int(let number) = array[slot] else { return nil }
    return number
  }

  /// The floating-point number in a slot, nil when it holds none.
  @inline(__always)
  func double(_ slot: Int) -> Double? {
    if let row {
      let (kind, word) = row[slot]
      return kind == .real ? Double(bitPattern: UInt64(bitPattern: word)) : nil
    }
    guard case .double(let number) = array[slot] else { return nil }
    return number
  }

  /// Whether a slot holds a value, without a call for plain values.
  @inline(__always)
  func holds(_ value: Value, in slot: Int) -> Bool {
    if let row, let block {
      if case .int(let number) = value { return row[slot] == (.integer, number) }
      return block.value(of: row, slot) == value
    }
    return array[slot].isSame(as: value)
  }

  // MARK: As an array

  /// The values as an array. Those of a fetch are copied for each call, unless ``unpack()`` has been called.
  package var all: ContiguousArray<Value> {
    @inline(__always)
    _read {
      if row == nil { yield array } else { yield unpacked() }
    }
    @inline(__always)
    _modify {
      unpack()
      yield &array
    }
  }

  /// Makes an array of the values.
  @inline(__always)
  mutating func unpack() {
    if row != nil { self = RowValues(unpacked()) }
  }

  @inline(never)
  private func unpacked() -> ContiguousArray<Value> {
    guard let row, let block else { return array }
    var values = ContiguousArray<Value>()
    values.reserveCapacity(row.slots)
    for slot in 0..<row.slots { values.append(block.value(of: row, slot)) }
    return values
  }
}

extension Value {
  /// The result of `==`, without a call for plain values.
  @inline(__always)
  fileprivate func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.int(let a), .int(let b)): return a == b
    case (.double(let a), .double(let b)): return a == b
    case (.bool(let a), .bool(let b)): return a == b
    case (.null, .null): return true
    default: return self == other
    }
  }
}
