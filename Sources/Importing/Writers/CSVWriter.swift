import ManagedObjects

/// Writes CSV by RFC 4180, in UTF-8, with LF at line ends. Null is an empty field without quotes; an empty text is one with
/// quotes.
final class CSVWriter: RecordWriter {
  private static let flushAt = 1 << 17
  private let sink: any ByteSink
  private let buffer = TextBuffer()
  private let columns: [WrittenColumn]
  private let collections: [WrittenCollection]
  private let delimiter: UInt8
  /// An empty line wouldn't be a record.
  private let isOneColumn: Bool
  private let scratch = TextBuffer(capacity: 1 << 10)

  init(_ sink: any ByteSink, _ layout: WrittenFormat.Layout) throws {
    self.sink = sink
    columns = layout.columns
    collections = layout.collections
    delimiter = layout.delimiter
    let names = columns.map(\.name) + collections.map(\.name)
    isOneColumn = names.count == 1
    for (index, name) in names.enumerated() {
      if index > 0 { buffer.append(delimiter) }
      var name = name
      name.withUTF8 { field($0) }
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  func write(_ values: ContiguousArray<Value>, _ collected: [[ContiguousArray<Value>]]) throws {
    for index in columns.indices {
      if index > 0 { buffer.append(delimiter) }
      try append(values[index], of: columns[index])
    }
    for (index, collection) in collections.enumerated() {
      if index > 0 || !columns.isEmpty { buffer.append(delimiter) }
      try append(collected[index], of: collection)
    }
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.flushAt { try flush() }
  }

  func finish() throws {
    try flush()
    try sink.finish()
  }

  private func flush() throws {
    try sink.write(buffer.bytes)
    buffer.removeAll()
  }

  private func append(_ value: Value, of column: WrittenColumn) throws(WriterError) {
    switch value {
    case .null: if isOneColumn { buffer.append("\"\"" as StaticString) }
    case .string(var text): text.withUTF8 { field($0) }
    case .int(let number): buffer.append(number)
    case .bool, .double, .decimal, .uuid: try buffer.append(value, of: column)
    default:
      scratch.removeAll()
      try scratch.append(value, of: column)
      field(UnsafeBufferPointer(start: scratch.start, count: scratch.count))
    }
  }

  private func append(_ records: [ContiguousArray<Value>], of collection: WrittenCollection) throws(WriterError) {
    let text = try KeyList.text(records, of: collection)
    if text.isEmpty {
      if isOneColumn { buffer.append("\"\"" as StaticString) }
      return
    }
    text.withUnsafeBufferPointer { field($0) }
  }

  /// A field, quoted where it needs it: where something in it would end it, and where it would be null.
  private func field(_ text: UnsafeBufferPointer<UInt8>) {
    let quote = UInt8(ascii: "\"")
    guard let start = text.baseAddress, !text.isEmpty else { return buffer.append("\"\"" as StaticString) }
    var isSpecial = false
    for byte in text {
      isSpecial = isSpecial || byte == delimiter || byte == quote || byte == 0x0A || byte == 0x0D
    }
    guard isSpecial else { return buffer.append(text) }
    let place = buffer.room(for: 2 * text.count + 2)
    var written = 1
    place[0] = quote
    for index in 0..<text.count {
      let byte = start[index]
      place[written] = byte
      written &+= 1
      if byte == quote {
        place[written] = quote
        written &+= 1
      }
    }
    place[written] = quote
    buffer.advance(by: written + 1)
  }
}

/// Several keys as one text.
enum KeyList {
  /// - Throws: ``WriterError/separatorInKey(column:separator:key:)`` for keys that couldn't be separated again.
  static func text(_ records: [ContiguousArray<Value>], of collection: WrittenCollection) throws(WriterError) -> [UInt8]
  {
    let separator = collection.separator ?? ""
    let buffer = TextBuffer(capacity: 256)
    for (index, record) in records.enumerated() {
      if index > 0 { buffer.append(separator) }
      let before = buffer.count
      try buffer.append(record[0], of: collection.columns[0])
      let key = String(decoding: UnsafeRawBufferPointer(rebasing: buffer.bytes[before...]), as: UTF8.self)
      if key.contains(separator) {
        throw .separatorInKey(column: collection.name, separator: separator, key: key)
      }
    }
    return Array(buffer.bytes)
  }
}
