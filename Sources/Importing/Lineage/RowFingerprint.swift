// A fingerprint tells whether a row is as a job has left it, so that an undo takes nothing back that somebody has changed since.
// It is the sum of what each value adds, so that it can be computed on two threads, and null adds nothing: an optional attribute
// that a later version of the model has makes no difference.

import Foundation
import ManagedObjects

/// Hashes the stored values of an entity's rows: its attributes, and what its to-one relationships lead to.
final class RowFingerprint: Sendable {
  /// A property, and what distinguishes its values from equal values of others.
  private struct Column {
    let slot: Int
    let seed: UInt64
    let isFloat: Bool

    init(_ property: PropertyDescription) {
      slot = property.slot
      isFloat = (property as? AttributeDescription)?.type == .float
      var name = property.name
      seed = name.withUTF8 { ByteHash.of(UnsafeRawBufferPointer($0)) }
    }
  }

  private let attributes: [Column]
  private let references: [Column]

  init(_ entity: EntityDescription) {
    attributes = entity.attributes.filter { !$0.isTransient && !$0.isDerived }.map(Column.init)
    references = entity.relationships.filter { !$0.isToMany && !$0.isUnstored }.map(Column.init)
  }

  /// The fingerprint of a row.
  func of(_ values: ContiguousArray<Value>) -> UInt32 {
    var sum: UInt64 = 0
    for column in attributes { sum &+= Self.part(values[column.slot], column) }
    for column in references { sum &+= Self.part(values[column.slot], column) }
    return Self.folded(sum)
  }

  /// What all values of an object add, in 64 bits.
  func sum(of object: ManagedObject) -> UInt64 {
    (attributes + references).reduce(0) { $0 &+ Self.part(object.value(at: $1.slot), $1) }
  }

  /// What the attributes of a row in flat memory add.
  func attributes(of rows: NewRows, _ row: Int) -> UInt64 {
    var sum: UInt64 = 0
    let cells = rows.cells(row)
    for column in attributes { sum &+= Self.part(cells[column.slot], of: rows, column) }
    return sum
  }

  /// What the references of a row in flat memory add, once they lead to their targets.
  func references(of rows: NewRows, _ row: Int) -> UInt64 {
    if references.isEmpty { return 0 }
    var sum: UInt64 = 0
    let cells = rows.cells(row)
    for column in references { sum &+= Self.part(cells[column.slot], of: rows, column) }
    return sum
  }

  /// The fingerprint that a sum amounts to.
  @inline(__always)
  static func folded(_ sum: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: sum ^ (sum >> 32)) }

  @inline(__always)
  private static func part(_ cell: NewRows.Cell, of rows: NewRows, _ column: Column) -> UInt64 {
    switch cell.kind {
    case .null: return 0
    case .int, .bool, .reference, .date: return ByteHash.mixed(column.seed, UInt64(bitPattern: cell.bits))
    case .double: return part(Double(bitPattern: UInt64(bitPattern: cell.bits)), column)
    case .text: return ByteHash.mixed(column.seed, ByteHash.of(rows.bytes(of: cell)))
    case .other: return part(rows.other(cell), column)
    }
  }

  private static func part(_ number: Double, _ column: Column) -> UInt64 {
    // Stores keep no NaN, and one zero.
    if number.isNaN { return 0 }
    let bits = column.isFloat ? UInt64(Float(number + 0).bitPattern) : (number + 0).bitPattern
    return ByteHash.mixed(column.seed, bits)
  }

  private static func part(_ value: Value, _ column: Column) -> UInt64 {
    switch value {
    case .null, .unresolved, .objects, .orderedObjects, .composite: return 0
    case .bool(let flag): return ByteHash.mixed(column.seed, flag ? 1 : 0)
    case .int(let number): return ByteHash.mixed(column.seed, UInt64(bitPattern: number))
    case .double(let number): return part(number, column)
    case .object(let id): return ByteHash.mixed(column.seed, UInt64(bitPattern: id.number))
    case .date(let date):
      // As stores keep it, to the microsecond.
      let bits =
        ISODate.microseconds(of: date).map { UInt64(bitPattern: $0) } ?? date.timeIntervalSince1970.bitPattern
      return ByteHash.mixed(column.seed, bits)
    case .string(let text): return part(text, column)
    case .decimal(let number): return number.isNaN ? 0 : part(number.description, column)
    case .uuid(let uuid): return part(uuid.uuidString, column)
    case .uri(let uri): return part(uri.absoluteString, column)
    case .data(let data): return ByteHash.mixed(column.seed, data.withUnsafeBytes { ByteHash.of($0) })
    }
  }

  private static func part(_ text: String, _ column: Column) -> UInt64 {
    var text = text
    return ByteHash.mixed(column.seed, text.withUTF8 { ByteHash.of(UnsafeRawBufferPointer($0)) })
  }
}

/// A hash of bytes, eight at a time. Stores keep it, so it is the same in every process and version. It protects against no one
/// who chooses the bytes.
enum ByteHash {
  private static let first: UInt64 = 0x9E37_79B9_7F4A_7C15
  private static let second: UInt64 = 0xD6E8_FEB8_6659_FD93

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: bytes.count) &* first
    var place = 0
    while place &+ 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      hash = (hash ^ word) &* second
      hash ^= hash >> 29
      place &+= 8
    }
    if place < bytes.count {
      var word: UInt64 = 0
      var shift: UInt64 = 0
      while place < bytes.count {
        word |= UInt64(bytes[place]) &<< shift
        shift &+= 8
        place &+= 1
      }
      hash = (hash ^ word) &* second
      hash ^= hash >> 29
    }
    return hash
  }

  @inline(__always)
  static func mixed(_ seed: UInt64, _ word: UInt64) -> UInt64 {
    var hash = (seed ^ word) &* second
    hash = (hash ^ (hash >> 32)) &* first
    return hash ^ (hash >> 29)
  }
}
