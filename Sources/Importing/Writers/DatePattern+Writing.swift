import ManagedObjects

extension DatePattern {
  /// The text of an instant in microseconds since 1970, in UTC; empty for a year that isn't one of 0 to 9999. What the format
  /// leaves out is missing.
  func text(_ microseconds: Int64) -> [UInt8] {
    guard let fields = Fields(microseconds) else { return [] }
    var text: [UInt8] = []
    for step in steps { fields.append(step, to: &text) }
    return text
  }
}

/// An instant's parts.
private struct Fields {
  let year, month, day, hour, minute, second: Int
  let microsecond: Int
  let weekday: Int

  init?(_ microseconds: Int64) {
    // ISO 8601 has all of them but the weekday.
    var text = [UInt8](repeating: 0, count: ISODate.longest)
    guard
      text.withUnsafeMutableBufferPointer({
        $0.baseAddress.flatMap { ISODate.write(microseconds: microseconds, to: $0) }
      }) != nil
    else { return nil }
    func number(_ start: Int, _ count: Int) -> Int { text[start..<start + count].reduce(0) { $0 * 10 + Int($1 & 15) } }
    (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
    (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    microsecond = Int(rest < 0 ? rest + 1_000_000 : rest)
    let days = Int((rest < 0 ? seconds - 1 : seconds).quotientAndRemainder(dividingBy: 86_400).quotient)
    let isBefore = (rest < 0 ? seconds - 1 : seconds) % 86_400 < 0
    // The first of January 1970 was a Thursday.
    weekday = (((isBefore ? days - 1 : days) + 3) % 7 + 7) % 7
  }

  func append(_ step: DatePattern.Step, to text: inout [UInt8]) {
    switch step {
    case .literal(let byte): text.append(byte)
    case .number(let field, let least, _): append(value(field), digits: field == .year ? Int(least) : 2, to: &text)
    case .shortYear: append(year % 100, digits: 2, to: &text)
    case .fraction(let count):
      var digits: [UInt8] = []
      append(microsecond * 1000, digits: 9, to: &digits)
      text += digits.prefix(count == 0 ? 6 : Int(count))
    case .monthName: text += Self.months[month - 1].utf8
    case .weekdayName: text += Self.weekdays[weekday].utf8
    case .half: text += (hour < 12 ? "AM" : "PM").utf8
    case .zone(let allowsZ): text += (allowsZ ? "Z" : "+0000").utf8
    }
  }

  private func value(_ field: DatePattern.Field) -> Int {
    switch field {
    case .year: year
    case .month: month
    case .day: day
    case .hour: hour
    case .hourOfHalf: hour % 12 == 0 ? 12 : hour % 12
    case .minute: minute
    case .second: second
    }
  }

  private func append(_ number: Int, digits: Int, to text: inout [UInt8]) {
    let plain = String(number)
    text += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digits - plain.utf8.count)) + Array(plain.utf8)
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
}
