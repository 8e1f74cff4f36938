/// Writes a Parquet file, column by column of each row group. For one thread.
final class ParquetFileWriter {
  /// A group or a column of the schema.
  struct Element {
    enum Kind {
      case column(WrittenType)
      case group(children: Int, isList: Bool)
    }
    enum Repetition: Int { case required = 0, optional, repeated }

    let name: String
    let repetition: Repetition
    let kind: Kind
  }

  private let put: (UnsafeRawBufferPointer) throws -> Void
  private let packer: PagePacker
  private let elements: [Element]
  /// The path of each column.
  private let paths: [[String]]
  let chunks: [ChunkWriter]
  private var place: Int64 = 0
  private var rows: Int64 = 0
  private var rowsInGroup = 0
  /// The row groups so far, as the footer has them.
  private var groups: [UInt8] = []
  private var groupCount = 0

  private static let groupRows = 131_072
  private static let groupBytes = 32 << 20
  private static let looks = 64

  /// - Parameters:
  ///   - root: the name of the records.
  ///   - elements: the schema below it, in the order of a walk through it.
  ///   - put: writes bytes at the end of the file.
  init(
    root: String, _ elements: [Element], _ codec: WrittenCodec, put: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    self.put = put
    packer = PagePacker(codec)
    var (chunks, paths): ([ChunkWriter], [[String]]) = ([], [])
    var next = 0
    func walk(_ path: [String], _ repetition: Int, _ definition: Int) -> Bool {
      guard next < elements.count else { return false }
      let element = elements[next]
      next += 1
      let path = path + [element.name]
      let repetition = repetition + (element.repetition == .repeated ? 1 : 0)
      let definition = definition + (element.repetition == .required ? 0 : 1)
      switch element.kind {
      case .column(let type):
        chunks.append(ChunkWriter(type, repetition: repetition, definition: definition))
        paths.append(path)
        return true
      case .group(let children, _): return (0..<children).allSatisfy { _ in walk(path, repetition, definition) }
      }
    }
    var top = 0
    while next < elements.count {
      top += 1
      guard walk([], 0, 0) else { throw WriterError.packing(reason: "a group of the schema has no columns") }
    }
    self.elements =
      [Element(name: root, repetition: .required, kind: .group(children: top, isList: false))] + elements
    (self.chunks, self.paths) = (chunks, paths)
    try write(ParquetFile.signature)
  }

  /// A record ends, whose values were appended to the chunks.
  func endRecord() throws {
    var hasEndedPage = false
    for chunk in chunks where chunk.endRecord() { hasEndedPage = true }
    rowsInGroup += 1
    rows += 1
    guard hasEndedPage || rowsInGroup % Self.looks == 0 else { return }
    if rowsInGroup >= Self.groupRows || chunks.reduce(0, { $0 + $1.held }) >= Self.groupBytes { try endGroup() }
  }

  /// Writes what is left, and the footer.
  func finish() throws {
    if rowsInGroup > 0 { try endGroup() }
    var footer = ThriftWriter()
    footer.structure { footer in
      footer.i32(1, 2)
      footer.list(2, of: .structure, count: elements.count)
      for element in elements { Self.write(element, to: &footer) }
      footer.i64(3, rows)
      footer.list(4, of: .structure, count: groupCount)
      footer.raw(groups)
      footer.binary(6, "Lade".utf8)
      // The order of each column's values is that of its type.
      footer.list(7, of: .structure, count: chunks.count)
      for _ in chunks { footer.structure { $0.structure(1) { _ in } } }
    }
    try write(footer.bytes)
    let length = UInt32(footer.bytes.count)
    try write((0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(8 * $0)) } + ParquetFile.signature)
  }

  private func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try put($0) }
    place += Int64(bytes.count)
  }

  private func endGroup() throws {
    var written: [ChunkWriter.Written] = []
    let start = place
    for chunk in chunks {
      let one = try chunk.write(at: place, packer, put)
      place += one.packedBytes
      written.append(one)
    }
    var group = ThriftWriter()
    group.structure { group in
      group.list(1, of: .structure, count: chunks.count)
      for (index, one) in written.enumerated() {
        group.structure { column in
          column.i64(2, 0)
          column.structure(3) { write(one, of: index, to: &$0) }
        }
      }
      group.i64(2, written.reduce(0) { $0 + $1.unpackedBytes })
      group.i64(3, Int64(rowsInGroup))
      group.i64(5, start)
      group.i64(6, place - start)
    }
    groups += group.bytes
    groupCount += 1
    rowsInGroup = 0
  }

  private func write(_ one: ChunkWriter.Written, of index: Int, to meta: inout ThriftWriter) {
    let type = chunks[index].type
    meta.i32(1, Int(type.physical.rawValue))
    let encodings = one.hasDictionary ? [0, 3, 8] : [0, 3]
    meta.list(2, of: .i32, count: encodings.count)
    for encoding in encodings { meta.zigzag(Int64(encoding)) }
    meta.list(3, of: .binary, count: paths[index].count)
    for name in paths[index] { meta.text(element: name) }
    meta.i32(4, packer.codec.rawValue)
    meta.i64(5, Int64(one.values))
    meta.i64(6, one.unpackedBytes)
    meta.i64(7, one.packedBytes)
    meta.i64(9, one.start + one.dictionaryBytes)
    if one.hasDictionary { meta.i64(11, one.start) }
    meta.structure(12) { statistics in
      statistics.i64(3, Int64(one.nulls))
      if let greatest = one.greatest { statistics.binary(5, greatest) }
      if let least = one.least { statistics.binary(6, least) }
    }
  }

  private static func write(_ element: Element, to footer: inout ThriftWriter) {
    footer.structure { footer in
      if case .column(let type) = element.kind {
        footer.i32(1, Int(type.physical.rawValue))
        if type.physical == .fixed { footer.i32(2, type.width) }
      }
      footer.i32(3, element.repetition.rawValue)
      footer.binary(4, element.name.utf8)
      switch element.kind {
      case .group(let children, let isList):
        footer.i32(5, children)
        guard isList else { return }
        footer.i32(6, 3)
        footer.structure(10) { $0.structure(3) { _ in } }
      case .column(let type): write(type.annotation, to: &footer)
      }
    }
  }

  /// The annotation, in its older form, too.
  private static func write(_ annotation: WrittenType.Annotation, to footer: inout ThriftWriter) {
    switch annotation {
    case .none: break
    case .text:
      footer.i32(6, 0)
      footer.structure(10) { $0.structure(1) { _ in } }
    case .json:
      footer.i32(6, 19)
      footer.structure(10) { $0.structure(12) { _ in } }
    case .uuid: footer.structure(10) { $0.structure(14) { _ in } }
    case .timestamp:
      footer.i32(6, 10)
      footer.structure(10) { union in
        union.structure(8) { timestamp in
          timestamp.flag(1, true)
          timestamp.structure(2) { $0.structure(2) { _ in } }
        }
      }
    case .integer(let bits):
      footer.i32(6, [8: 15, 16: 16, 32: 17][bits] ?? 18)
      footer.structure(10) { union in
        union.structure(10) { integer in
          integer.i8(1, bits)
          integer.flag(2, true)
        }
      }
    case .decimal(let precision, let scale):
      footer.i32(6, 5)
      footer.i32(7, scale)
      footer.i32(8, precision)
      footer.structure(10) { union in
        union.structure(5) { decimal in
          decimal.i32(1, scale)
          decimal.i32(2, precision)
        }
      }
    }
  }
}
