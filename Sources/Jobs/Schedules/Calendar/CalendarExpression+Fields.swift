// Dates and times. What a number means is known only after the sign that follows it, `12-` or `12:`, so a list is read
// first, with the places of its numbers, and looked at when its unit is known.

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
