extension RecordBatch {
  /// A record as a JSON object, `{"id":7,"name":"Ann"}`.
  func json(_ record: Int) -> [UInt8] {
    var json: [UInt8] = []
    var separator = UInt8(ascii: "{")
    for (column, name) in columns.enumerated() {
      let cell = cell(record, column)
      if cell.kind == .missing { continue }
      json.append(separator)
      separator = UInt8(ascii: ",")
      XMLTree.quote(Array(name.utf8), to: &json)
      json.append(UInt8(ascii: ":"))
      let bytes = withBytes(of: cell) { Array($0) }
      switch cell.kind {
      case .text: XMLTree.quote(bytes, to: &json)
      case .number, .nested: json += bytes
      case .yes: json += Array("true".utf8)
      case .no: json += Array("false".utf8)
      case .null, .empty, .missing: json += Array("null".utf8)
      }
    }
    return json + Array(separator == UInt8(ascii: "{") ? "{}".utf8 : "}".utf8)
  }
}
