/// Writes Parquet files that no program writes: a structure of Thrift's compact protocol, field by field.
struct ThriftBytes {
  private var bytes: [UInt8] = []
  private var last = 0

  static func varint(_ number: UInt64) -> [UInt8] {
    var (bytes, rest): ([UInt8], UInt64) = ([], number)
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  private func field(_ number: Int, _ type: UInt8, _ value: [UInt8]) -> ThriftBytes {
    var next = self
    // Fields are in order, and fewer than 15 apart.
    next.bytes += [UInt8(number - last) << 4 | type] + value
    next.last = number
    return next
  }

  private static func zigzag(_ number: Int64) -> [UInt8] { varint(UInt64(bitPattern: number << 1 ^ number >> 63)) }

  func i32(_ number: Int, _ value: Int64) -> ThriftBytes { field(number, 5, Self.zigzag(value)) }
  func i64(_ number: Int, _ value: Int64) -> ThriftBytes { field(number, 6, Self.zigzag(value)) }
  func text(_ number: Int, _ value: String) -> ThriftBytes {
    field(number, 8, Self.varint(UInt64(value.utf8.count)) + Array(value.utf8))
  }
  func structure(_ number: Int, _ value: ThriftBytes) -> ThriftBytes { field(number, 12, value.ended) }
  func list(_ number: Int, _ values: [ThriftBytes]) -> ThriftBytes {
    field(number, 9, [0xFC] + Self.varint(UInt64(values.count)) + values.flatMap(\.ended))
  }

  var ended: [UInt8] { bytes + [0] }
}

enum HostileParquet {
  enum Repetition: Int64 { case required, optional, repeated }

  /// An element of the schema.
  static func element(
    _ name: String, _ repetition: Repetition? = nil, type: Int64? = nil, children: Int64? = nil, converted: Int64? = nil
  ) -> ThriftBytes {
    var element = ThriftBytes()
    if let type { element = element.i32(1, type) }
    if let repetition { element = element.i32(3, repetition.rawValue) }
    element = element.text(4, name)
    if let children { element = element.i32(5, children) }
    if let converted { element = element.i32(6, converted) }
    return element
  }

  /// A row group of one column of 64-bit numbers, whose pages begin behind the signature.
  static func group(bytes: Int, values: Int64, rows: Int64, type: Int64 = 2, chunks: Int = 1) -> ThriftBytes {
    let column = ThriftBytes().i32(1, type).i32(4, 0).i64(5, values).i64(6, Int64(bytes)).i64(7, Int64(bytes)).i64(9, 4)
    let chunk = ThriftBytes().i64(2, 0).structure(3, column)
    return ThriftBytes().list(1, Array(repeating: chunk, count: chunks)).i64(2, Int64(bytes)).i64(3, rows)
  }

  /// A file of one column, whose required values are in one page.
  static func column(type: Int64, converted: Int64? = nil, _ values: [[UInt8]]) -> [UInt8] {
    let body = values.flatMap { $0 }
    let (size, count) = (Int64(body.count), Int64(values.count))
    let details = ThriftBytes().i32(1, count).i32(2, 0).i32(3, 3).i32(4, 3)
    let page = ThriftBytes().i32(1, 0).i32(2, size).i32(3, size).structure(5, details).ended + body
    return file(
      [element("r", children: 1), element("a", .required, type: type, converted: converted)],
      [group(bytes: page.count, values: count, rows: count, type: type)], rows: count, pages: page)
  }

  static func file(_ schema: [ThriftBytes], _ groups: [ThriftBytes] = [], rows: Int64 = 0, pages: [UInt8] = [])
    -> [UInt8]
  {
    let footer = ThriftBytes().i32(1, 1).list(2, schema).i64(3, rows).list(4, groups).ended
    let length = withUnsafeBytes(of: UInt32(footer.count).littleEndian) { Array($0) }
    return Array("PAR1".utf8) + pages + footer + length + Array("PAR1".utf8)
  }

  static let number = [element("r", children: 1), element("a", .required, type: 2)]

  static let mapWithoutValue = file(
    [
      element("r", children: 1), element("m", .optional, children: 1, converted: 1),
      element("key_value", .repeated, children: 2), element("key", .required, type: 6),
    ], pages: [UInt8](repeating: 0, count: 8))

  static let listWithoutElement = file(
    [
      element("r", children: 1), element("l", .optional, children: 1, converted: 3),
      element("list", .repeated, children: 1),
    ], pages: [UInt8](repeating: 0, count: 8))

  /// Lengths of levels whose sum is too large for a number.
  static var levelsOverflow: [UInt8] {
    let details = ThriftBytes().i32(1, 1).i32(2, 0).i32(3, 1).i32(4, 0).i64(5, .max).i64(6, 1)
    let page = ThriftBytes().i32(1, 3).i32(2, 4).i32(3, 4).structure(8, details).ended + [1, 0, 0, 0]
    return file(number, [group(bytes: page.count, values: 1, rows: 1)], rows: 1, pages: page)
  }

  /// A group's name is repeated in the path of each of its columns.
  static var longPaths: [UInt8] {
    let columns = (0..<5_000).map { element("\($0)", .required, type: 2) }
    return file(
      [element("r", children: 1), element(String(repeating: "g", count: 600_000), .required, children: 5_000)] + columns
    )
  }

  /// One record, whose list has 2^40 nulls.
  static var endlessList: [UInt8] {
    let (runs, length): (UInt64, UInt64) = (64, 1 << 34 - 1)
    let values = Int64(1 + runs * length)
    func run(_ count: UInt64, _ level: UInt8) -> [UInt8] { ThriftBytes.varint(count << 1) + [level] }
    func levels(_ bytes: [UInt8]) -> [UInt8] {
      withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) } + bytes
    }
    let body =
      levels(run(1, 0) + (0..<runs).flatMap { _ in run(length, 1) })
      + levels((0..<runs).flatMap { _ in run(length, 2) } + run(1, 2))
    let details = ThriftBytes().i64(1, values).i32(2, 0).i32(3, 3).i32(4, 3)
    let page =
      ThriftBytes().i32(1, 0).i32(2, Int64(body.count)).i32(3, Int64(body.count)).structure(5, details).ended + body
    return file(
      [
        element("r", children: 1), element("l", .optional, children: 1, converted: 3),
        element("list", .repeated, children: 1), element("element", .optional, type: 2),
      ], [group(bytes: page.count, values: values, rows: 1)], rows: 1, pages: page)
  }

  /// Pages of zeros: headers without a kind.
  static let zeros = file(
    number, [group(bytes: 1 << 20, values: 1, rows: 1)], rows: 1, pages: [UInt8](repeating: 0, count: 1 << 20))

  /// A chunk of another type than its column.
  static let otherType = file(
    number, [group(bytes: 8, values: 1, rows: 1, type: 5)], rows: 1, pages: [UInt8](repeating: 0, count: 8))

  static let manyChunks = file(
    number, [group(bytes: 8, values: 1, rows: 1, chunks: 100_000)], rows: 1, pages: [UInt8](repeating: 0, count: 8))
}
