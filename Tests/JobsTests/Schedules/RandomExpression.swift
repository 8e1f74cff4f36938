/// Numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}

/// Makes calendar expressions, most of them right.
struct RandomExpression {
  var numbers: SeededNumbers
  private static let weekdays = ["Mon", "tue", "Wednesday", "Thu", "Fri", "saturday", "Sun"]
  private static let words = [
    "minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "semiannually", "yearly", "Annually",
  ]
  static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo",
    "Pacific/Apia", "Europe/London", "Africa/Cairo", "America/St_Johns", "Antarctica/Troll", "Asia/Gaza",
  ]

  mutating func next(zone: String) -> String {
    if chance(20) { return (Self.words.randomElement(using: &numbers) ?? "") + " " + zone }
    var parts: [String] = []
    if chance(3) { parts.append(weekdays()) }
    if chance(2) { parts.append(date()) }
    if parts.isEmpty || chance(2) { parts.append(time()) }
    return parts.joined(separator: " ") + " " + zone
  }

  mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &numbers) == 0 }

  private mutating func weekdays() -> String {
    let count = Int.random(in: 1...2, using: &numbers)
    return (0..<count).map { _ in
      let first = Int.random(in: 0..<7, using: &numbers)
      guard chance(2) else { return Self.weekdays[first] }
      return Self.weekdays[first] + ".." + Self.weekdays[Int.random(in: max(0, first - 1)..<7, using: &numbers)]
    }.joined(separator: ",")
  }

  private mutating func date() -> String {
    let isFromEnd = chance(5)
    // systemd 252 lowers the highest day with every further value of a list from the end.
    let days = isFromEnd ? item(1...28, isAlone: true) : list(1...31, any: 4)
    let monthAndDay = list(1...12, any: 2) + (isFromEnd ? "~" : "-") + days
    return chance(2) ? monthAndDay : list(2024...2033, any: 2) + "-" + monthAndDay
  }

  private mutating func time() -> String {
    let time = list(0...23, any: 3) + ":" + list(0...59, any: 4)
    guard chance(4) else { return time }
    return time + ":" + list(0...59, any: 4)
  }

  private mutating func list(_ range: ClosedRange<Int>, any: Int) -> String {
    if chance(any) { return "*" }
    let count = chance(4) ? Int.random(in: 2...3, using: &numbers) : 1
    return (0..<count).map { _ in item(range, isAlone: count == 1) }.joined(separator: ",")
  }

  /// - Parameter isAlone: whether steps may go on without end: systemd 252 loses the first value of a list with these.
  private mutating func item(_ range: ClosedRange<Int>, isAlone: Bool) -> String {
    // Now and then one that is out of bounds.
    let highest = chance(60) ? range.upperBound + 1 : range.upperBound
    let first = Int.random(in: range.lowerBound...highest, using: &numbers)
    var text = chance(3) ? "0\(first)" : "\(first)"
    let isRange = first <= range.upperBound && chance(4)
    if isRange {
      let last = Int.random(in: max(range.lowerBound, first - (chance(5) ? 1 : 0))...range.upperBound, using: &numbers)
      text += "..\(last)"
    }
    if isRange || isAlone, chance(3) { text += "/\(Int.random(in: 0...max(2, range.count / 3), using: &numbers))" }
    return text
  }
}
