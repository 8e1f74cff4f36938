import ManagedObjects

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
    let date = ISODate.civil(days: day)
    (years, months, days) = (.init(Int(date.year)), .init(Int(date.month)), .init(Int(date.day)))
    (hours, minutes) = (.init(time / 3600), .init(time / 60 % 60))
    seconds = .init(time % 60 * 1_000_000)
    (zone, namesZone) = (.utc, true)
  }
}
