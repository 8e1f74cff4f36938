/// One value of one record: what kind it is, and where its bytes are in the batch's arena.
///
/// A cell means something only together with the batch it came from, until that batch is filled again.
@usableFromInline
package struct Cell: Sendable, Hashable {
  /// What stood in the source.
  @usableFromInline
  package enum Kind: UInt8, Sendable {
    /// The record has no such column.
    case missing
    /// JSON `null`.
    case null
    /// A CSV field with nothing in it and no quotes around it.
    case empty
    /// Text, decoded. A quoted CSV field with nothing in it is text of no bytes.
    case text
    /// A JSON number, as it was written.
    case number
    /// JSON `true`.
    case yes
    /// JSON `false`.
    case no
    /// A JSON object or array, as it was written.
    case nested
  }

  /// What stood in the source.
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
