import Foundation
import ManagedObjects

/// Writes JSON objects, one per line: as an array, or as NDJSON. Numbers keep all
/// their digits.
final class JSONWriter: RecordWriter {
  private static let flushAt = 1 << 17
  private let sink: any ByteSink
  private let buffer = TextBuffer()
  private let isOfLines: Bool
  private let members: [Member]
  private let collections: [Collection]
  private var count = 0

  private struct Member {
    let column: WrittenColumn
    /// `"name":`, with the separator before it.
    let key: [UInt8]

    init(_ column: WrittenColumn, isFirst: Bool) {
      self.column = column
      key = Member.key(column.name, isFirst: isFirst)
    }

    static func key(_ name: String, isFirst: Bool) -> [UInt8] {
      let text = TextBuffer(capacity: 64)
      if !isFirst { text.append(UInt8(ascii: ",")) }
      text.append(quoted: name)
      text.append(UInt8(ascii: ":"))
      return Array(text.bytes)
    }

    static func of(_ columns: [WrittenColumn]) -> [Member] {
      columns.enumerated().map { Member($1, isFirst: $0 == 0) }
    }
  }

  private struct Collection {
    let key: [UInt8]
    let isOfKeys: Bool
    let members: [Member]
  }

  init(_ sink: any ByteSink, _ layout: WrittenFormat.Layout, isOfLines: Bool) throws {
    self.sink = sink
    self.isOfLines = isOfLines
    members = Member.of(layout.columns)
    collections = layout.collections.enumerated().map { index, collection in
      Collection(
        key: Member.key(collection.name, isFirst: index == 0 && layout.columns.isEmpty), isOfKeys: collection.isOfKeys,
        members: Member.of(collection.columns))
    }
    if !isOfLines { buffer.append(UInt8(ascii: "[")) }
  }

  func write(_ values: ContiguousArray<Value>, _ collected: [[ContiguousArray<Value>]]) throws {
    if !isOfLines { buffer.append(count == 0 ? "\n" as StaticString : ",\n" as StaticString) }
    count += 1
    buffer.append(UInt8(ascii: "{"))
    try append(values, members)
    for (index, collection) in collections.enumerated() {
      collection.key.withUnsafeBufferPointer { buffer.append($0) }
      try append(collected[index], collection)
    }
    buffer.append(UInt8(ascii: "}"))
    if isOfLines { buffer.append(UInt8(ascii: "\n")) }
    if buffer.count >= Self.flushAt { try flush() }
  }

  func finish() throws {
    if !isOfLines { buffer.append(count == 0 ? "]\n" as StaticString : "\n]\n" as StaticString) }
    try flush()
    try sink.finish()
  }

  private func flush() throws {
    try sink.write(buffer.bytes)
    buffer.removeAll()
  }

  private func append(_ values: ContiguousArray<Value>, _ members: [Member]) throws(WriterError) {
    for index in members.indices {
      members[index].key.withUnsafeBufferPointer { buffer.append($0) }
      try append(values[index], of: members[index].column)
    }
  }

  private func append(_ records: [ContiguousArray<Value>], _ collection: Collection) throws(WriterError) {
    buffer.append(UInt8(ascii: "["))
    for (index, record) in records.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      if collection.isOfKeys {
        try append(record[0], of: collection.members[0].column)
      } else {
        buffer.append(UInt8(ascii: "{"))
        try append(record, collection.members)
        buffer.append(UInt8(ascii: "}"))
      }
    }
    buffer.append(UInt8(ascii: "]"))
  }

  private func append(_ value: Value, of column: WrittenColumn) throws(WriterError) {
    switch value {
    case .null, .unresolved: buffer.append("null" as StaticString)
    case .string(let text): buffer.append(quoted: text)
    case .uri(let uri): buffer.append(quoted: uri.absoluteString)
    case .int, .bool: try buffer.append(value, of: column)
    case .double(let number) where number.isFinite: try buffer.append(value, of: column)
    case .decimal(let number) where !number.isNaN: try buffer.append(value, of: column)
    case .data where column.isJSON: try buffer.append(value, of: column)
    case .date(let date):
      if case .unix = column.dates { return try buffer.append(date, of: column) }
      if case .pattern = column.dates { return try appendQuoted(value, of: column) }
      fallthrough
    default:
      // The text of these has nothing that JSON would have to escape.
      buffer.append(UInt8(ascii: "\""))
      try buffer.append(value, of: column)
      buffer.append(UInt8(ascii: "\""))
    }
  }

  private func appendQuoted(_ value: Value, of column: WrittenColumn) throws(WriterError) {
    let text = TextBuffer(capacity: 64)
    try text.append(value, of: column)
    buffer.append(quoted: String(decoding: text.bytes, as: UTF8.self))
  }
}

extension TextBuffer {
  /// A text as a JSON string.
  func append(quoted text: String) {
    var text = text
    text.withUTF8 { append(quoted: $0) }
  }

  /// A text in UTF-8 as a JSON string.
  func append(quoted bytes: UnsafeBufferPointer<UInt8>) {
    append(UInt8(ascii: "\""))
    var isSpecial = false
    for byte in bytes { isSpecial = isSpecial || JSONString.needsEscape(byte) }
    if isSpecial {
      for byte in bytes {
        if JSONString.needsEscape(byte) { JSONString.escape(byte) { append($0) } } else { append(byte) }
      }
    } else {
      append(bytes)
    }
    append(UInt8(ascii: "\""))
  }
}
