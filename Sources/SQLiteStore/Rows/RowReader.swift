import Foundation
import GRDBSQLite
import ManagedObjects
import SQLSchema

/// Reads the rows of a statement that selects an entity's columns, those of its subentities included.
///
/// The statement's columns are the primary key, the entity's name where the table holds several, and then each column
/// once; ``selection`` names them.
struct RowReader: Sendable {
  /// The source of one slot's value. It contains no counted references, because it is used for each value of each row.
  private struct Source: Sendable {
    /// How a slot is filled: the most frequent kinds, and all others.
    enum Code: UInt8 {
      case integer, reference, text, real, other, null, unresolved
    }

    let code: Code
    let index: Int32
    /// The scope of a reference's target.
    unowned(unsafe) let scope: IDScope
  }

  private final class Shape: @unchecked Sendable {
    // Sendable: constant; the sources are written before the object is shared, and freed with it.
    let scope: IDScope
    /// One for each slot. Not an array, whose reference would be counted for each row.
    let sources: UnsafeBufferPointer<Source>
    /// The kind of each slot's column, for those that aren't of the frequent kinds.
    let kinds: ContiguousArray<ColumnKind?>
    /// How rows are packed.
    let packing: RowBlockLayout

    init(_ layout: RowLayout, _ places: [Int: (index: Int32, kind: ColumnKind)], isPartial: Bool) {
      scope = layout.scope
      let slots = layout.blank.indices
      kinds = ContiguousArray(slots.map { places[$0]?.kind })
      packing = RowBlockLayout(
        slots.map { slot in
          switch places[slot]?.kind {
          case .integer, .real, nil: .plain
          case .reference(let scope): .reference(scope)
          case .text, .number, .boolean, .isoDate, .unixDate, .referenceDate, .decimal, .roundedDecimal, .blob,
            .external,
            .uuid, .uuidBytes, .uri:
            .other
          }
        })
      let sources = UnsafeMutableBufferPointer<Source>.allocate(capacity: slots.count)
      _ = sources.initialize(
        from: slots.map { slot in
          var (code, target) = (Source.Code.null, layout.scope)
          switch places[slot]?.kind {
          case .integer: code = .integer
          case .reference(let scope): (code, target) = (.reference, scope)
          case .text: code = .text
          case .real: code = .real
          case .number, .boolean, .isoDate, .unixDate, .referenceDate, .decimal, .roundedDecimal, .blob, .external,
            .uuid, .uuidBytes, .uri:
            code = .other
          case nil: if isPartial || layout.blank[slot] == .unresolved { code = .unresolved }
          }
          return Source(code: code, index: places[slot]?.index ?? 0, scope: target)
        })
      self.sources = UnsafeBufferPointer(sources)
    }

    deinit { sources.deallocate() }

    /// The statement's current row.
    func read(_ statement: OpaquePointer) -> StoreRow {
      // Appending costs half as much as `init(unsafeUninitializedCapacity:)`, which isn't specialised.
      var values = ContiguousArray<Value>()
      values.reserveCapacity(sources.count)
      for slot in sources.indices { values.append(RowReader.value(statement, slot, sources[slot], self)) }
      return StoreRow(id: ManagedObjectID(scope: scope, number: sqlite3_column_int64(statement, 0)), values: values)
    }

    /// The statement's current row, packed.
    @inline(__always)
    func pack(_ statement: OpaquePointer, _ packer: inout RowPacker) -> StoreRow {
      let row = packer.next()
      for slot in sources.indices { RowReader.pack(statement, slot, sources[slot], self, row) }
      return StoreRow(
        id: ManagedObjectID(scope: scope, number: sqlite3_column_int64(statement, 0)), content: row.content)
    }
  }

  private let shapes: [String: Shape]
  private let only: Shape?
  /// The column names after the primary key, in order.
  let columns: [String]
  let keyColumn: String
  private let entityColumn: String?

  /// - Parameters:
  ///   - layouts: the layouts of the entities whose rows may come, all of one table.
  ///   - slots: the slots to read, the others are `unresolved` then; nil for all.
  init(_ layouts: [RowLayout], slots: Set<Int>? = nil) {
    var columns: [String] = []
    var indexes: [String: Int32] = [:]
    entityColumn = layouts[0].entityColumn
    keyColumn = layouts[0].keyColumn
    let first: Int32 = entityColumn == nil ? 1 : 2
    var shapes: [String: Shape] = [:]
    for layout in layouts {
      var places: [Int: (index: Int32, kind: ColumnKind)] = [:]
      if let slot = layout.keySlot { places[slot] = (0, .integer) }
      for column in layout.columns where slots?.contains(column.slot) ?? true {
        let index = indexes[column.name] ?? first + Int32(columns.count)
        if indexes.updateValue(index, forKey: column.name) == nil { columns.append(column.name) }
        places[column.slot] = (index, column.kind)
      }
      shapes[layout.entityMark] = Shape(layout, places, isPartial: slots != nil)
    }
    self.columns = columns
    self.shapes = shapes
    only = entityColumn == nil ? shapes[layouts[0].entityMark] : nil
  }

  /// The columns to select, as names of the table.
  var selection: [String] { [keyColumn] + (entityColumn.map { [$0] } ?? []) + columns }

  /// The statement's current row; nil when its entity isn't the store's.
  func read(_ statement: OpaquePointer) -> StoreRow? {
    if let only { return only.read(statement) }
    return shape(statement)?.read(statement)
  }

  /// Runs the statement and calls `take` with each row. Returns the last code, which isn't `SQLITE_ROW`.
  func readAll(_ statement: OpaquePointer, _ take: (consuming StoreRow) -> Void) -> Int32 {
    var code = sqlite3_step(statement)
    // Looked up once: copying a reference for each row costs as much as reading two values.
    if let only {
      var packer = RowPacker(only.packing)
      while code == SQLITE_ROW {
        take(only.pack(statement, &packer))
        code = sqlite3_step(statement)
      }
    } else {
      while code == SQLITE_ROW {
        if let row = read(statement) { take(row) }
        code = sqlite3_step(statement)
      }
    }
    return code
  }

  /// The ID of the statement's current row.
  func readID(_ statement: OpaquePointer) -> ManagedObjectID? {
    shape(statement).map { ManagedObjectID(scope: $0.scope, number: sqlite3_column_int64(statement, 0)) }
  }

  private func shape(_ statement: OpaquePointer) -> Shape? {
    if let only { return only }
    guard let name = sqlite3_column_text(statement, 1) else { return nil }
    return shapes[String(cString: name)]
  }

  @inline(__always)
  private static func value(_ statement: OpaquePointer, _ slot: Int, _ source: Source, _ shape: Shape) -> Value {
    switch source.code {
    case .integer:
      // NULL reads as 0, so only a 0 needs a second look.
      let number = sqlite3_column_int64(statement, source.index)
      return number == 0 && isNull(statement, source.index) ? .null : .int(number)
    case .reference:
      let number = sqlite3_column_int64(statement, source.index)
      if number == 0, isNull(statement, source.index) { return .null }
      return .object(ManagedObjectID(scope: source.scope, number: number))
    case .text: return isNull(statement, source.index) ? .null : .string(text(statement, source.index))
    case .real:
      let number = sqlite3_column_double(statement, source.index)
      return number == 0 && isNull(statement, source.index) ? .null : .double(number)
    case .other: return shape.kinds[slot].map { value(statement, source.index, $0) } ?? .null
    case .null: return .null
    case .unresolved: return .unresolved
    }
  }

  /// Puts a value of the statement's current row into a packed one.
  @inline(__always)
  private static func pack(
    _ statement: OpaquePointer, _ slot: Int, _ source: Source, _ shape: Shape, _ row: PackedRowWriter
  ) {
    switch source.code {
    case .integer, .reference:
      // NULL reads as 0, so only a 0 needs a second look.
      let number = sqlite3_column_int64(statement, source.index)
      if number == 0, isNull(statement, source.index) { return row.kinds[slot] = .null }
      row.words[slot] = number
      row.kinds[slot] = source.code == .integer ? .integer : .reference
    case .real:
      let number = sqlite3_column_double(statement, source.index)
      if number == 0, isNull(statement, source.index) { return row.kinds[slot] = .null }
      row.words[slot] = Int64(bitPattern: number.bitPattern)
      row.kinds[slot] = .real
    case .text, .other:
      if isNull(statement, source.index) { return row.kinds[slot] = .null }
      row.set(slot, other: value(statement, slot, source, shape))
    case .null: row.kinds[slot] = .null
    case .unresolved: row.kinds[slot] = .unresolved
    }
  }

  @inline(__always)
  private static func isNull(_ statement: OpaquePointer, _ index: Int32) -> Bool {
    sqlite3_column_type(statement, index) == SQLITE_NULL
  }

  /// The value in a column of the statement's current row.
  static func value(_ statement: OpaquePointer, _ index: Int32, _ kind: ColumnKind) -> Value {
    if isNull(statement, index) { return .null }
    switch kind {
    case .integer: return .int(sqlite3_column_int64(statement, index))
    case .real: return .double(sqlite3_column_double(statement, index))
    case .number:
      return sqlite3_column_type(statement, index) == SQLITE_INTEGER
        ? .int(sqlite3_column_int64(statement, index)) : .double(sqlite3_column_double(statement, index))
    case .boolean: return .bool(sqlite3_column_int64(statement, index) != 0)
    case .text: return .string(text(statement, index))
    case .reference(let scope):
      return .object(ManagedObjectID(scope: scope, number: sqlite3_column_int64(statement, index)))
    case .isoDate: return date(statement, index)
    case .unixDate: return .date(Date(timeIntervalSince1970: sqlite3_column_double(statement, index)))
    case .blob:
      guard let start = sqlite3_column_blob(statement, index) else { return .data(Data()) }
      return .data(Data(bytes: start, count: Int(sqlite3_column_bytes(statement, index))))
    case .external(let column): return column.value(statement, index)
    case .referenceDate: return .date(Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, index)))
    case .decimal: return decimal(statement, index)
    case .roundedDecimal: return roundedDecimal(statement, index)
    case .uuid: return UUID(uuidString: text(statement, index)).map(Value.uuid) ?? .null
    case .uuidBytes: return uuid(statement, index)
    case .uri: return URL(string: text(statement, index)).map(Value.uri) ?? .null
    }
  }

  private static func bytes(_ statement: OpaquePointer, _ index: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_column_text(statement, index)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
  }

  private static func text(_ statement: OpaquePointer, _ index: Int32) -> String {
    String(decoding: bytes(statement, index), as: UTF8.self)
  }

  /// A date that another program wrote as a number is read as seconds since 1970.
  private static func date(_ statement: OpaquePointer, _ index: Int32) -> Value {
    guard sqlite3_column_type(statement, index) == SQLITE_TEXT else {
      return .date(Date(timeIntervalSince1970: sqlite3_column_double(statement, index)))
    }
    return ISODate.date(parsing: bytes(statement, index)).map(Value.date) ?? .null
  }

  /// Another program may have written it as text.
  private static func uuid(_ statement: OpaquePointer, _ index: Int32) -> Value {
    guard sqlite3_column_type(statement, index) == SQLITE_BLOB else {
      return UUID(uuidString: text(statement, index)).map(Value.uuid) ?? .null
    }
    let bytes = UnsafeRawBufferPointer(
      start: sqlite3_column_blob(statement, index), count: Int(sqlite3_column_bytes(statement, index)))
    return StoredForms.uuid(of: bytes).map(Value.uuid) ?? .null
  }

  private static func roundedDecimal(_ statement: OpaquePointer, _ index: Int32) -> Value {
    guard sqlite3_column_type(statement, index) == SQLITE_FLOAT else { return decimal(statement, index) }
    return StoredForms.decimal(rounding: sqlite3_column_double(statement, index)).map(Value.decimal) ?? .null
  }

  private static func decimal(_ statement: OpaquePointer, _ index: Int32) -> Value {
    switch sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return .decimal(Decimal(sqlite3_column_int64(statement, index)))
    case SQLITE_FLOAT:
      // The shortest text that reads back as this double has the digits that were written: at most fifteen.
      return Decimal(string: sqlite3_column_double(statement, index).description).map(Value.decimal) ?? .null
    default:
      guard let start = sqlite3_column_blob(statement, index) else { return .null }
      let digits = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
      return Decimal(string: String(decoding: digits, as: UTF8.self)).map(Value.decimal) ?? .null
    }
  }
}
