// Rows on their way from a reader to a store, in flat memory: an array of values for each, with a string on the heap for each
// text, cost more to count, to make and to let go of on two threads than SQLite takes to write them.
//   1. Filled by one thread at a time, which gives them away; constant from the save on.
//   2. A row is `beginRow()`, what is set in it, and `endRow()`. Without that it never was.
//   3. Cells are only read at places that the class has checked, or in a store's loop over `count` rows and known slots.

/// Rows of one entity that a save inserts without an object for each: for an import, in whose context nobody looks at its
/// objects. Made on any thread.
///
/// The values were checked against the model, and refer to no new object.
package final class NewRows: @unchecked Sendable {
  // Sendable: rule 1.

  /// A value: as it is, or where it is.
  @frozen @usableFromInline
  package struct Cell {
    /// What it holds.
    @usableFromInline
    package enum Kind: UInt8 {
      case null
      /// An integer, or 0 and 1.
      case int, bool
      /// A double's bit pattern.
      case double
      /// Microseconds since 1970.
      case date
      /// Where UTF-8 begins in the text.
      case text
      /// The number of the row that a to-one relationship points to.
      case reference
      /// The place of any other value in the list of these.
      case other
    }

    @usableFromInline package var kind: Kind
    /// How many bytes of text; of a reference, the place of its ID's scope.
    @usableFromInline package var length: UInt32
    @usableFromInline package var bits: Int64

    @inlinable
    init(_ kind: Kind, _ bits: Int64, length: UInt32 = 0) {
      self.kind = kind
      self.length = length
      self.bits = bits
    }

  }

  /// The entity of all of them.
  package let entity: EntityDescription
  // Touched for each cell, by one thread, so that accesses never overlap: they go unchecked.
  /// How many there are.
  @exclusivity(unchecked) @usableFromInline package internal(set) var count = 0
  /// How many slots each has.
  @usableFromInline let width: Int
  @exclusivity(unchecked) @usableFromInline var cells: UnsafeMutablePointer<Cell>
  @exclusivity(unchecked) @usableFromInline var capacity: Int
  /// The text of the cells, one after the other.
  @exclusivity(unchecked) @usableFromInline package internal(set) var text: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var textCount = 0
  @exclusivity(unchecked) @usableFromInline var textCapacity: Int
  /// Values that are neither numbers nor text.
  var others: [Value] = []
  /// What the IDs have in common that references lead to.
  @exclusivity(unchecked) var scopes: [IDScope] = []
  /// A row as it begins; its text and its other values lie before those of any row.
  private let initial: UnsafeMutablePointer<Cell>
  /// The IDs of the rows until they are saved: of this scope, down from below this number.
  private let scope: IDScope
  private let temporary: Int64

  /// No rows yet, and room for some.
  ///
  /// - Parameters:
  ///   - coordinator: whose objects they will be.
  ///   - capacity: how many rows there will be at most.
  ///   - textCapacity: how many bytes of text may be expected.
  ///   - initial: what a row holds where nothing is set.
  package init(
    _ entity: EntityDescription, of coordinator: PersistentStoreCoordinator, capacity: Int, textCapacity: Int,
    initial values: ContiguousArray<Value>
  ) {
    self.entity = entity
    width = values.count
    self.capacity = capacity
    self.textCapacity = max(textCapacity, 64)
    cells = .allocate(capacity: max(capacity * width, 1))
    text = .allocate(byteCount: self.textCapacity, alignment: 1)
    initial = .allocate(capacity: max(width, 1))
    scope = coordinator.temporaryScope(of: entity)
    temporary = ManagedObjectContext.temporaryNumbers(capacity)
    var (textCount, others) = (0, [Value]())
    for (slot, value) in values.enumerated() {
      // The text of defaults is short, and what doesn't fit may be kept as a value.
      if case .string(let string) = value, textCount + string.utf8.count <= self.textCapacity {
        let length = string.utf8.count
        (text + textCount).copyMemory(from: Array(string.utf8), byteCount: length)
        initial[slot] = Cell(.text, Int64(textCount), length: UInt32(length))
        textCount += length
      } else if let cell = Cell(value) {
        initial[slot] = cell
      } else {
        initial[slot] = Cell(.other, Int64(others.count))
        others.append(value)
      }
    }
    self.textCount = textCount
    self.others = others
  }

  deinit {
    cells.deallocate()
    text.deallocate()
    initial.deallocate()
  }

  // MARK: Filling

  /// Begins a row, with the values that it has where nothing is set.
  package func beginRow() {
    precondition(count < capacity, "There is no room for another row")
    (cells + count &* width).update(from: initial, count: width)
  }

  /// Ends the row: it is one now.
  @inlinable package func endRow() { count &+= 1 }

  /// Sets a cell of the row that was begun.
  @inlinable
  func set(_ slot: Int, _ cell: Cell) {
    precondition(slot >= 0 && slot < width && count < capacity)
    cells[count &* width &+ slot] = cell
  }

  /// Sets null.
  @inlinable package func setNull(_ slot: Int) { set(slot, Cell(.null, 0)) }
  /// Sets an integer.
  @inlinable package func set(_ slot: Int, int: Int64) { set(slot, Cell(.int, int)) }
  /// Sets a double or a float.
  @inlinable package func set(_ slot: Int, double: Double) {
    set(slot, Cell(.double, Int64(bitPattern: double.bitPattern)))
  }
  /// Sets a boolean.
  @inlinable package func set(_ slot: Int, bool: Bool) { set(slot, Cell(.bool, bool ? 1 : 0)) }
  /// Sets an instant, in microseconds since 1970.
  @inlinable package func set(_ slot: Int, microseconds: Int64) { set(slot, Cell(.date, microseconds)) }

  /// Sets a string, by its UTF-8.
  @inlinable
  package func set(_ slot: Int, text bytes: UnsafeRawBufferPointer) {
    if textCount &+ bytes.count > textCapacity { growText(by: bytes.count) }
    if let source = bytes.baseAddress { (text + textCount).copyMemory(from: source, byteCount: bytes.count) }
    // What is longer than four gigabytes was refused by whoever read it.
    set(slot, Cell(.text, Int64(textCount), length: UInt32(bytes.count)))
    textCount &+= bytes.count
  }

  @usableFromInline
  func growText(by more: Int) {
    let larger = max(textCapacity * 2, textCount + more)
    let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 1)
    new.copyMemory(from: text, byteCount: textCount)
    text.deallocate()
    text = new
    textCapacity = larger
  }

  // MARK: Reading

  /// A cell of a row.
  @inlinable
  package func cell(_ row: Int, _ slot: Int) -> Cell {
    precondition(row >= 0 && row <= count && row < capacity && slot >= 0 && slot < width)
    return cells[row &* width &+ slot]
  }

  /// The cells of a row, by their slots; valid as long as the rows are.
  @inlinable
  package func cells(_ row: Int) -> UnsafePointer<Cell> {
    precondition(row >= 0 && row < count)
    return UnsafePointer(cells + row &* width)
  }

  /// The ID of a row until it is saved.
  func temporaryID(_ row: Int) -> ManagedObjectID {
    ManagedObjectID(scope: scope, number: temporary - 1 - Int64(row))
  }

  /// A row with its temporary ID.
  package func row(_ row: Int) -> StoreRow { StoreRow(id: temporaryID(row), values: values(row)) }
}
