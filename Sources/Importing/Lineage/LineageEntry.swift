import Foundation

/// The place of a record in its source. Numbers begin with 1; 0 is unknown, as of a row that changed because of another.
package struct RecordPlace: Hashable, Sendable {
  /// The number of the record.
  package var record: Int64 = 0
  /// The line of its first byte.
  package var line: Int64 = 0
  /// The offset of its first byte in the source, unpacked, in bytes from 0.
  package var byte: Int64 = 0

  static let unknown = RecordPlace()
}

/// What became of a row.
package enum RowEvent: Int64, Sendable {
  case inserted, updated, deleted
}

/// What is recorded of one row that a save inserted, changed or deleted.
struct LineageEntry: Hashable {
  let row: Int64
  let place: RecordPlace
  /// The row's fingerprint afterwards; nil if it was deleted.
  let fingerprint: UInt32?
}

/// The entries of one save and entity, in few bytes.
///
/// Rows and records mostly follow each other in equal steps, and records have similar lengths. So an entry says first by how
/// much its distance from the last record, in bytes, differs from the distance before, in all bits but the lowest. That bit
/// is set where the steps of row, record or line aren't those before; then the new steps follow. The fingerprint is last.
struct LineageEntries {
  private struct Last {
    var row: Int64 = 0
    var place = RecordPlace.unknown
    var steps = Steps()
    var distance: Int64 = 0
  }

  private struct Steps: Equatable {
    var row: Int64 = 1
    var record: Int64 = 1
    var line: Int64 = 1
  }

  private var bytes = CompactBytes()
  private(set) var count = 0
  private(set) var firstRow = Int64.max
  private(set) var lastRow = Int64.min
  private var last = Last()

  /// Reserves room for entries.
  mutating func reserve(_ count: Int) { bytes.reserve(8 * count) }

  var data: Data { Data(bytes.bytes) }

  @inline(__always)
  mutating func append(_ row: Int64, _ place: RecordPlace, _ fingerprint: UInt32?) {
    let distance = place.byte &- last.place.byte
    let steps = Steps(
      row: row &- last.row, record: place.record &- last.place.record, line: place.line &- last.place.line)
    let isEven = steps == last.steps
    bytes.append(signed: (distance &- last.distance) &<< 1 | (isEven ? 0 : 1))
    if !isEven {
      bytes.append(signed: steps.row)
      bytes.append(signed: steps.record)
      bytes.append(signed: steps.line)
    }
    if let fingerprint { bytes.append(fixed: fingerprint) }
    last = Last(row: row, place: place, steps: steps, distance: distance)
    firstRow = min(firstRow, row)
    lastRow = max(lastRow, row)
    count += 1
  }

  /// Reads what was appended.
  static func read(_ data: Data, of event: RowEvent) throws(LineageError) -> [LineageEntry] {
    var entries: [LineageEntry] = []
    try each(data, of: event) { entries.append($0) }
    return entries
  }

  /// Calls `body` for each of the entries.
  static func each(
    _ data: Data, of event: RowEvent, _ body: (LineageEntry) -> Void
  ) throws(LineageError) {
    var reader = CompactReader(data)
    var last = Last()
    while !reader.isAtEnd {
      let first = try reader.signed()
      last.distance &+= first >> 1
      if first & 1 != 0 {
        last.steps = Steps(row: try reader.signed(), record: try reader.signed(), line: try reader.signed())
      }
      last.row &+= last.steps.row
      last.place.record &+= last.steps.record
      last.place.line &+= last.steps.line
      last.place.byte &+= last.distance
      let fingerprint = event == .deleted ? nil : try reader.fixed32()
      body(LineageEntry(row: last.row, place: last.place, fingerprint: fingerprint))
    }
  }
}
