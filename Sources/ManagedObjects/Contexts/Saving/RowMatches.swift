/// The comparison of rows without objects with the store's rows of the same keys.
package struct RowMatches: Sendable {
  /// The number of the store's row for each; nil where there is none.
  package var numbers: [Int64?]
  /// Whether the store's row has the same values in the compared slots. When false, the values may still be equal but stored in
  /// another form.
  package var isSame: [Bool]

  /// Whether the store has no row of the same key.
  package var isEmpty: Bool { numbers.allSatisfy { $0 == nil } }

  /// Whether the store has a row of each key, with the same values in the compared slots.
  package var areAllSame: Bool { isSame.allSatisfy(\.self) && numbers.allSatisfy { $0 != nil } }

  /// No matches for `count` rows.
  package init(count: Int) {
    numbers = Array(repeating: nil, count: count)
    isSame = Array(repeating: false, count: count)
  }
}

extension NewRows {
  /// The rows in the order of their keys, which are numbers, text, dates or UUIDs in each slot. A row with an incomplete key
  /// isn't among them: it matches nothing. nil when a key has a value of another type, or two rows have the same.
  package func order(by slots: [Int]) -> [Int32]? {
    var kinds: [Cell.Kind?] = Array(repeating: nil, count: slots.count)
    var order: [Int32] = []
    order.reserveCapacity(count)
    for row in 0..<count {
      var isComplete = true
      for place in slots.indices {
        let cell = cell(row, slots[place])
        if cell.kind == .null {
          isComplete = false
        } else if kinds[place] == nil {
          kinds[place] = cell.kind
        }
        guard cell.kind == .null || cell.kind == kinds[place], isOrdered(cell) else { return nil }
      }
      if isComplete { order.append(Int32(row)) }
    }
    if !isAscending(order, slots) {
      // The order of equal keys doesn't matter: they are detected below.
      order.sort { compare(Int($0), Int($1), slots) < 0 }
      guard isAscending(order, slots) else { return nil }
    }
    return order
  }

  private func isOrdered(_ cell: Cell) -> Bool {
    switch cell.kind {
    case .null, .int, .bool, .double, .date, .text: return true
    case .reference: return false
    case .other: if case .uuid = other(cell) { return true } else { return false }
    }
  }

  private func isAscending(_ order: [Int32], _ slots: [Int]) -> Bool {
    order.indices.dropFirst().allSatisfy { compare(Int(order[$0 - 1]), Int(order[$0]), slots) < 0 }
  }

  /// Less than 0 when the first key comes first.
  private func compare(_ first: Int, _ second: Int, _ slots: [Int]) -> Int {
    for slot in slots {
      let order = compare(cell(first, slot), cell(second, slot))
      if order != 0 { return order }
    }
    return 0
  }

  /// Compares as numbers or bytes.
  private func compare(_ a: Cell, _ b: Cell) -> Int {
    switch a.kind {
    case .text: return compare(bytes(of: a), bytes(of: b))
    case .double:
      let (x, y) = (Double(bitPattern: UInt64(bitPattern: a.bits)), Double(bitPattern: UInt64(bitPattern: b.bits)))
      return x < y ? -1 : x == y ? 0 : 1
    case .other:
      guard case .uuid(let x) = other(a), case .uuid(let y) = other(b) else { return 0 }
      return withUnsafeBytes(of: x.uuid) { x in withUnsafeBytes(of: y.uuid) { y in compare(x, y) } }
    case .null, .int, .bool, .date, .reference: return a.bits < b.bits ? -1 : a.bits == b.bits ? 0 : 1
    }
  }

  private func compare(_ x: UnsafeRawBufferPointer, _ y: UnsafeRawBufferPointer) -> Int {
    for place in 0..<min(x.count, y.count) where x[place] != y[place] { return x[place] < y[place] ? -1 : 1 }
    return x.count - y.count
  }

  /// Some of the rows, in that order.
  package func selecting(_ rows: [Int], of coordinator: PersistentStoreCoordinator) -> NewRows {
    let selected = NewRows(
      entity, of: coordinator, capacity: rows.count, textCapacity: textCount / max(count, 1) * rows.count,
      initial: ContiguousArray(repeating: .null, count: width))
    selected.scopes = scopes
    for row in rows {
      selected.beginRow()
      for slot in 0..<width {
        let cell = cell(row, slot)
        switch cell.kind {
        case .null, .int, .bool, .double, .date, .reference: selected.set(slot, cell)
        case .text: selected.set(slot, text: bytes(of: cell))
        case .other: selected.set(slot, other(cell))
        }
      }
      selected.endRow()
    }
    return selected
  }
}
