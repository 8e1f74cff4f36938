import Foundation

extension NewRows.Cell {
  /// The cell of a value that fits into it; nil for other values.
  init?(_ value: Value) {
    switch value {
    case .null: self.init(.null, 0)
    case .int(let number): self.init(.int, number)
    case .bool(let flag): self.init(.bool, flag ? 1 : 0)
    case .double(let number): self.init(.double, Int64(bitPattern: number.bitPattern))
    case .date(let date):
      // A date between two microseconds, or beyond 285,000 years, is kept as a value.
      guard let microseconds = ISODate.microseconds(of: date), ISODate.date(microseconds: microseconds) == date else {
        return nil
      }
      self.init(.date, microseconds)
    default: return nil
    }
  }
}

extension NewRows {
  /// Sets any value in the current row.
  package func set(_ slot: Int, _ value: Value) {
    if let cell = Cell(value) { return set(slot, cell) }
    if case .string(var string) = value { return string.withUTF8 { set(slot, text: UnsafeRawBufferPointer($0)) } }
    set(slot, Cell(.other, Int64(others.count)))
    others.append(value)
  }

  /// Adds a row of these values.
  package func append(_ values: ContiguousArray<Value>) {
    beginRow()
    for (slot, value) in values.enumerated() { set(slot, value) }
    endRow()
  }

  /// The value of a cell, also in the current row.
  package func value(_ row: Int, _ slot: Int) -> Value {
    let cell = cell(row, slot)
    switch cell.kind {
    case .null: return .null
    case .int: return .int(cell.bits)
    case .bool: return .bool(cell.bits != 0)
    case .double: return .double(Double(bitPattern: UInt64(bitPattern: cell.bits)))
    case .date: return .date(ISODate.date(microseconds: cell.bits))
    case .text: return .string(String(decoding: bytes(of: cell), as: UTF8.self))
    case .reference: return scopes.isEmpty ? .null : .object(target(cell))
    case .other: return other(cell)
    }
  }

  /// The values of a row, by their slots.
  package func values(_ row: Int) -> ContiguousArray<Value> {
    ContiguousArray((0..<width).map { value(row, $0) })
  }

  /// The text of a text cell, valid as long as the rows.
  @inlinable
  package func bytes(of cell: Cell) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: text + Int(cell.bits), count: Int(cell.length))
  }

  /// The target of a reference.
  private func target(_ cell: Cell) -> ManagedObjectID {
    ManagedObjectID(scope: scopes[Int(cell.length)], number: cell.bits)
  }

  /// Sets a reference of the current row whose target isn't known yet. ``point(_:_:to:)`` sets the target before the rows are
  /// inserted.
  package func setReference(_ slot: Int) { set(slot, Cell(.reference, 0)) }

  /// Sets the target of a row's reference, by a permanent ID.
  package func point(_ row: Int, _ slot: Int, to id: ManagedObjectID) {
    precondition(row >= 0 && row < count && slot >= 0 && slot < width && !id.isTemporaryID)
    var place = scopes.count - 1
    while place >= 0, scopes[place] !== id.scope { place -= 1 }
    if place < 0 {
      scopes.append(id.scope)
      place = scopes.count - 1
    }
    cells[row * width + slot] = Cell(.reference, id.number, length: UInt32(place))
  }

  /// Whether any row refers to another object.
  var hasReferences: Bool { !scopes.isEmpty }

  /// The value of a cell that holds neither a number nor text.
  package func other(_ cell: Cell) -> Value { others[Int(cell.bits)] }
}
