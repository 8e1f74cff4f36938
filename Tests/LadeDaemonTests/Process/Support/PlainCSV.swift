import Foundation

/// A reading of CSV by RFC 4180 that shares nothing with the one that is tested: byte after byte.
enum PlainCSV {
  /// The records of a file, by the names in its first line.
  static func records(_ data: Data) -> [[String: String]] {
    var rows = rows(data)
    let header = rows.isEmpty ? [] : rows.removeFirst()
    return rows.map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
  }

  static func rows(_ data: Data) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var bytes = Array(data)[...]
    func endField() {
      row.append(String(decoding: field, as: UTF8.self))
      field = []
    }
    func endRow() {
      endField()
      if row != [""] { rows.append(row) }
      row = []
    }
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "\"") where isQuoted && bytes.first == UInt8(ascii: "\""):
        bytes.removeFirst()
        field.append(byte)
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted: endField()
      case UInt8(ascii: "\r") where !isQuoted: break
      case UInt8(ascii: "\n") where !isQuoted: endRow()
      default: field.append(byte)
      }
    }
    if !field.isEmpty || !row.isEmpty { endRow() }
    return rows
  }
}
