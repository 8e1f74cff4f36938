/// A column of the file: its type, and the levels at which its values stand.
struct ParquetLeaf {
  enum Physical: Int64 {
    case boolean = 0, int32, int64, int96, float, double, bytes, fixed
  }

  /// What a value means.
  enum Meaning: Equatable {
    case boolean
    case signed(bits: Int)
    case unsigned(bits: Int)
    case float16, float, double
    case decimal(scale: Int)
    case date
    case time(perSecond: Int64)
    case timestamp(perSecond: Int64, isUTC: Bool)
    /// Nanoseconds and a Julian day.
    case int96
    case text, binary, uuid, interval
  }

  let physical: Physical
  let meaning: Meaning
  /// The bytes of a value; 0 where values differ.
  let width: Int
  let repetition: UInt32
  let definition: UInt32
  /// Its path in the schema, for messages.
  let name: String
  let decimalPrecision: Int

  private static let decimalBytes = 64
  static let decimalDigits = 154

  init(
    _ element: ParquetSchemaElement, _ path: [String], _ repetition: Int, _ definition: Int, binaryAsText: Bool
  ) throws(ParquetError) {
    name = path.joined(separator: ".")
    self.repetition = UInt32(repetition)
    self.definition = UInt32(definition)
    decimalPrecision = Int(clamping: element.precision)
    guard let physical = element.type.flatMap(Physical.init) else {
      throw .unsupported(what: "its type \(element.type ?? -1) isn't known", column: name)
    }
    self.physical = physical
    switch physical {
    case .boolean: width = 1
    case .int32, .float: width = 4
    case .int64, .double: width = 8
    case .int96: width = 12
    case .bytes: width = 0
    case .fixed:
      guard element.typeLength > 0, element.typeLength <= 1 << 20 else {
        throw .malformed(part: "the schema", what: "“\(name)” has values of \(element.typeLength) bytes")
      }
      width = Int(element.typeLength)
    }
    guard let meaning = Self.meaning(element, physical, width, binaryAsText) else {
      throw .unsupported(what: "its type isn't one that is known, or doesn't fit how it is stored", column: name)
    }
    self.meaning = meaning
  }

  /// What an annotation means for a type; nil if it can't be.
  private static func meaning(
    _ element: ParquetSchemaElement, _ physical: Physical, _ width: Int, _ binaryAsText: Bool
  ) -> Meaning? {
    if element.isInterval { return physical == .fixed && width == 12 ? .interval : nil }
    let isWhole = physical == .int32 || physical == .int64
    let isBytes = physical == .bytes || physical == .fixed
    switch element.annotation {
    case .integer(let bits, let isSigned):
      guard isWhole, [8, 16, 32, 64].contains(bits) else { return nil }
      return isSigned ? .signed(bits: Int(bits)) : .unsigned(bits: Int(bits))
    case .decimal(let scale):
      guard isWhole || (isBytes && width <= decimalBytes), (0...Int64(decimalDigits)).contains(scale) else {
        return nil
      }
      return .decimal(scale: Int(scale))
    case .date: return physical == .int32 ? .date : nil
    case .time(let unit):
      return physical == (unit == .milliseconds ? .int32 : .int64) ? .time(perSecond: unit.rawValue) : nil
    case .timestamp(let unit, let isUTC):
      return physical == .int64 ? .timestamp(perSecond: unit.rawValue, isUTC: isUTC) : nil
    case .string, .enumeration, .json: return isBytes ? .text : nil
    case .uuid: return physical == .fixed && width == 16 ? .uuid : nil
    case .float16: return physical == .fixed && width == 2 ? .float16 : nil
    case .other: return nil
    case .bson, .null, .list, .map, nil:
      switch physical {
      case .boolean: return .boolean
      case .int32: return .signed(bits: 32)
      case .int64: return .signed(bits: 64)
      case .int96: return .int96
      case .float: return .float
      case .double: return .double
      case .bytes, .fixed: return binaryAsText && element.annotation == nil ? .text : .binary
      }
    }
  }
}
