// Skips JSON values, checking every rule, without recursion and without storing anything: nesting is one bit per
// level, so a hostile file can neither crash it nor make it grow. It stops where the memory ends and continues
// with the next piece, so it skips values of any length.

struct JSONWalker {
  /// The tokens that may come next.
  private enum Expected: UInt8 {
    case value, valueOrClose, key, keyOrClose, colon, commaOrClose
    /// The memory ended inside a string.
    case restOfText, restOfKey
  }

  private var expected: Expected
  private(set) var depth: Int
  private let floor: Int
  /// Whether half of a surrogate pair is passed over: where its string ends isn't in doubt.
  var passesSurrogates = false
  /// Bit n: whether level n is an object.
  private var objects = SIMD8<UInt64>.zero

  /// For one value that stands `depth` levels deep in the document.
  init(depth: Int) {
    self.depth = depth
    floor = depth
    expected = .value
  }

  /// For the rest of an array that stands `depth` levels deep and whose bracket was read.
  init(restOfArrayAt depth: Int) {
    self.depth = depth + 1
    floor = depth
    expected = .valueOrClose
  }

  /// For the rest of this many objects around a value that has ended.
  init(restOfObjects count: Int) {
    depth = count
    floor = 0
    expected = .commaOrClose
    for level in 0..<count { objects[level >> 6] |= 1 << UInt64(level & 63) }
  }

  private var isInObject: Bool { objects[(depth - 1) >> 6] >> UInt64((depth - 1) & 63) & 1 == 1 }

  private mutating func open(object: Bool) -> Bool {
    guard depth < JSONMistake.maximumDepth else { return false }
    let bit: UInt64 = 1 << UInt64(depth & 63)
    if object { objects[depth >> 6] |= bit } else { objects[depth >> 6] &= ~bit }
    depth += 1
    expected = object ? .keyOrClose : .valueOrClose
    return true
  }

  /// Continues from a place to the end of its value, to the end of the memory, or to a mistake.
  mutating func walk(from start: BytePointer, to end: BytePointer, final: Bool) -> JSONScan {
    var place = start
    while true {
      if expected != .restOfText, expected != .restOfKey { place = JSONToken.skipSpace(place, end) }
      guard place < end else { return .more(place) }
      let byte = place.pointee
      switch expected {
      case .value, .valueOrClose:
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
          guard open(object: byte == UInt8(ascii: "{")) else { return .mistake(.tooDeep, at: place) }
          place += 1
          continue
        }
        if byte == UInt8(ascii: "]"), depth > floor {
          guard expected == .valueOrClose else { return .mistake(.trailingComma, at: place) }
          depth -= 1
          place += 1
        } else if byte == JSONToken.quote {
          place += 1
          expected = .restOfText
          continue
        } else {
          var escaped = false
          switch JSONToken.scalar(place, end, final: final, escaped: &escaped).1 {
          case .end(let next): place = next
          case .more: return .more(place)
          case let mistake: return mistake
          }
        }
      case .key, .keyOrClose:
        if byte == UInt8(ascii: "}") {
          guard expected == .keyOrClose else { return .mistake(.trailingComma, at: place) }
          depth -= 1
          place += 1
          break
        }
        guard byte == JSONToken.quote else { return .mistake(.expectedKey, at: place) }
        place += 1
        expected = .restOfKey
        continue
      case .restOfText, .restOfKey:
        var escaped = false
        var scan = JSONToken.string(place, end, escaped: &escaped)
        while passesSurrogates, case .mistake(.loneSurrogate, let half) = scan {
          // Behind its `\uXXXX`, all of which has been read.
          scan = JSONToken.string(half + 6, end, escaped: &escaped)
        }
        guard case .end(let next) = scan else { return scan }
        place = next
        if expected == .restOfKey {
          expected = .colon
          continue
        }
      case .colon:
        guard byte == UInt8(ascii: ":") else { return .mistake(.expectedColon, at: place) }
        place += 1
        expected = .value
        continue
      case .commaOrClose:
        if byte == UInt8(ascii: ",") {
          expected = isInObject ? .key : .value
          place += 1
          continue
        }
        guard byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
          return .mistake(.expectedComma, at: place)
        }
        depth -= 1
        place += 1
      }
      // A value has ended.
      if depth == floor { return .end(place) }
      expected = .commaOrClose
    }
  }
}

/// Mistakes in JSON, by RFC 8259.
enum JSONMistake: UInt8, Error, Hashable {
  case unexpectedEnd, expectedValue, expectedKey, expectedColon, expectedComma, trailingComma
  case badEscape, loneSurrogate, controlCharacter, badNumber, leadingZero, badLiteral
  case tooDeep, textAfterEnd, tooManyKeys, tooLong

  /// Nested objects and arrays, including the document's own.
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

/// How far a scan over memory got.
enum JSONScan {
  /// To the end of the token or value: the place after it.
  case end(BytePointer)
  /// Not to the end: the memory ends here, before or inside a token.
  case more(BytePointer)
  /// To a mistake, at this place.
  case mistake(JSONMistake, at: BytePointer)
}
