/// Reads the fields of a date from one text, step by step as a ``DatePattern`` says.
struct DateFieldReader {
  private let text: UnsafeRawBufferPointer
  private(set) var index = 0
  private var year = 2000
  private var month = 1
  private var day = 1
  private var hour = 0
  private var hourOfHalf: Int?
  private var isAfternoon = false
  private var minute = 0
  private var second = 0
  /// In microseconds.
  private var fraction = 0
  /// Seconds east of UTC; nil if the text doesn't say.
  private var offset: Int?

  init(text: UnsafeRawBufferPointer) { self.text = text }

  /// Reads what one step asks for; false if the text has something else.
  mutating func take(_ step: DatePattern.Step) -> Bool {
    switch step {
    case .literal(let byte):
      guard index < text.count, text[index] == byte else { return false }
      index &+= 1
      return true
    case .number(let field, let least, let most):
      guard let number = digits(least: Int(least), most: Int(most)) else { return false }
      switch field {
      case .year: year = number
      case .month: month = number
      case .day: day = number
      case .hour: hour = number
      case .hourOfHalf: hourOfHalf = number
      case .minute: minute = number
      case .second: second = number
      }
      return true
    case .shortYear:
      guard let number = digits(least: 2, most: 2) else { return false }
      year = number < 69 ? 2000 + number : 1900 + number
      return true
    case .fraction(let count): return takeFraction(Int(count))
    case .monthName:
      guard let number = name(Self.months, letters: 3) else { return false }
      month = number + 1
      return true
    case .weekdayName: return name(Self.weekdays, letters: 3) != nil
    case .half:
      guard let number = name(Self.halves, letters: 2) else { return false }
      isAfternoon = number == 1
      return true
    case .zone(let allowsZ): return takeZone(allowsZ: allowsZ)
    }
  }

  /// The instant; nil if a field is out of its range.
  func microsecondsSince1970(in zone: LocalTime?) -> Int64? {
    var hour = hour
    if let half = hourOfHalf {
      guard half >= 1, half <= 12 else { return nil }
      hour = half % 12 + (isAfternoon ? 12 : 0)
    }
    guard month >= 1, month <= 12, day >= 1, day <= Self.days(in: month, of: year), hour < 24, minute < 60, second < 60
    else { return nil }
    let local = (Self.daysSince1970(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
    let offset = Int64(offset ?? 0) + (offset == nil ? zone?.offset(at: Int64(local)) ?? 0 : 0)
    return (Int64(local) - offset) * 1_000_000 + Int64(fraction)
  }

  @inline(__always)
  private mutating func digits(least: Int, most: Int) -> Int? {
    var number = 0
    var count = 0
    while count < most, index < text.count {
      let digit = text[index] &- 0x30
      guard digit < 10 else { break }
      number = number &* 10 &+ Int(digit)
      index &+= 1
      count &+= 1
    }
    return count >= least ? number : nil
  }

  private mutating func takeFraction(_ count: Int) -> Bool {
    let start = index
    guard let number = digits(least: max(1, count), most: count == 0 ? 9 : count) else { return false }
    var nanoseconds = number
    for _ in (index - start)..<9 { nanoseconds &*= 10 }
    fraction = (nanoseconds + 500) / 1000
    return true
  }

  /// `Z`, `GMT`, `UTC`, `+hh`, `+hhmm` or `+hh:mm`.
  private mutating func takeZone(allowsZ: Bool) -> Bool {
    guard index < text.count else { return false }
    if name(Self.zones, letters: 3) != nil {
      offset = 0
      return true
    }
    let sign = text[index]
    index &+= 1
    if allowsZ, sign | 0x20 == UInt8(ascii: "z") {
      offset = 0
      return true
    }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = digits(least: 2, most: 2) else {
      return false
    }
    var minutes = 0
    if index < text.count, text[index] == UInt8(ascii: ":") {
      index &+= 1
      guard let number = digits(least: 2, most: 2) else { return false }
      minutes = number
    } else if index < text.count, text[index] &- 0x30 < 10 {
      guard let number = digits(least: 2, most: 2) else { return false }
      minutes = number
    }
    guard hours < 24, minutes < 60 else { return false }
    offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    return true
  }

  /// The number of the name at this place, in full or its first `letters`, in either case.
  private mutating func name(_ names: [StaticString], letters: Int) -> Int? {
    for (number, name) in names.enumerated() {
      let common = commonLength(name)
      guard common >= letters else { continue }
      index &+= common == name.utf8CodeUnitCount ? common : letters
      return number
    }
    return nil
  }

  private func commonLength(_ name: StaticString) -> Int {
    var count = 0
    while count < name.utf8CodeUnitCount, index + count < text.count,
      text[index + count] | 0x20 == name.utf8Start[count]
    {
      count += 1
    }
    return count
  }

  private static let months: [StaticString] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]
  private static let weekdays: [StaticString] = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]
  private static let halves: [StaticString] = ["am", "pm"]
  private static let zones: [StaticString] = ["gmt", "utc"]

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Days of the Gregorian calendar since 1 January 1970, counted in years that begin in March.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
