import Foundation

/// How an inferred migration converts the values of an attribute whose type has changed. It never loses any.
package enum AttributeWidening: Sendable, Hashable {
  /// Every value is a value of the new type too.
  case same
  /// The numbers of this range are values of the new type; another is an obstacle.
  case exact(ClosedRange<Int64>)
  /// Values become texts: numbers with their digits, Booleans `true` and `false`, dates ISO 8601, data Base64, Codable values JSON.
  case text
}

extension AttributeDescription {
  /// How values of the attribute's former version are converted; nil if that may lose some.
  package func widening(from origin: AttributeDescription) -> AttributeWidening? {
    if type == origin.type { return .same }
    switch (type, origin.type) {
    case (.integer32, .integer16), (.integer64, .integer16), (.integer64, .integer32), (.double, .float): return .same
    case (.integer16, .boolean), (.integer32, .boolean), (.integer64, .boolean), (.decimal, .boolean),
      (.double, .boolean), (.float, .boolean):
      return .same
    case (.decimal, .integer16), (.decimal, .integer32), (.decimal, .integer64): return .same
    case (.double, .integer16), (.double, .integer32), (.float, .integer16): return .same
    // The whole numbers up to which a floating-point number has no gaps.
    case (.double, .integer64): return .exact(-9_007_199_254_740_992...9_007_199_254_740_992)
    case (.float, .integer32), (.float, .integer64): return .exact(-16_777_216...16_777_216)
    case (.string, .transformable): return origin.isCodable ? .text : nil
    case (.string, .objectID), (.string, .composite), (.string, .undefined): return nil
    case (.string, _): return .text
    default: return nil
    }
  }

  /// A value of the attribute's former version, converted; nil if the attribute can't have it.
  package func widened(_ value: Value, from origin: AttributeDescription) -> Value? {
    if type == origin.type || value.isNull { return value }
    switch widening(from: origin) {
    case .same: return number(value)
    case .exact(let range):
      guard case .int(let whole) = value, range.contains(whole) else { return nil }
      return number(value)
    case .text: return .string(origin.text(of: value))
    case nil: return nil
    }
  }

  private func number(_ value: Value) -> Value {
    let whole: Int64
    switch value {
    case .bool(let flag): whole = flag ? 1 : 0
    case .int(let number): whole = number
    default: return value
    }
    switch type {
    case .decimal: return .decimal(Decimal(whole))
    case .double, .float: return .double(Double(whole))
    default: return .int(whole)
    }
  }

  /// A value of the attribute as the text that it becomes when the attribute's type changes to String.
  package func text(of value: Value) -> String {
    switch value {
    // With the digits of a Float, not those of the Double that holds it.
    case .double(let number) where type == .float && number != number.rounded(): Float(number).description
    case .data(let data) where isCodable: String(decoding: data, as: UTF8.self)
    default: value.plainText
    }
  }
}
