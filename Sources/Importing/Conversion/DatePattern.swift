/// A date format of Unicode's TR 35, compiled once into a short list of steps.
///
/// Supported: `y yyyy yy u` year (two digits: 1969 to 2068), `M MM L LL` month, `MMM MMMM` English month names, `d dd`
/// day, `E…` English names of weekdays, read and ignored, `H HH` hour, `h hh` with `a` hour and AM or PM, `m mm` minute,
/// `s ss` second, `S…` fraction of a second, `Z…`, `X…`, `x…`, `z…` time zone, which may be `GMT` or
/// `UTC`; other zones have no names. Letters between single quotes and all characters that
/// aren't letters stand for themselves; two single quotes are one.
///
/// One or two letters take one or two digits, unless another number is adjacent: then exactly as many digits as letters.
/// `yyyy` takes exactly four, `y` one to four. A format without a zone is UTC. What the format leaves out is that of
/// 1 January 2000, midnight, as with Foundation's `DateFormatter`.
struct DatePattern: Sendable {
  enum Field: UInt8 {
    case year, month, day, hour, hourOfHalf, minute, second
  }

  enum Step {
    /// One byte of UTF-8.
    case literal(UInt8)
    case number(Field, least: UInt8, most: UInt8)
    /// Exactly two digits.
    case shortYear
    /// Exactly this many digits; one to nine for 0.
    case fraction(UInt8)
    case monthName
    case weekdayName
    case half
    case zone(allowsZ: Bool)

    /// Whether it begins with a digit.
    var isNumber: Bool {
      switch self {
      case .number, .shortYear, .fraction: return true
      case .literal(let byte): return byte &- 0x30 < 10
      case .monthName, .weekdayName, .half, .zone: return false
      }
    }
  }

  private(set) var steps: [Step] = []

  /// Compiles a format.
  /// - Throws: `ConverterError`, naming the letter that isn't supported.
  init(_ format: String, attribute: String) throws(ConverterError) {
    let characters = Array(format)
    var index = 0
    while index < characters.count {
      let character = characters[index]
      if character == "'" {
        index = try quotation(characters, from: index, format: format, attribute: attribute)
      } else if character.isASCII, character.isLetter {
        var end = index
        while end < characters.count, characters[end] == character { end += 1 }
        guard let step = Self.step(character, count: end - index) else {
          throw ConverterError.unsupportedLetter(
            attribute: attribute, format: format, letter: String(characters[index..<end]))
        }
        steps.append(step)
        index = end
      } else {
        steps += character.utf8.map(Step.literal)
        index += 1
      }
    }
    fixWidths()
  }

  /// The text between quotes; returns the index after it.
  private mutating func quotation(
    _ characters: [Character], from start: Int, format: String, attribute: String
  ) throws(ConverterError) -> Int {
    var index = start + 1
    if index < characters.count, characters[index] == "'" {
      steps.append(.literal(UInt8(ascii: "'")))
      return index + 1
    }
    while index < characters.count {
      if characters[index] == "'" {
        guard index + 1 < characters.count, characters[index + 1] == "'" else { return index + 1 }
        index += 1
      }
      steps += characters[index].utf8.map(Step.literal)
      index += 1
    }
    throw ConverterError.unclosedQuote(attribute: attribute, format: format)
  }

  private static func step(_ letter: Character, count: Int) -> Step? {
    let letters = UInt8(min(count, 9))
    func number(_ field: Field) -> Step? { count <= 2 ? .number(field, least: letters, most: letters) : nil }
    switch letter {
    case "y", "u":
      switch count {
      case 1: return .number(.year, least: 1, most: 4)
      case 2 where letter == "y": return .shortYear
      case 4: return .number(.year, least: 4, most: 4)
      default: return nil
      }
    case "M", "L": return count <= 2 ? number(.month) : count <= 4 ? .monthName : nil
    case "d": return number(.day)
    case "H": return number(.hour)
    case "h": return number(.hourOfHalf)
    case "m": return number(.minute)
    case "s": return number(.second)
    case "S": return count <= 9 ? .fraction(UInt8(count)) : nil
    case "E": return count <= 4 ? .weekdayName : nil
    case "a": return count <= 3 ? .half : nil
    case "z": return count <= 3 ? .zone(allowsZ: true) : nil
    case "Z": return count == 4 || count > 5 ? nil : .zone(allowsZ: count == 5)
    case "X": return count <= 3 ? .zone(allowsZ: true) : nil
    case "x": return count <= 3 ? .zone(allowsZ: false) : nil
    default: return nil
    }
  }

  /// Adjacent numbers have as many digits as letters; a number that stands alone may have fewer.
  private mutating func fixWidths() {
    // One longer than the steps at each end.
    let isNumber = [false] + steps.map(\.isNumber) + [false]
    for index in steps.indices {
      let isAlone = !isNumber[index] && !isNumber[index + 2]
      switch steps[index] {
      case .number(let field, _, let letters) where isAlone && letters <= 2 && field != .year:
        steps[index] = .number(field, least: 1, most: 2)
      case .fraction where isAlone: steps[index] = .fraction(0)
      default: break
      }
    }
  }

  /// Microseconds since 1970, UTC; nil if the text isn't a date in this format, or not a date of the calendar.
  /// - Parameter zone: the zone of dates that don't give one; nil for UTC.
  func microsecondsSince1970(_ text: UnsafeRawBufferPointer, in zone: LocalTime? = nil) -> Int64? {
    var reader = DateFieldReader(text: text)
    for step in steps where !reader.take(step) { return nil }
    guard reader.index == text.count else { return nil }
    return reader.microsecondsSince1970(in: zone)
  }
}
