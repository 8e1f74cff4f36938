import Foundation

/// Parses default values and bounds in a model file's notation.
enum ModelValueText {
  /// The result of parsing.
  enum Result {
    case value(Value)
    /// The text doesn't fit the type. The message completes “is …; ”.
    case wrong(String)
    /// Values of the type can't be written in a model file.
    case unsupported
  }

  /// A date: seconds since the start of 2001, UTC.
  static func interval(_ text: String) -> Result {
    guard let seconds = finiteDouble(text) else { return .wrong("it has to be a number of seconds since 2001") }
    return .value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
  }

  /// A default value.
  static func defaultValue(_ text: String, type: AttributeType) -> Result {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      // Xcode keeps "NO" when an attribute's type changes from Boolean to a number, and its compiler reads it as 0.
      if let former = formerFlag(text) { return number(former ? "1" : "0", type: type) }
      return number(text, type: type)
    case .string: return .value(.string(text))
    case .boolean:
      guard let value = flag(text) ?? formerNumber(text) else { return .wrong("a Boolean is YES or NO") }
      return .value(.bool(value))
    case .date: return interval(text)
    case .uuid:
      guard let uuid = UUID(uuidString: text) else { return .wrong("it has to be a UUID") }
      return .value(.uuid(uuid))
    case .uri:
      guard let url = URL(string: text) else { return .wrong("it has to be a URI") }
      return .value(.uri(url))
    case .binaryData, .transformable, .objectID, .composite, .undefined: return .unsupported
    }
  }

  private static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }

  /// The Boolean that a number's default value was before the attribute's type changed.
  private static func formerFlag(_ text: String) -> Bool? {
    switch text {
    case "YES": true
    case "NO": false
    default: nil
    }
  }

  /// A Boolean from the number that its default value was before the attribute's type changed: "0.0".
  private static func formerNumber(_ text: String) -> Bool? {
    switch finiteDouble(text) {
    case 0: false
    case 1: true
    default: nil
    }
  }

  /// A minimum or maximum value; for a string, its length in characters.
  static func bound(_ text: String, type: AttributeType) -> Result {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: return number(text, type: type)
    case .date: return interval(text)
    case .string:
      guard let length = Int64(text), length >= 0 else { return .wrong("a String's bound is a length from 0") }
      return .value(.int(length))
    case .boolean, .binaryData, .uuid, .uri, .transformable, .objectID, .composite, .undefined: return .unsupported
    }
  }

  private static func number(_ text: String, type: AttributeType) -> Result {
    switch type {
    case .decimal:
      guard isDecimalNotation(text), let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
        value.isFinite
      else { return .wrong("it has to be a decimal number") }
      return .value(.decimal(value))
    case .double:
      guard let value = finiteDouble(text) else { return .wrong("it has to be a number") }
      return .value(.double(value))
    case .float:
      guard let value = finiteDouble(text), Float(value).isFinite else { return .wrong("it has to be a Float") }
      return .value(.double(Double(Float(value))))
    default:
      // Xcode keeps "0.0" when an attribute's type changes from Double to an integer.
      guard let range = type.integerRange,
        let value = Int64(text) ?? finiteDouble(text).flatMap({ Int64(exactly: $0) }),
        range.contains(value)
      else { return .wrong("it has to be a whole number that fits \(type.rawValue)") }
      return .value(.int(value))
    }
  }

  /// Parses the whole text; Foundation's own parsing stops at the first invalid character.
  private static func isDecimalNotation(_ text: String) -> Bool {
    text.wholeMatch(of: /[+\-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+\-]?[0-9]{1,3})?/) != nil
  }

  private static func finiteDouble(_ text: String) -> Double? {
    guard isDecimalNotation(text), let value = Double(text), value.isFinite else { return nil }
    return value
  }
}
