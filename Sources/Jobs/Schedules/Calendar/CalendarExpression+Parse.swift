// Dates and times. What a number means is known only after the sign that follows it, `12-` or `12:`, so a list is read
// first, with the places of its numbers, and looked at when its unit is known.

import Spelling

extension CalendarExpression {
  /// The words that stand for a whole expression, and the expression.
  static let words: KeyValuePairs = [
    "minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "weekly": "Mon *-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00", "quarterly": "*-01,04,07,10-01 00:00:00", "semiannually": "*-01,07-01 00:00:00",
    "semi-annually": "*-01,07-01 00:00:00", "biannually": "*-01,07-01 00:00:00", "bi-annually": "*-01,07-01 00:00:00",
    "yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00", "anually": "*-01-01 00:00:00",
  ]
  /// The most bytes of a text, and the most values in one of its lists.
  private static let longest = 1000
  static let mostItems = 240

  /// Reads an expression.
  ///
  /// A zone is UTC or a name of the IANA's database. Abbreviations such as CEST are no names: of most there are several.
  /// - Parameter zone: whose clocks are meant, where the expression doesn't say it.
  /// - Throws: ``CalendarExpressionError``.
  package init(_ text: String, zone: CalendarZone = .utc) throws(CalendarExpressionError) {
    guard text.utf8.count <= Self.longest else {
      throw CalendarExpressionError(column: Self.longest + 1, problem: "it goes on for more than \(Self.longest) bytes")
    }
    self.init(zone: zone)
    var scanner = CalendarScanner(text)
    if let word = scanner.lastWord, scanner.isZone(word) {
      do throws(CalendarZoneError) {
        self.zone = try CalendarZone(named: word.text)
      } catch {
        throw CalendarExpressionError(column: word.column, problem: error.description)
      }
      namesZone = true
      scanner.drop(word)
    }
    if scanner.isAtEnd { throw scanner.expected("a calendar expression, such as daily or Mon..Fri 02:30") }
    if let word = Self.words.first(where: { $0.key == scanner.rest.lowercased() }) {
      scanner = CalendarScanner(word.value)
    }
    try readWeekdays(&scanner)
    if scanner.peek == "@" {
      try readTimestamp(&scanner)
    } else {
      try readDate(&scanner)
      try readTime(&scanner)
    }
    if !scanner.isAtEnd { throw scanner.expected("nothing more") }
  }

  private mutating func readWeekdays(_ scanner: inout CalendarScanner) throws(CalendarExpressionError) {
    guard scanner.peek?.isLetter == true else { return }
    while true {
      let place = scanner
      let first = try readWeekday(&scanner, isFirst: weekdays == 0)
      var last = first
      if scanner.take("..") || scanner.take("-") {
        last = try readWeekday(&scanner, isFirst: false)
        guard first <= last else {
          throw place.problem(
            "a range of weekdays goes from Mon towards Sun: write \(Self.weekdayNames[first])..Sun,"
              + "Mon..\(Self.weekdayNames[last])")
        }
      }
      for day in first...last { weekdays |= 1 << UInt8(day) }
      if scanner.take(","), scanner.peek != " ", !scanner.isAtEnd { continue }
      break
    }
    guard scanner.isAtEnd || scanner.peek == " " else {
      throw scanner.expected("a space, “,” or “..” after the weekday")
    }
    scanner.skipSpaces()
    if weekdays == 0x7f { weekdays = 0 }
  }

  private func readWeekday(
    _ scanner: inout CalendarScanner, isFirst: Bool
  ) throws(CalendarExpressionError) -> Int {
    let place = scanner
    let word = scanner.takeLetters()
    let full = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    let wanted = word.lowercased()
    let known = [Self.weekdayNames, full]
    for names in known {
      if let day = names.firstIndex(where: { $0.lowercased() == wanted }) { return day }
    }
    if word.isEmpty { throw place.expected("a weekday, such as Mon") }
    if Self.words.contains(where: { $0.key == wanted }) {
      throw place.problem("“\(word)” stands alone, or before a time zone only")
    }
    let candidates = known.joined().map(\.self) + (isFirst ? Self.words.map(\.key) : [])
    if let nearest = NearestName.of(word, among: candidates) {
      throw place.problem("“\(word)” isn't known; did you mean \(nearest)?")
    }
    throw place.problem(
      "“\(word)” isn't known: write a weekday (Mon to Sun), a date, a time"
        + (isFirst ? ", or one word such as daily" : ""))
  }

  /// `@1700000000`: seconds from the start of 1970.
  private mutating func readTimestamp(_ scanner: inout CalendarScanner) throws(CalendarExpressionError) {
    let place = scanner
    guard !namesZone || zone.name == "UTC" else { throw place.problem("a number of seconds is in UTC") }
    guard weekdays == 0 else { throw place.problem("a number of seconds has its weekday") }
    _ = scanner.take("@")
    let number = try scanner.number("seconds from the start of 1970, such as @1700000000", largest: 7_258_118_399)
    let (day, time) = number.quotientAndRemainder(dividingBy: 86_400)
    let date = CivilDate.date(days: day)
    (years, months, days) = (.init(Int(date.year)), .init(Int(date.month)), .init(Int(date.day)))
    (hours, minutes) = (.init(time / 3600), .init(time / 60 % 60))
    seconds = .init(time % 60 * 1_000_000)
    (zone, namesZone) = (.utc, true)
  }
}

extension CalendarExpression {
  /// `*-12-24`, `12-24`, `*-02~01`; nothing if the text goes on with a time, or ends.
  mutating func readDate(_ scanner: inout CalendarScanner) throws(CalendarExpressionError) {
    if scanner.isAtEnd { return }
    var ahead = scanner
    let first = try CalendarList(&ahead)
    if ahead.peek == ":" { return }
    guard ahead.peek == "-" || ahead.peek == "~" else {
      throw ahead.expected("“-” of a date such as 2026-12-24, or “:” of a time such as 02:30")
    }
    var isFromEnd = ahead.take("~")
    if !isFromEnd { _ = ahead.take("-") }
    let second = try CalendarList(&ahead)
    if ahead.isAtEnd || ahead.peek == " " {
      months = try first.field(.month)
      days = try second.field(isFromEnd ? .dayFromEnd : .day)
    } else {
      guard !isFromEnd else { throw ahead.expected("a space or the end after the days") }
      isFromEnd = ahead.take("~")
      guard isFromEnd || ahead.take("-") else {
        throw ahead.expected("“-” and a day, or “~” and a day counted from the end of the month")
      }
      let third = try CalendarList(&ahead)
      guard ahead.isAtEnd || ahead.peek == " " else { throw ahead.expected("a space or the end after the date") }
      years = try first.fieldOfYears()
      months = try second.field(.month)
      days = try third.field(isFromEnd ? .dayFromEnd : .day)
    }
    countsDaysFromEnd = isFromEnd && days != .any
    ahead.skipSpaces()
    scanner = ahead
  }

  /// `02:30`, `02:30:15.5`; midnight if the text ends.
  mutating func readTime(_ scanner: inout CalendarScanner) throws(CalendarExpressionError) {
    (hours, minutes, seconds) = (.init(0), .init(0), .init(0))
    if scanner.isAtEnd { return }
    hours = try CalendarList(&scanner).field(.hour)
    guard scanner.take(":") else { throw scanner.expected("“:” and minutes") }
    minutes = try CalendarList(&scanner).field(.minute)
    if scanner.isAtEnd { return }
    guard scanner.take(":") else { throw scanner.expected("“:” and seconds, a time zone, or the end") }
    seconds = try CalendarList(&scanner, isSeconds: true).field(.second)
  }
}

/// A list of values before their unit is known: `*`, `1,5..9/2`.
struct CalendarList {
  private struct Number {
    var value: Int
    let place: CalendarScanner
  }

  private struct Item {
    var first: Number
    var last: Number?
    var step: Number?
  }

  /// nil for `*`.
  private var items: [Item]?
  private let isSeconds: Bool

  /// - Parameter isSeconds: whether they may have fractions; they are counted in millionths then.
  init(_ scanner: inout CalendarScanner, isSeconds: Bool = false) throws(CalendarExpressionError) {
    self.isSeconds = isSeconds
    if scanner.take("*") {
      if scanner.peek == "/" {
        throw scanner.problem("after “*” there is no “/”: write the first value, as in \(isSeconds ? "0/15" : "0/5")")
      }
      return
    }
    var items: [Item] = []
    repeat {
      guard items.count < CalendarExpression.mostItems else {
        throw scanner.problem("the list has more than \(CalendarExpression.mostItems) values")
      }
      var item = Item(first: try Self.number(&scanner, isSeconds, "a number or “*”"))
      if scanner.take("..") { item.last = try Self.number(&scanner, isSeconds, "the last number of the range") }
      if scanner.take("/") {
        let step = try Self.number(&scanner, isSeconds, "the number of a step")
        guard step.value > 0 else { throw step.place.problem("a step is at least \(isSeconds ? "0.000001" : "1")") }
        item.step = step
      }
      items.append(item)
    } while scanner.take(",")
    self.items = items
  }

  private static func number(
    _ scanner: inout CalendarScanner, _ isSeconds: Bool, _ meaning: String
  ) throws(CalendarExpressionError) -> Number {
    let place = scanner
    let whole = try scanner.number(meaning, largest: 99_999)
    guard isSeconds else { return Number(value: whole, place: place) }
    var value = whole * 1_000_000
    // One point begins a fraction, two a range.
    if scanner.peek == ".", scanner.character(after: 1) != "." {
      _ = scanner.take(".")
      guard let digit = scanner.peek?.wholeNumberValue, digit < 10 else {
        throw scanner.expected("digits after the point")
      }
      var unit = 100_000
      while let digit = scanner.peek, digit.isASCII, let number = digit.wholeNumberValue {
        // What comes after millionths is rounded.
        value += unit > 0 ? number * unit : (unit == 0 && number >= 5 ? 1 : 0)
        unit = unit > 0 ? unit / 10 : -1
        _ = scanner.take(String(digit))
      }
    }
    return Number(value: value, place: place)
  }

  /// The years; of two digits they are those from 1970 to 2069.
  func fieldOfYears() throws(CalendarExpressionError) -> CalendarField {
    func full(_ year: Int) -> Int { year < 70 ? year + 2000 : (year < 100 ? year + 1900 : year) }
    var copy = self
    copy.items = items?.map { item in
      var item = item
      item.first.value = full(item.first.value)
      if let last = item.last { item.last?.value = full(last.value) }
      return item
    }
    return try copy.field(.year)
  }

  /// The values, if the unit has them all.
  func field(_ unit: CalendarUnit) throws(CalendarExpressionError) -> CalendarField {
    let oneStep = isSeconds ? 1_000_000 : 1
    guard let items else {
      return unit == .second ? CalendarField(items: [.init(first: 0, last: nil, step: oneStep)]) : .any
    }
    var checked: [CalendarField.Item] = []
    for item in items {
      for number in [item.first, item.last].compactMap(\.self) where !unit.range.contains(number.value) {
        throw number.place.problem("\(unit.name) is from \(unit.shownRange)")
      }
      if let last = item.last {
        guard item.first.value <= last.value else {
          throw item.first.place.problem("a range goes from the smaller number to the larger")
        }
        let isLongEnough = !isSeconds || item.step != nil || last.value - item.first.value >= oneStep
        guard isLongEnough else { throw last.place.problem("a range of less than a second needs a step, such as /0.1") }
      } else if let step = item.step {
        let next = unit == .dayFromEnd ? item.first.value - step.value : item.first.value + step.value
        guard unit.range.contains(next) else {
          throw step.place.problem(
            "the step leads beyond \(unit.name) at once (\(unit.shownRange)): leave it out, or begin elsewhere")
        }
      }
      let step = item.step?.value ?? (item.last == nil ? 0 : oneStep)
      checked.append(.init(first: item.first.value, last: item.last?.value, step: step))
    }
    return CalendarField(items: checked)
  }
}
