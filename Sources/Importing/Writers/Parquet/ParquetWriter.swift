import Foundation
import ManagedObjects

/// Writes a Parquet file of typed columns. To-many relationships are lists, of keys or of objects. What is kept in memory is a
/// row group, and of those before what the footer says of them.
///
/// A decimal column has one number of digits after the point in the whole file, so the records are surveyed before the first
/// is written. One whose numbers need more than 38 digits together is a column of texts, which other programs read, too.
final class ParquetWriter: RecordWriter {
  private let file: AtomicFile
  private let layout: WrittenFormat.Layout
  private let codec: WrittenCodec
  private var columns: [Column]
  private var collections: [[Column]]
  private var output: ParquetFileWriter?
  private let scratch = TextBuffer(capacity: 1 << 10)

  /// A column, and the digits of its numbers.
  private struct Column {
    let column: WrittenColumn
    var wholeDigits = 0
    var fraction = 0
    var hasOther = false

    var isDecimal: Bool { column.type == .decimal }
    /// Whether its decimals are written as texts.
    var isText: Bool { hasOther || wholeDigits + fraction > DecimalDigits.limit }
    /// Whether they fit numbers of 64 bits.
    var isShort: Bool { wholeDigits + fraction <= 18 }
  }

  init(_ file: AtomicFile, _ layout: WrittenFormat.Layout, compression: WrittenCompression?) {
    self.file = file
    self.layout = layout
    switch compression {
    case nil: codec = .snappy
    case .gzip: codec = .gzip
    case .zstd: codec = .zstd
    }
    columns = layout.columns.map { Column(column: $0) }
    collections = layout.collections.map { collection in collection.columns.map { Column(column: $0) } }
  }

  // MARK: The survey

  var needsSurvey: Bool { columns.contains(where: \.isDecimal) || collections.joined().contains(where: \.isDecimal) }

  func survey(_ values: ContiguousArray<Value>, _ collected: [[ContiguousArray<Value>]]) throws {
    for index in columns.indices where columns[index].isDecimal { Self.note(values[index], of: &columns[index]) }
    for place in collections.indices {
      for index in collections[place].indices where collections[place][index].isDecimal {
        for record in collected[place] { Self.note(record[index], of: &collections[place][index]) }
      }
    }
  }

  private static func note(_ value: Value, of column: inout Column) {
    guard case .decimal(let number) = value else { return }
    guard let digits = DecimalDigits(number) else {
      column.hasOther = true
      return
    }
    column.wholeDigits = max(column.wholeDigits, digits.whole)
    column.fraction = max(column.fraction, digits.fraction)
  }

  // MARK: Records

  func write(_ values: ContiguousArray<Value>, _ collected: [[ContiguousArray<Value>]]) throws {
    let output = try opened()
    var next = 0
    for index in columns.indices {
      try append(values[index], of: columns[index], to: output.chunks[next], absent: 0)
      next += 1
    }
    for place in collections.indices {
      let inner = collections[place]
      for index in inner.indices {
        let chunk = output.chunks[next + index]
        if collected[place].isEmpty { chunk.appendAbsent(at: 0) }
        for (number, record) in collected[place].enumerated() {
          try append(record[index], of: inner[index], to: chunk, number == 0 ? 0 : 1, absent: 1)
        }
      }
      next += inner.count
    }
    try output.endRecord()
  }

  func finish() throws { try opened().finish() }

  private func opened() throws -> ParquetFileWriter {
    if let output { return output }
    var elements: [ParquetFileWriter.Element] = columns.map { column in
      .init(name: column.column.name, repetition: .optional, kind: .column(type(of: column)))
    }
    for (collection, inner) in zip(layout.collections, collections) {
      elements.append(.init(name: collection.name, repetition: .required, kind: .group(children: 1, isList: true)))
      elements.append(.init(name: "list", repetition: .repeated, kind: .group(children: 1, isList: false)))
      if collection.isOfKeys {
        elements.append(.init(name: "element", repetition: .optional, kind: .column(type(of: inner[0]))))
      } else {
        elements.append(
          .init(name: "element", repetition: .required, kind: .group(children: inner.count, isList: false)))
        elements += inner.map { column in
          .init(name: column.column.name, repetition: .optional, kind: .column(type(of: column)))
        }
      }
    }
    let file = file
    let made = try ParquetFileWriter(root: layout.title, elements, codec) { try file.write($0) }
    output = made
    return made
  }

  private func type(of column: Column) -> WrittenType {
    switch column.column.type {
    case .integer16: WrittenType(physical: .int32, width: 4, annotation: .integer(bits: 16))
    case .integer32: WrittenType(physical: .int32, width: 4, annotation: .integer(bits: 32))
    case .integer64, nil: WrittenType(physical: .int64, width: 8, annotation: .integer(bits: 64))
    case .double: WrittenType(physical: .double, width: 8, annotation: .none)
    case .float: WrittenType(physical: .float, width: 4, annotation: .none)
    case .boolean: WrittenType(physical: .boolean, width: 1, annotation: .none)
    case .date: WrittenType(physical: .int64, width: 8, annotation: .timestamp)
    case .uuid: WrittenType(physical: .fixed, width: 16, annotation: .uuid)
    case .decimal: decimal(column)
    case .binaryData: WrittenType(physical: .bytes, width: 0, annotation: .none)
    case .transformable:
      WrittenType(physical: .bytes, width: 0, annotation: column.column.isJSON ? .json : .none)
    case .string, .uri, .objectID, .composite, .undefined:
      WrittenType(physical: .bytes, width: 0, annotation: .text)
    }
  }

  private func decimal(_ column: Column) -> WrittenType {
    if column.isText { return WrittenType(physical: .bytes, width: 0, annotation: .text) }
    let precision = max(1, column.wholeDigits + column.fraction)
    let annotation = WrittenType.Annotation.decimal(precision: precision, scale: column.fraction)
    return column.isShort
      ? WrittenType(physical: .int64, width: 8, annotation: annotation)
      : WrittenType(physical: .fixed, width: 16, annotation: annotation)
  }

  // MARK: Values

  private func append(
    _ value: Value, of column: Column, to chunk: ChunkWriter, _ repetition: Int = 0, absent: Int
  ) throws(WriterError) {
    switch (column.column.type, value) {
    case (_, .null), (_, .unresolved): chunk.appendAbsent(repetition, at: absent)
    case (.boolean, .bool(let flag)): chunk.append(flag: flag, repetition)
    case (.integer16, .int(let number)), (.integer32, .int(let number)):
      guard let small = Int32(exactly: number) else { throw misfit(value, column) }
      withUnsafeBytes(of: small.littleEndian) { chunk.append($0, repetition) }
    case (.integer64, .int(let number)), (nil, .int(let number)):
      withUnsafeBytes(of: number.littleEndian) { chunk.append($0, repetition) }
    case (.double, .double(let number)):
      withUnsafeBytes(of: number.bitPattern.littleEndian) { chunk.append($0, repetition) }
    case (.float, .double(let number)):
      withUnsafeBytes(of: Float(number).bitPattern.littleEndian) { chunk.append($0, repetition) }
    case (.date, .date(let date)):
      guard let microseconds = ISODate.microseconds(of: date) else { throw misfit(value, column) }
      withUnsafeBytes(of: microseconds.littleEndian) { chunk.append($0, repetition) }
    case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { chunk.append($0, repetition) }
    case (.decimal, .decimal(let number)) where !column.isText:
      guard let unscaled = DecimalDigits(number)?.unscaled(column.fraction) else { throw misfit(value, column) }
      if column.isShort {
        withUnsafeBytes(of: Int64(truncatingIfNeeded: unscaled).littleEndian) { chunk.append($0, repetition) }
      } else {
        withUnsafeBytes(of: unscaled.bigEndian) { chunk.append($0, repetition) }
      }
    case (.binaryData, .data(let data)), (.transformable, .data(let data)):
      data.withUnsafeBytes { chunk.append($0, repetition) }
    case (.string, .string(var text)):
      text.withUTF8 { chunk.append(UnsafeRawBufferPointer($0), repetition) }
    case (.string, _), (.uri, _), (.objectID, _), (.composite, _), (.undefined, _), (.decimal, .decimal):
      scratch.removeAll()
      try scratch.append(value, of: column.column)
      chunk.append(scratch.bytes, repetition)
    default: throw misfit(value, column)
    }
  }

  private func misfit(_ value: Value, _ column: Column) -> WriterError {
    .noForm(
      column: column.column.name, format: "parquet",
      reason:
        "“\(value.plainText.shown)” isn't a value of the column's type: leave it out, or export it in another format")
  }
}

/// The digits of a decimal number.
private struct DecimalDigits {
  private let isNegative: Bool
  private let text: [UInt8]
  /// The number of digits before the point, without zeros in front, and after it.
  let whole: Int
  let fraction: Int

  static let limit = 38

  /// nil if it isn't a number.
  init?(_ number: Decimal) {
    var bytes = Array(number.description.utf8)
    isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { bytes.removeFirst() }
    let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.count
    let (front, back) = (bytes[..<point], bytes[min(point + 1, bytes.count)...])
    guard !number.isNaN, !front.isEmpty, (front + back).allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    let plain = front.drop { $0 == 0x30 }
    text = Array(plain) + back
    whole = plain.count
    fraction = back.count
  }

  /// The number, scaled to a whole one by a power of ten; nil if it has more digits after the point than that.
  func unscaled(_ scale: Int) -> Int128? {
    guard fraction <= scale, whole + scale <= Self.limit else { return nil }
    var value: Int128 = 0
    for digit in text { value = value * 10 + Int128(digit & 15) }
    for _ in fraction..<scale { value *= 10 }
    return isNegative ? -value : value
  }
}
