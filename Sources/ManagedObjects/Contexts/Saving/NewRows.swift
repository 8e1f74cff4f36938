/// Rows of one entity that a save inserts without an object for each, for an import, whose context has no observers. Made on
/// any thread.
///
/// The values have been validated, and refer to no new object. They are in flat memory on their way from a reader to a store:
/// an array of values per row, with a string on the heap per text, would cost more to make, count and free on two threads than
/// SQLite takes to write them. Three invariants of this type:
///   1. One thread at a time fills the rows and then hands them over. From the save on they are constant.
///   2. A row is a `beginRow()`, the cells set in it, and an `endRow()`, without which the row doesn't exist.
///   3. Cells are read only at places that the class has checked, or in a store's loop over `count` rows and known slots.
package final class NewRows: @unchecked Sendable {
  // Sendable: invariant 1 of this type, above.

  /// A value, or its place.
  @frozen @usableFromInline
  package struct Cell {
    /// The kind of content.
    @usableFromInline
    package enum Kind: UInt8 {
      case null
      /// An integer, or 0 and 1.
      case int, bool
      /// A double's bit pattern.
      case double
      /// Microseconds since 1970.
      case date
      /// The start of its UTF-8 in the text.
      case text
      /// The number of the row that a to-one relationship points to.
      case reference
      /// The place of any other value in the list of these.
      case other
    }

    @usableFromInline package var kind: Kind
    /// The number of bytes of text; for a reference, the place of its ID's scope.
    @usableFromInline package var length: UInt32
    @usableFromInline package var bits: Int64

    @inlinable
    init(_ kind: Kind, _ bits: Int64, length: UInt32 = 0) {
      self.kind = kind
      self.length = length
      self.bits = bits
    }

  }

  /// The entity of all rows.
  package let entity: EntityDescription
  // Touched for each cell, by one thread, so accesses never overlap and go unchecked. Setters aren't private where importing
  // modules inline the methods that use them.

  /// The number of rows.
  @exclusivity(unchecked) @usableFromInline package internal(set) var count = 0
  /// The number of slots of each row.
  @usableFromInline let width: Int
  @exclusivity(unchecked) @usableFromInline var cells: UnsafeMutablePointer<Cell>
  @exclusivity(unchecked) @usableFromInline var capacity: Int
  /// The concatenated text of the cells.
  @exclusivity(unchecked) @usableFromInline package internal(set) var text: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var textCount = 0
  @exclusivity(unchecked) @usableFromInline var textCapacity: Int
  /// Values that are neither numbers nor text.
  private var others: [Value] = []
  /// The scopes of the IDs that references lead to.
  @exclusivity(unchecked) var scopes: [IDScope] = []
  /// The initial row. Its text and other values lie before those of all rows.
  private let initial: UnsafeMutablePointer<Cell>
  /// The numbers of the rows' permanent IDs, if they were given before the save; none otherwise.
  package internal(set) var givenNumbers: [Int64] = []
  /// The scope of those IDs.
  var givenScope: IDScope?
  /// The scope of the rows' IDs until they are saved, and the number that these count down from.
  private let scope: IDScope
  private let temporary: Int64

  /// An empty list with room for rows.
  ///
  /// - Parameters:
  ///   - coordinator: the coordinator of the context.
  ///   - capacity: the greatest number of rows.
  ///   - textCapacity: the expected number of bytes of text.
  ///   - initial: the values of a row where nothing is set.
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
      // The text of defaults is short; text that doesn't fit is kept as a value.
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

  /// Begins a row with the initial values.
  package func beginRow() {
    precondition(count < capacity, "There is no room for another row")
    (cells + count &* width).update(from: initial, count: width)
  }

  /// Ends the row, which exists from now on.
  @inlinable package func endRow() { count &+= 1 }

  /// Sets a cell of the current row.
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
    // The reader has refused text of more than four gigabytes.
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

  /// The permanent ID of a row, if it was given before the save.
  func givenID(_ row: Int) -> ManagedObjectID? {
    givenNumbers.isEmpty ? nil : givenScope.map { ManagedObjectID(scope: $0, number: givenNumbers[row]) }
  }
}

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

  /// Empties a row's reference, whose target isn't there.
  package func clear(_ row: Int, _ slot: Int) {
    precondition(row >= 0 && row < count && slot >= 0 && slot < width)
    cells[row * width + slot] = Cell(.null, 0)
  }

  /// Whether any row refers to another object.
  var hasReferences: Bool { !scopes.isEmpty }

  /// The value of a cell that holds neither a number nor text.
  package func other(_ cell: Cell) -> Value { others[Int(cell.bits)] }
}

/// Rows that were inserted without objects, with their permanent IDs.
package struct SavedRows: Sendable {
  /// The values.
  package let rows: NewRows
  /// The scope of their IDs.
  package let scope: IDScope
  /// The numbers of their IDs, in order.
  package let numbers: [Int64]

  /// The rows of one entity, with a number for each.
  package init(_ rows: NewRows, scope: IDScope, numbers: [Int64]) {
    self.rows = rows
    self.scope = scope
    self.numbers = numbers
  }

  /// The ID of a row.
  package func id(_ row: Int) -> ManagedObjectID { ManagedObjectID(scope: scope, number: numbers[row]) }

  /// Whether one of them may belong to another object's set.
  var joinsSets: Bool { rows.hasReferences && rows.entity.joinsSets }

  /// A row with its values.
  func row(_ row: Int) -> StoreRow { StoreRow(id: id(row), values: rows.values(row)) }
}
