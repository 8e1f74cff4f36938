import ManagedObjects

extension ValueConverter {
  /// Converts a cell into one of the row that was begun.
  /// - Parameter keepsNull: whether null stands for what the row has already.
  @inline(__always)
  func convert(
    _ cell: Cell, _ bytes: UnsafeRawBufferPointer, into rows: NewRows, _ slot: Int, keepsNull: Bool
  ) throws(ConversionCode) {
    switch cell.kind {
    case .text: try convert(text: bytes, into: rows, slot, keepsNull: keepsNull)
    case .missing: break
    case .empty, .null: if !keepsNull { rows.setNull(slot) }
    case .number: set(try convert(number: bytes), in: rows, slot, keepsNull: keepsNull)
    case .yes: set(try convert(bool: true), in: rows, slot, keepsNull: keepsNull)
    case .no: set(try convert(bool: false), in: rows, slot, keepsNull: keepsNull)
    case .nested: set(try convert(nested: bytes), in: rows, slot, keepsNull: keepsNull)
    }
  }

  @inline(__always)
  private func set(_ value: Value, in rows: NewRows, _ slot: Int, keepsNull: Bool) {
    if keepsNull, value.isNull { return }
    rows.set(slot, value)
  }

  /// As ``convert(text:)``, without a value where the cell can take what the text says.
  @inline(__always)
  private func convert(
    text: UnsafeRawBufferPointer, into rows: NewRows, _ slot: Int, keepsNull: Bool
  ) throws(ConversionCode) {
    if kind == .string {
      if !text.isEmpty || !emptyStringIsNull { rows.set(slot, text: text) } else if !keepsNull { rows.setNull(slot) }
      return
    }
    let trimmed = Self.trimmed(text)
    if trimmed.isEmpty, kind != .ruled {
      if !keepsNull { rows.setNull(slot) }
      return
    }
    switch kind {
    case .integer: rows.set(slot, int: try integer(trimmed))
    case .double: rows.set(slot, double: try DecimalNotation(trimmed).double(trimmed))
    case .boolean: rows.set(slot, bool: try boolean(trimmed))
    case .isoDate:
      rows.set(slot, microseconds: try isoMicroseconds(trimmed))
    default: set(try convert(text: text), in: rows, slot, keepsNull: keepsNull)
    }
  }
}
