/// The comparison of rows without objects with the store's rows of the same keys.
package struct RowMatches: Sendable {
  /// The number of the store's row for each; nil where there is none.
  package var numbers: [Int64?]
  /// Whether the store's row has the same values in the compared slots. When false, the values may still be equal but stored in
  /// another form.
  package var isSame: [Bool]

  /// No matches for `count` rows.
  package init(count: Int) {
    numbers = Array(repeating: nil, count: count)
    isSame = Array(repeating: false, count: count)
  }
}

extension NewRows {
  /// The rows in the order of their keys, which are integers or text; nil when one has none, or two have the same.
  package func order(by slot: Int) -> [Int32]? {
    guard count > 0 else { return [] }
    let kind = cell(0, slot).kind
    guard kind == .int || kind == .text, (0..<count).allSatisfy({ cell($0, slot).kind == kind }) else { return nil }
    var order = (0..<Int32(count)).map { $0 }
    if !isAscending(order, slot) {
      // The order of equal keys doesn't matter: they are detected below.
      order.sort { compare(Int($0), Int($1), slot) < 0 }
      guard isAscending(order, slot) else { return nil }
    }
    return order
  }

  private func isAscending(_ order: [Int32], _ slot: Int) -> Bool {
    order.indices.dropFirst().allSatisfy { compare(Int(order[$0 - 1]), Int(order[$0]), slot) < 0 }
  }

  /// Less than 0 when the first key comes first, compared as integers or bytes.
  private func compare(_ first: Int, _ second: Int, _ slot: Int) -> Int {
    let (a, b) = (cell(first, slot), cell(second, slot))
    guard a.kind == .text else { return a.bits < b.bits ? -1 : a.bits == b.bits ? 0 : 1 }
    let (x, y) = (bytes(of: a), bytes(of: b))
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
