import ManagedObjects

// A batch's rows come from its records, or were set aside earlier: who applies them needn't know.
extension ConvertedBatch {
  /// A batch of records that were set aside.
  convenience init(_ aside: [AsideRow], of mapping: RecordMapping, mode: ImportOptions.Mode) throws {
    self.init(source: RecordBatch(), mapping: mapping, mode: mode, bytesRead: 0)
    for (place, record) in aside.enumerated() { rows.append(try record.row(place, mapping)) }
  }

  /// Whether its records were set aside, so that it doesn't bring the reading any further.
  var isSetAside: Bool { rows.first?.aside != nil }

  /// The number of a row's record in the source.
  func number(of row: Row) -> Int64 {
    row.aside?.kept.record ?? source.end.record - Int64(source.count - row.record)
  }

  /// Whether a row's record has a column.
  @inline(__always)
  func says(_ row: Row, _ column: Int) -> Bool {
    guard let aside = row.aside else { return source.cell(row.record, column).kind != .missing }
    return aside.columns.contains(mapping.columns[column])
  }

  /// The place in the mapping's constraints of the one by which a row finds its object: the first whose attributes the
  /// record all has, be they null. nil when it has none, which only a JSON record can.
  func constraint(of row: Row) -> Int? {
    mapping.constraints.firstIndex { $0.columns.allSatisfy { says(row, $0) } }
  }

  /// The rejection of a row's record.
  func rejection(_ row: Row, column: String = "", code: String, message: String) -> Rejection {
    guard let aside = row.aside?.kept else {
      return source.rejection(row.record, column: column, code: code, message: message)
    }
    return Rejection(
      record: row.record, line: aside.line, column: column, code: code, message: message, raw: aside.raw,
      isSelfContained: aside.isSelfContained)
  }
}
