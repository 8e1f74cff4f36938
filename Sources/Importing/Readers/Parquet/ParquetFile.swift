import Glibc
import ManagedObjects

/// A Parquet file: its schema, and where its row groups stand. Of the footer, its bytes are kept; a row group's part is read
/// when the group is.
final class ParquetFile {
  let size: Int64
  let rows: Int64
  let schema: ParquetSchema
  private let descriptor: Int32
  private let footer: UnsafeMutableBufferPointer<UInt8>
  /// Where the footer has the row groups, and the rows of each.
  private let groups: [(offset: Int, rows: Int64)]

  static let signature = Array("PAR1".utf8)
  /// What a file with an encrypted footer begins with.
  static let encryptedSignature = Array("PARE".utf8)
  private static let footerLimit: Int64 = 64 << 20
  private static let groupLimit = 1 << 20

  /// The caller keeps the descriptor.
  init(descriptor: Int32, binaryAsText: Bool) throws(ParquetError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .cannotRead(errno: errno) }
    self.descriptor = descriptor
    size = Int64(status.st_size)
    guard size >= 12 else { throw .malformed(part: "the footer", what: "the file is too short") }
    let end = try Self.bytes(descriptor, at: size - 8, count: 8)
    defer { end.deallocate() }
    let mark = Array(end[4...])
    if mark == Self.encryptedSignature { throw .encrypted }
    guard mark == Self.signature else {
      throw .malformed(part: "the footer", what: "the file doesn't end as such a file does; it may be cut off")
    }
    let length = Int64(ParquetText.load32(UnsafeBufferPointer(end)))
    guard length <= size - 12 else { throw .malformed(part: "the footer", what: "it is longer than the file") }
    guard length <= Self.footerLimit else {
      throw .tooLarge(part: "the footer", bytes: length, limit: Self.footerLimit)
    }
    footer = try Self.bytes(descriptor, at: size - 8 - length, count: Int(length))
    var parsed: Footer
    do throws(ThriftReader.Mistake) {
      parsed = try Footer(UnsafeBufferPointer(footer))
    } catch {
      footer.deallocate()
      throw .malformed(part: "the footer", what: "it can't be read")
    }
    do throws(ParquetError) {
      if parsed.isEncrypted { throw .encrypted }
      var rows: Int64 = 0
      for group in parsed.groups {
        let (sum, overflows) = rows.addingReportingOverflow(group.rows)
        guard group.rows >= 0, !overflows else {
          throw .malformed(part: "the footer", what: "a row group's rows are wrong")
        }
        rows = sum
      }
      guard rows == parsed.rows else {
        throw .malformed(part: "the footer", what: "it says \(parsed.rows) rows, and the row groups have \(rows)")
      }
      self.rows = rows
      groups = parsed.groups
      schema = try ParquetSchema(parsed.elements, binaryAsText: binaryAsText)
    } catch {
      footer.deallocate()
      throw error
    }
  }

  deinit { footer.deallocate() }

  var groupCount: Int { groups.count }

  func rows(ofGroup index: Int) -> Int64 { groups[index].rows }

  /// The columns of a row group.
  func cursors(ofGroup index: Int, _ memory: PageMemory) throws(ParquetError) -> [ColumnCursor] {
    let part = "the footer"
    guard let base = footer.baseAddress else { throw .malformed(part: part, what: "it is empty") }
    let offset = groups[index].offset
    var reader = ThriftReader(base + offset, count: footer.count - offset)
    let group: ParquetRowGroup
    do throws(ThriftReader.Mistake) {
      group = try ParquetRowGroup(&reader, columns: schema.leaves.count)
    } catch {
      throw .malformed(part: part, what: "row group \(index + 1) can't be read")
    }
    if group.isEncrypted { throw .encrypted }
    guard !group.isElsewhere else {
      throw .unsupported(what: "it is kept in another file", column: schema.columns[0].name)
    }
    guard group.chunks.count == schema.leaves.count else {
      throw .malformed(
        part: part, what: "row group \(index + 1) has \(group.chunks.count) columns of \(schema.leaves.count)")
    }
    var cursors: [ColumnCursor] = []
    var bytes: Int64 = 0
    for (leaf, chunk) in zip(schema.leaves, group.chunks) {
      guard chunk.type ?? leaf.physical.rawValue == leaf.physical.rawValue, chunk.path ?? leaf.name == leaf.name else {
        throw .malformed(
          part: part, what: "row group \(index + 1) has other columns than the schema, or in another order")
      }
      guard chunk.start >= 4, chunk.size >= 0, chunk.start <= size, chunk.size <= size - chunk.start, chunk.values >= 0,
        leaf.repetition > 0 || chunk.values == group.rows
      else {
        throw .malformed(
          part: "the column “\(leaf.name)” of row group \(index + 1)", what: "its place or size is wrong")
      }
      bytes += chunk.size
      guard bytes <= size else {
        throw .malformed(part: part, what: "the columns of row group \(index + 1) are larger than the file")
      }
      cursors.append(try ColumnCursor(self, leaf, chunk, group: index, memory))
    }
    return cursors
  }

  /// Reads bytes, all of which have to be there.
  func read(at offset: Int64, into target: UnsafeMutableBufferPointer<UInt8>) throws(ParquetError) {
    try Self.read(descriptor, at: offset, into: target)
  }

  private static func bytes(
    _ descriptor: Int32, at offset: Int64, count: Int
  ) throws(ParquetError) -> UnsafeMutableBufferPointer<UInt8> {
    let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
    do throws(ParquetError) {
      try read(descriptor, at: offset, into: memory)
    } catch {
      memory.deallocate()
      throw error
    }
    return memory
  }

  private static func read(
    _ descriptor: Int32, at offset: Int64, into target: UnsafeMutableBufferPointer<UInt8>
  ) throws(ParquetError) {
    // `Interruption.limit` throws `Interrupted` in its place.
    if Interruption.isRequested { throw .cannotRead(errno: ECANCELED) }
    var filled = 0
    while filled < target.count {
      let got = pread(
        descriptor, target.baseAddress.map { $0 + filled }, target.count - filled, off_t(offset + Int64(filled)))
      if got < 0 {
        if errno == EINTR { continue }
        throw .cannotRead(errno: errno)
      }
      guard got > 0 else { throw .malformed(part: "its pages", what: "the file ends before them") }
      filled += got
    }
  }

  /// What the footer says, but for the row groups' columns.
  private struct Footer {
    private(set) var elements: [ParquetSchemaElement] = []
    private(set) var rows: Int64 = 0
    private(set) var groups: [(offset: Int, rows: Int64)] = []
    private(set) var isEncrypted = false

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ThriftReader.Mistake) {
      guard let base = bytes.baseAddress else { throw .truncated }
      var reader = ThriftReader(base, count: bytes.count)
      var (elements, rows, isEncrypted): ([ParquetSchemaElement], Int64, Bool) = ([], 0, false)
      var groups: [(offset: Int, rows: Int64)] = []
      try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
        switch field {
        case 2:
          guard type == .list else { throw .malformed }
          let (element, count) = try reader.list()
          guard elements.isEmpty, element == .structure, count <= 4 * ParquetSchema.columnLimit + 1 else {
            throw .malformed
          }
          for _ in 0..<count { elements.append(try ParquetSchemaElement(&reader)) }
          return true
        case 3:
          rows = try reader.integer(type)
          return true
        case 4:
          guard type == .list else { throw .malformed }
          let (element, count) = try reader.list()
          guard groups.isEmpty, element == .structure || count == 0, count <= ParquetFile.groupLimit else {
            throw .malformed
          }
          for _ in 0..<count {
            let offset = reader.place - base
            var rows: Int64 = 0
            try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
              guard field == 3 else { return false }
              rows = try reader.integer(type)
              return true
            }
            groups.append((offset, rows))
          }
          return true
        case 8:
          isEncrypted = true
          return false
        default: return false
        }
      }
      (self.elements, self.rows, self.groups, self.isEncrypted) = (elements, rows, groups, isEncrypted)
    }
  }
}
