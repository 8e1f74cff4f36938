import Foundation
import GRDBSQLite
import ManagedObjects

/// Reads the rows of a statement that selects an entity's columns, those of its subentities included.
///
/// The statement's columns are the primary key, the entity's name where the table holds several, and then each column
/// once; ``selection(_:)`` writes them.
struct RowReader {
  private struct Source {
    let slot: Int
    let index: Int32
    let kind: ColumnKind
  }

  private struct Shape {
    let scope: IDScope
    let sources: [Source]
    let blank: ContiguousArray<Value>
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
    var places: [String: Int32] = [:]
    entityColumn = layouts[0].entityColumn
    keyColumn = layouts[0].keyColumn
    let first: Int32 = entityColumn == nil ? 1 : 2
    var shapes: [String: Shape] = [:]
    for layout in layouts {
      var sources: [Source] = []
      if let slot = layout.keySlot { sources.append(Source(slot: slot, index: 0, kind: .integer)) }
      for column in layout.columns where slots?.contains(column.slot) ?? true {
        let index = places[column.name] ?? first + Int32(columns.count)
        if places.updateValue(index, forKey: column.name) == nil { columns.append(column.name) }
        sources.append(Source(slot: column.slot, index: index, kind: column.kind))
      }
      let blank = slots == nil ? layout.blank : ContiguousArray(repeating: .unresolved, count: layout.blank.count)
      shapes[layout.entity.name] = Shape(scope: layout.scope, sources: sources, blank: blank)
    }
    self.columns = columns
    self.shapes = shapes
    only = entityColumn == nil ? shapes[layouts[0].entity.name] : nil
  }

  /// The columns to select, as names of the table.
  var selection: [String] { [keyColumn] + (entityColumn.map { [$0] } ?? []) + columns }

  /// The row that the statement stands on; nil when it is of an entity that isn't the store's.
  func read(_ statement: OpaquePointer) -> StoreRow? {
    guard let shape = shape(statement) else { return nil }
    var values = shape.blank
    for source in shape.sources { values[source.slot] = Self.value(statement, source.index, source.kind) }
    return StoreRow(
      id: ManagedObjectID(scope: shape.scope, number: sqlite3_column_int64(statement, 0)), values: values)
  }

  /// The ID of the row that the statement stands on.
  func readID(_ statement: OpaquePointer) -> ManagedObjectID? {
    shape(statement).map { ManagedObjectID(scope: $0.scope, number: sqlite3_column_int64(statement, 0)) }
  }

  private func shape(_ statement: OpaquePointer) -> Shape? {
    if let only { return only }
    guard let name = sqlite3_column_text(statement, 1) else { return nil }
    return shapes[String(cString: name)]
  }

  /// The value in a column of the row that the statement stands on.
  static func value(_ statement: OpaquePointer, _ index: Int32, _ kind: ColumnKind) -> Value {
    if sqlite3_column_type(statement, index) == SQLITE_NULL { return .null }
    switch kind {
    case .integer: return .int(sqlite3_column_int64(statement, index))
    case .real: return .double(sqlite3_column_double(statement, index))
    case .boolean: return .bool(sqlite3_column_int64(statement, index) != 0)
    case .text: return .string(text(statement, index))
    case .reference(let scope):
      return .object(ManagedObjectID(scope: scope, number: sqlite3_column_int64(statement, index)))
    case .isoDate: return date(statement, index)
    case .unixDate: return .date(Date(timeIntervalSince1970: sqlite3_column_double(statement, index)))
    case .blob:
      guard let start = sqlite3_column_blob(statement, index) else { return .data(Data()) }
      return .data(Data(bytes: start, count: Int(sqlite3_column_bytes(statement, index))))
    case .decimal: return decimal(statement, index)
    case .uuid: return UUID(uuidString: text(statement, index)).map(Value.uuid) ?? .null
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
