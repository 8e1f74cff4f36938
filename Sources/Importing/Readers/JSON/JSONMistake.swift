/// What can be wrong with JSON, by RFC 8259.
enum JSONMistake: UInt8, Error, Hashable {
  case unexpectedEnd, expectedValue, expectedKey, expectedColon, expectedComma, trailingComma
  case badEscape, loneSurrogate, controlCharacter, badNumber, leadingZero, badLiteral
  case tooDeep, textAfterEnd, tooManyKeys, tooLong

  /// Objects and arrays inside one another, the document's own included.
  static let maximumDepth = 512
}

extension JSONMistake: CustomStringConvertible {
  var description: String {
    switch self {
    case .unexpectedEnd: "the text ends in the middle of a value"
    case .expectedValue: "a value was expected here"
    case .expectedKey: "a key in double quotes was expected here"
    case .expectedColon: "a colon was expected after the key"
    case .expectedComma: "a comma or a closing bracket was expected after the value"
    case .trailingComma: "there is a comma with nothing after it"
    case .badEscape: "the backslash doesn't begin an escape that JSON has"
    case .loneSurrogate: "a \\u escape is half of a surrogate pair"
    case .controlCharacter: "a control character inside a string must be written as an escape"
    case .badNumber: "the number isn't written as JSON demands"
    case .leadingZero: "a number can't begin with a zero"
    case .badLiteral: "only true, false and null may stand without quotes"
    case .tooDeep: "objects and arrays are nested more than \(Self.maximumDepth) deep"
    case .textAfterEnd: "there is more text after the end of the value"
    case .tooManyKeys: "there are too many different keys"
    case .tooLong: "a key or value is longer than a record may be"
    }
  }
}

/// How far a scan over memory came.
enum JSONScan {
  /// To the end of what was scanned: the place after it.
  case end(BytePointer)
  /// Not to the end: the memory ends here, before or inside a token.
  case more(BytePointer)
  /// To a mistake, at this place.
  case mistake(JSONMistake, at: BytePointer)
}
