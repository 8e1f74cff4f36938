/// An element of the schema, as the footer lists them: a tree, in the order of a walk through it.
struct ParquetSchemaElement {
  enum Repetition: Int64 { case required, optional, repeated }

  var name = ""
  /// The number of the physical type; nil for a group.
  var type: Int64?
  var typeLength: Int64 = 0
  var repetition: Repetition?
  var children: Int64 = 0
  var convertedType: Int64?
  var scale: Int64 = 0
  var precision: Int64 = 0
  var logicalType: LogicalType?

  /// The annotation of a type. Source: the Parquet format, `LogicalTypes.md`.
  enum LogicalType: Equatable {
    case string, map, list, enumeration, json, bson, uuid, float16, null, date
    case decimal(scale: Int64)
    case time(TimeUnit)
    case timestamp(TimeUnit, isUTC: Bool)
    case integer(bits: Int64, isSigned: Bool)
    /// One that isn't known: its number.
    case other(Int)
  }

  enum TimeUnit: Int64 {
    case milliseconds = 1_000
    case microseconds = 1_000_000
    case nanoseconds = 1_000_000_000
  }
}

extension ParquetSchemaElement {
  init(_ reader: inout ThriftReader) throws(ThriftReader.Mistake) {
    var made = ParquetSchemaElement()
    try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
      switch field {
      case 1: made.type = try reader.integer(type)
      case 2: made.typeLength = try reader.integer(type)
      case 3:
        guard let found = Repetition(rawValue: try reader.integer(type)) else { throw .malformed }
        made.repetition = found
      case 4: made.name = try reader.text(type)
      case 5: made.children = try reader.integer(type)
      case 6: made.convertedType = try reader.integer(type)
      case 7: made.scale = try reader.integer(type)
      case 8: made.precision = try reader.integer(type)
      case 10: made.logicalType = try LogicalType(&reader, type)
      default: return false
      }
      return true
    }
    self = made
  }

  /// The annotation, also where an older program wrote it in its older form.
  var annotation: LogicalType? {
    if let logicalType { return logicalType }
    switch convertedType {
    case 0: return .string
    case 1, 2: return .map
    case 3: return .list
    case 4: return .enumeration
    case 5: return .decimal(scale: scale)
    case 6: return .date
    case 7: return .time(.milliseconds)
    case 8: return .time(.microseconds)
    case 9: return .timestamp(.milliseconds, isUTC: true)
    case 10: return .timestamp(.microseconds, isUTC: true)
    case 11?: return .integer(bits: 8, isSigned: false)
    case 12?: return .integer(bits: 16, isSigned: false)
    case 13?: return .integer(bits: 32, isSigned: false)
    case 14?: return .integer(bits: 64, isSigned: false)
    case 15?: return .integer(bits: 8, isSigned: true)
    case 16?: return .integer(bits: 16, isSigned: true)
    case 17?: return .integer(bits: 32, isSigned: true)
    case 18?: return .integer(bits: 64, isSigned: true)
    case 19: return .json
    case 20: return .bson
    default: return nil
    }
  }

  /// Whether it is the older annotation of a time span, which has no newer form.
  var isInterval: Bool { logicalType == nil && convertedType == 21 }
}

extension ParquetSchemaElement.LogicalType {
  /// Reads the union: one field, whose number is that of the type.
  init?(_ reader: inout ThriftReader, _ type: ThriftReader.FieldType) throws(ThriftReader.Mistake) {
    guard type == .structure else { throw .malformed }
    var found: Self?
    try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
      guard type == .structure else { throw .malformed }
      switch field {
      case 5:
        var scale: Int64 = 0
        try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
          guard field == 1 else { return false }
          scale = try reader.integer(type)
          return true
        }
        found = .decimal(scale: scale)
        return true
      case 7, 8:
        let (unit, isUTC) = try Self.time(&reader)
        guard let unit else { throw .malformed }
        found = field == 7 ? .time(unit) : .timestamp(unit, isUTC: isUTC)
        return true
      case 10:
        var (bits, isSigned): (Int64, Bool) = (64, true)
        try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
          switch field {
          case 1: bits = try reader.integer(type)
          case 2: isSigned = try ThriftReader.flag(type)
          default: return false
          }
          return true
        }
        found = .integer(bits: bits, isSigned: isSigned)
        return true
      case 1: found = .string
      case 2: found = .map
      case 3: found = .list
      case 4: found = .enumeration
      case 6: found = .date
      case 11: found = .null
      case 12: found = .json
      case 13: found = .bson
      case 14: found = .uuid
      case 15: found = .float16
      default: found = .other(field)
      }
      return false
    }
    guard let found else { return nil }
    self = found
  }

  private static func time(
    _ reader: inout ThriftReader
  ) throws(ThriftReader.Mistake) -> (ParquetSchemaElement.TimeUnit?, Bool) {
    var (unit, isUTC): (ParquetSchemaElement.TimeUnit?, Bool) = (nil, false)
    try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
      switch field {
      case 1:
        isUTC = try ThriftReader.flag(type)
        return true
      case 2:
        guard type == .structure else { throw .malformed }
        try reader.structure { (field, _, _) throws(ThriftReader.Mistake) in
          unit = [1: .milliseconds, 2: .microseconds, 3: .nanoseconds][field]
          return false
        }
        return true
      default: return false
      }
    }
    return (unit, isUTC)
  }
}

/// A column's part of a row group: where its pages stand.
struct ParquetChunk {
  var codec: Int64 = 0
  var values: Int64 = 0
  /// The pages' range in the file.
  var start: Int64 = 0
  var size: Int64 = 0
  /// The number of the physical type, and the path in the schema; nil where they aren't said.
  var type: Int64?
  var path: String?
}

/// A row group: its rows, and a chunk for each leaf of the schema.
struct ParquetRowGroup {
  var rows: Int64 = 0
  var chunks: [ParquetChunk] = []
  /// Whether a column is in another file, or encrypted.
  private(set) var isElsewhere = false
  private(set) var isEncrypted = false

  /// - Parameter columns: how many chunks there are at most.
  init(_ reader: inout ThriftReader, columns: Int) throws(ThriftReader.Mistake) {
    var (rows, chunks, elsewhere, encrypted): (Int64, [ParquetChunk], Bool, Bool) = (0, [], false, false)
    try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
      switch field {
      case 1:
        guard type == .list else { throw .malformed }
        let (element, count) = try reader.list()
        guard chunks.isEmpty, element == .structure || count == 0, count <= columns else { throw .malformed }
        for _ in 0..<count {
          var chunk = ParquetChunk()
          try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
            switch field {
            case 1:
              if try !reader.text(type).isEmpty { elsewhere = true }
              return true
            case 3:
              guard type == .structure else { throw .malformed }
              chunk = try ParquetChunk(&reader)
              return true
            case 8, 9:
              encrypted = true
              return false
            default: return false
            }
          }
          chunks.append(chunk)
        }
        return true
      case 3:
        rows = try reader.integer(type)
        return true
      default: return false
      }
    }
    (self.rows, self.chunks, isElsewhere, isEncrypted) = (rows, chunks, elsewhere, encrypted)
  }
}

extension ParquetChunk {
  init(_ reader: inout ThriftReader) throws(ThriftReader.Mistake) {
    var made = ParquetChunk()
    var dictionary: Int64 = 0
    try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
      switch field {
      case 1: made.type = try reader.integer(type)
      case 3:
        guard type == .list else { throw .malformed }
        let (element, count) = try reader.list()
        guard element == .binary || count == 0 else { throw .malformed }
        var path = ""
        for place in 0..<count { path += (place == 0 ? "" : ".") + (try reader.text()) }
        made.path = path
      case 4: made.codec = try reader.integer(type)
      case 5: made.values = try reader.integer(type)
      case 7: made.size = try reader.integer(type)
      case 9: made.start = try reader.integer(type)
      case 11: dictionary = try reader.integer(type)
      default: return false
      }
      return true
    }
    // Some programs write 0 where there is none.
    if dictionary > 0 { made.start = min(made.start, dictionary) }
    self = made
  }
}

/// The header of a page.
struct ParquetPageHeader {
  enum Kind { case data, dataV2, dictionary, other }

  var kind = Kind.other
  var unpackedBytes: Int64 = 0
  var packedBytes: Int64 = 0
  var checksum: UInt32?
  var values: Int64 = 0
  var encoding: Int64 = 0
  /// The encodings of levels, of the first version.
  var definitionEncoding: Int64 = 3
  var repetitionEncoding: Int64 = 3
  /// Of the second version: the bytes of levels, which aren't compressed, and the rows.
  var definitionBytes: Int64 = 0
  var repetitionBytes: Int64 = 0
  var rows: Int64 = 0
  var isPacked = true

  init(_ reader: inout ThriftReader) throws(ThriftReader.Mistake) {
    var made = ParquetPageHeader()
    var (hasKind, hasDetails) = (false, false)
    try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
      switch field {
      case 1:
        hasKind = true
        switch try reader.integer(type) {
        case 0: made.kind = .data
        case 2: made.kind = .dictionary
        case 3: made.kind = .dataV2
        default: made.kind = .other
        }
      case 2: made.unpackedBytes = try reader.integer(type)
      case 3: made.packedBytes = try reader.integer(type)
      case 4: made.checksum = UInt32(truncatingIfNeeded: try reader.integer(type))
      case 5, 7:
        guard type == .structure else { throw .malformed }
        hasDetails = true
        try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
          switch field {
          case 1: made.values = try reader.integer(type)
          case 2: made.encoding = try reader.integer(type)
          case 3 where type != .yes && type != .no: made.definitionEncoding = try reader.integer(type)
          case 4: made.repetitionEncoding = try reader.integer(type)
          default: return false
          }
          return true
        }
      case 8:
        guard type == .structure else { throw .malformed }
        hasDetails = true
        try reader.structure { (field, type, reader) throws(ThriftReader.Mistake) in
          switch field {
          case 1: made.values = try reader.integer(type)
          case 3: made.rows = try reader.integer(type)
          case 4: made.encoding = try reader.integer(type)
          case 5: made.definitionBytes = try reader.integer(type)
          case 6: made.repetitionBytes = try reader.integer(type)
          case 7: made.isPacked = try ThriftReader.flag(type)
          default: return false
          }
          return true
        }
      default: return false
      }
      return true
    }
    guard hasKind, hasDetails || made.kind == .other else { throw .malformed }
    self = made
  }

  private init() {}
}
