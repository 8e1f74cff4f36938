/// A text, and how far it has been read.
struct CalendarScanner {
  private let characters: [Character]
  private(set) var index = 0
  private var end: Int

  init(_ text: String) {
    characters = Array(text)
    end = characters.count
    while end > 0, characters[end - 1] == " " { end -= 1 }
    skipSpaces()
  }

  /// A part of the text without spaces, and where it stands.
  struct Word {
    let text: String
    let start: Int
    var column: Int { start + 1 }
  }

  var isAtEnd: Bool { index >= end }
  var peek: Character? { index < end ? characters[index] : nil }
  var column: Int { index + 1 }
  /// All that hasn't been read.
  var rest: String { String(characters[min(index, end)..<end]) }

  func character(after count: Int) -> Character? { index + count < end ? characters[index + count] : nil }

  /// What stands after the last space; nil without one.
  var lastWord: Word? {
    guard let space = characters[min(index, end)..<end].lastIndex(of: " ") else { return nil }
    return Word(text: String(characters[(space + 1)..<end]), start: space + 1)
  }

  /// Whether it can only be the name of a zone: neither weekdays nor a word for a whole expression.
  func isZone(_ word: Word) -> Bool {
    guard word.text.first?.isLetter == true else { return false }
    if CalendarExpression.words.contains(where: { $0.key == word.text.lowercased() }) { return false }
    let letters = word.text.prefix { $0.isLetter }.lowercased()
    let isWeekday = CalendarExpression.weekdayNames.contains { letters.hasPrefix($0.lowercased()) }
    return !isWeekday || word.text.contains("/")
  }

  /// Ends the text before a word.
  mutating func drop(_ word: Word) {
    end = word.start
    while end > index, characters[end - 1] == " " { end -= 1 }
  }

  mutating func take(_ text: String) -> Bool {
    let wanted = Array(text)
    guard index + wanted.count <= end, characters[index..<index + wanted.count].elementsEqual(wanted) else {
      return false
    }
    index += wanted.count
    return true
  }

  mutating func takeLetters() -> String {
    let start = index
    while let character = peek, character.isLetter { index += 1 }
    return String(characters[start..<index])
  }

  mutating func skipSpaces() { while peek == " " { index += 1 } }

  /// A whole number.
  /// - Parameter meaning: what it is for, to say so where there is none.
  mutating func number(_ meaning: String, largest: Int) throws(CalendarExpressionError) -> Int {
    let place = self
    guard let digit = peek, digit.isASCII, digit.isNumber else { throw expected(meaning) }
    var value = 0
    while let digit = peek, digit.isASCII, let number = digit.wholeNumberValue {
      value = value * 10 + number
      guard value <= largest else { throw place.problem("the number is too large: expected \(meaning)") }
      index += 1
    }
    return value
  }

  func problem(_ text: String) -> CalendarExpressionError { CalendarExpressionError(column: column, problem: text) }

  /// Says what stands here instead of what should.
  func expected(_ what: String) -> CalendarExpressionError {
    guard !isAtEnd else { return problem("expected \(what), but the text ends") }
    return problem("expected \(what), but there is “\(rest.prefix(20))”")
  }
}
