import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

/// Binds values to a statement's parameters with as little copying as SQLite allows: text goes into one buffer that doesn't
/// change until the statement has run, so that SQLite needn't copy it.
///
/// Used on one thread, within one write.
final class RowBinder {
  private static let capacity = 64 * 1024
  private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: RowBinder.capacity)
  // Accesses never overlap: a binder is used on one thread, and no method calls out while it changes these.
  @exclusivity(unchecked) private var used = 0
  /// The permanent ID's number for an object that the same write inserts.
  var permanentNumber: (ManagedObjectID) -> Int64? = { _ in nil }

  /// A date of a year that the store's form can't express, if one was to be bound.
  private(set) var unstorable: Date?
  /// The code of a binding that SQLite refused, for which the parameter is null.
  private var refusal: Int32?

  deinit { buffer.deallocate() }

  /// Starts a row. The statement has run with the values bound before.
  @inline(__always)
  func begin() { used = 0 }

  /// Checks what was bound. To be called before the outcome of a statement counts: without its values it does something else.
  /// - Throws: SQLite's error, as of a value for which there was no memory.
  @inline(__always)
  func check() throws {
    if let refusal { throw DatabaseError(resultCode: ResultCode(rawValue: refusal)) }
  }

  /// Notes the result of a binding.
  @inline(__always)
  private func note(_ code: Int32) { if code != SQLITE_OK { refusal = code } }

  /// Binds a value to the parameter at `index`, from 1.
  func bind(_ value: Value, isISODate: Bool, to statement: OpaquePointer, at index: Int32) {
    switch value {
    case .null, .unresolved, .objects, .orderedObjects, .composite: sqlite3_bind_null(statement, index)
    case .int(let number): sqlite3_bind_int64(statement, index, number)
    case .double(let number): sqlite3_bind_double(statement, index, number)
    case .bool(let flag): sqlite3_bind_int64(statement, index, flag ? 1 : 0)
    case .string(var text): text.withUTF8 { bindText($0, to: statement, at: index) }
    case .date(let date): bindDate(date, isISODate, to: statement, at: index)
    case .object(let id):
      if id.isTemporaryID {
        if let number = permanentNumber(id) {
          sqlite3_bind_int64(statement, index, number)
        } else {
          sqlite3_bind_null(statement, index)
        }
      } else {
        sqlite3_bind_int64(statement, index, id.number)
      }
    case .data(let data): bindBlob(data, to: statement, at: index)
    case .uuid(let uuid):
      var text = uuid.uuidString.lowercased()
      text.withUTF8 { bindText($0, to: statement, at: index) }
    case .uri(let uri):
      var text = uri.absoluteString
      text.withUTF8 { bindText($0, to: statement, at: index) }
    case .decimal(let number): bindDecimal(number, to: statement, at: index)
    }
  }

  /// Binds a value of rows in flat memory, whose text needn't be copied: they outlive the statement's run.
  @inline(__always)
  func bind(
    _ cell: NewRows.Cell, of rows: NewRows, isISODate: Bool, to statement: OpaquePointer, at index: Int32
  ) {
    switch cell.kind {
    case .null: sqlite3_bind_null(statement, index)
    case .int, .bool, .reference: sqlite3_bind_int64(statement, index, cell.bits)
    case .double: sqlite3_bind_double(statement, index, Double(bitPattern: UInt64(bitPattern: cell.bits)))
    case .text:
      let bytes = rows.bytes(of: cell)
      note(
        sqlite3_bind_text64(
          statement, index, bytes.assumingMemoryBound(to: CChar.self).baseAddress, UInt64(bytes.count), SQLITE_STATIC,
          UInt8(SQLITE_UTF8)))
    case .date where isISODate && used + ISODate.longest <= Self.capacity:
      bindISODate(cell.bits, to: statement, at: index)
    case .date: bindDate(ISODate.date(microseconds: cell.bits), isISODate, to: statement, at: index)
    case .other: bind(rows.other(cell), isISODate: isISODate, to: statement, at: index)
    }
  }

  @inline(__always)
  private func bindText(_ bytes: UnsafeBufferPointer<UInt8>, to statement: OpaquePointer, at index: Int32) {
    let count = bytes.count
    guard let source = bytes.baseAddress, count > 0 else {
      sqlite3_bind_text(statement, index, "", 0, SQLITE_STATIC)
      return
    }
    guard used + count <= Self.capacity else {
      source.withMemoryRebound(to: CChar.self, capacity: count) {
        note(sqlite3_bind_text64(statement, index, $0, UInt64(count), SQLITE_TRANSIENT, UInt8(SQLITE_UTF8)))
      }
      return
    }
    let place = buffer + used
    place.update(from: source, count: count)
    used += count
    bindKept(place, count, to: statement, at: index)
  }

  @inline(__always)
  private func bindKept(
    _ place: UnsafeMutablePointer<UInt8>, _ count: Int, to statement: OpaquePointer, at index: Int32
  ) {
    place.withMemoryRebound(to: CChar.self, capacity: count) {
      note(sqlite3_bind_text64(statement, index, $0, UInt64(count), SQLITE_STATIC, UInt8(SQLITE_UTF8)))
    }
  }

  private func bindDate(_ date: Date, _ isISODate: Bool, to statement: OpaquePointer, at index: Int32) {
    guard isISODate else {
      switch ValueCodec.unixSeconds(of: date) {
      case .integer(let whole): sqlite3_bind_int64(statement, index, whole)
      case .real(let double): sqlite3_bind_double(statement, index, double)
      case .digits: unstorable = date
      }
      return
    }
    guard let microseconds = ISODate.microseconds(of: date) else {
      unstorable = date
      return
    }
    if used + ISODate.longest <= Self.capacity {
      bindISODate(microseconds, to: statement, at: index)
    } else if var text = ISODate.text(of: date) {
      text.withUTF8 { bindText($0, to: statement, at: index) }
    } else {
      unstorable = date
    }
  }

  /// There is room in the buffer for the text of any date.
  private func bindISODate(_ microseconds: Int64, to statement: OpaquePointer, at index: Int32) {
    guard let count = ISODate.write(microseconds: microseconds, to: buffer + used) else {
      unstorable = ISODate.date(microseconds: microseconds)
      return
    }
    bindKept(buffer + used, count, to: statement, at: index)
    used += count
  }

  private func bindBlob(_ data: Data, to statement: OpaquePointer, at index: Int32) {
    data.withUnsafeBytes { bytes in
      note(
        bytes.isEmpty
          ? sqlite3_bind_zeroblob(statement, index, 0)
          : sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), SQLITE_TRANSIENT))
    }
  }

  private func bindDecimal(_ number: Decimal, to statement: OpaquePointer, at index: Int32) {
    switch ValueCodec.storage(of: number) {
    case .integer(let whole): sqlite3_bind_int64(statement, index, whole)
    case .real(let double): sqlite3_bind_double(statement, index, double)
    case .digits(let text): bindBlob(Data(text.utf8), to: statement, at: index)
    }
  }
}

/// Tells SQLite that the bytes don't change until the statement has run.
let SQLITE_STATIC = unsafeBitCast(0, to: sqlite3_destructor_type.self)
/// Tells SQLite to copy the bytes.
let SQLITE_TRANSIENT = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
