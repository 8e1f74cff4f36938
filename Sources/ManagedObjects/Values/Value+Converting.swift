import Foundation

extension Value {
  /// Converts a number to another numeric type, truncating to whole ones; nil if it doesn't fit. Other values must fit as they
  /// are.
  func converted(to type: AttributeType) -> Value {
    switch (self, type) {
    case (.bool(let value), _) where type != .boolean: return Value.int(value ? 1 : 0).converted(to: type)
    case (.int(let value), .boolean): return .bool(value != 0)
    case (.int(let value), .double), (.int(let value), .float): return Value.double(Double(value)).converted(to: type)
    case (.int(let value), .decimal): return .decimal(Decimal(value))
    case (.double(let value), .float): return .double(Double(Float(value)))
    case (.double(let value), .decimal): return Decimal(string: "\(value)").map(Value.decimal) ?? .null
    case (.double(let value), .boolean): return .bool(value != 0)
    case (.double(let value), _) where type.isInteger:
      return Int64(exactly: value.rounded(.towardZero)).map { Value.int($0).converted(to: type) } ?? .null
    case (.decimal(let value), .double), (.decimal(let value), .float):
      return Double(value.description).map { Value.double($0).converted(to: type) } ?? .null
    case (.decimal(let value), .boolean): return .bool(value != 0)
    case (.decimal(let value), _) where type.isInteger:
      return value.rounded(.towardZero).wholeInt64.map { Value.int($0).converted(to: type) } ?? .null
    default: return fits(type) ? self : .null
    }
  }
}
