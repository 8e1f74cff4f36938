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

/// The entries of one save and entity, in few bytes: each number as its difference from the one before.
struct LineageEntries {
  private var bytes = CompactBytes()
  private(set) var count = 0
  private(set) var firstRow = Int64.max
  private(set) var lastRow = Int64.min
  private var row: Int64 = 0
  private var place = RecordPlace.unknown

  /// Reserves room for entries.
  mutating func reserve(_ count: Int) { bytes.reserve(12 * count) }

  var data: Data { Data(bytes.bytes) }

  @inline(__always)
  mutating func append(_ row: Int64, _ place: RecordPlace, _ fingerprint: UInt32?) {
    bytes.append(signed: row &- self.row)
    bytes.append(signed: place.record &- self.place.record)
    bytes.append(signed: place.line &- self.place.line)
    bytes.append(signed: place.byte &- self.place.byte)
    if let fingerprint { bytes.append(fixed: fingerprint) }
    self.row = row
    self.place = place
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
    var row: Int64 = 0
    var place = RecordPlace.unknown
    while !reader.isAtEnd {
      row &+= try reader.signed()
      place.record &+= try reader.signed()
      place.line &+= try reader.signed()
      place.byte &+= try reader.signed()
      let fingerprint = event == .deleted ? nil : try reader.fixed32()
      body(LineageEntry(row: row, place: place, fingerprint: fingerprint))
    }
  }
}
