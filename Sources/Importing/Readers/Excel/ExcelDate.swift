/// Dates and times as workbooks have them: days, and fractions of days, since a day that the workbook chooses.
struct ExcelDate {
  /// How a cell shows its number.
  enum Style: UInt8 {
    case number
    /// A date without a time.
    case date
    case dateTime
    /// A time of day.
    case time
    /// Hours, minutes or seconds that aren't bounded by a day.
    case elapsed
  }

  /// Whether days are counted from 1904-01-01, as Excel for Macintosh once did, and not from 1899-12-31.
  let is1904: Bool

  private static let millisecondsPerDay: Int64 = 86_400_000
  /// 9999-12-31 in either system, and the day after.
  private var end: Double { is1904 ? 2_957_004 : 2_958_466 }

  /// Appends a serial number as ISO 8601 without a zone: a date, or a date and a time; a time of day as `12:30:00`; a duration
  /// as hours, minutes and seconds, `36:15:00`.
  /// - Returns: false if it is none, and Excel shows `####`.
  func append(_ serial: Double, _ style: Style, to output: inout [UInt8]) -> Bool {
    guard serial >= 0, serial < end else { return false }
    let milliseconds = Int64((serial * Double(Self.millisecondsPerDay)).rounded())
    if style == .elapsed {
      ClockText.append(milliseconds: milliseconds, to: &output)
      return true
    }
    let day = milliseconds / Self.millisecondsPerDay
    let rest = milliseconds % Self.millisecondsPerDay
    // A time of day has no date: the first day of the system stands for none.
    if day == 0, style == .time || (style == .dateTime && !is1904) {
      ClockText.append(milliseconds: rest, to: &output)
      return true
    }
    appendDay(day, to: &output)
    if style != .date || rest != 0 {
      output.append(UInt8(ascii: "T"))
      ClockText.append(milliseconds: rest, to: &output)
    }
    return true
  }

  private func appendDay(_ day: Int64, to output: inout [UInt8]) {
    if !is1904, day == 0 || day == 60 {
      // Days that Excel has and no calendar: as it shows them. A date that they are read for is refused.
      output.append(contentsOf: (day == 0 ? "1900-01-00" : "1900-02-29").utf8)
      return
    }
    // Days since 0000-03-01, in eras of 400 years. Source: Howard Hinnant, “chrono-Compatible Low-Level Date Algorithms”.
    let since1970 = is1904 ? day - 24_107 : day - (day > 60 ? 25_569 : 25_568)
    let shifted = since1970 + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    ClockText.append(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), digits: 4, to: &output)
    output.append(UInt8(ascii: "-"))
    ClockText.append(month, digits: 2, to: &output)
    output.append(UInt8(ascii: "-"))
    ClockText.append(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, digits: 2, to: &output)
  }
}

extension ExcelDate.Style {
  /// The style of a built-in number format. Those from 27 to 58 are dates of East Asian versions.
  /// Source: ECMA-376, part 1, 18.8.30.
  init(builtIn number: Int) {
    switch number {
    case 14...17, 27...31, 34...36, 50...54, 57...58: self = .date
    case 22: self = .dateTime
    case 18...21, 32...33, 45, 47, 55...56: self = .time
    case 46: self = .elapsed
    default: self = .number
    }
  }

  /// The style of a format code such as `yyyy\-mm\-dd;@`: by its letters outside of quotes, brackets and escapes, in the
  /// first of its sections.
  init(code: String) {
    var hasDate = false
    var hasMonth = false
    var hasTime = false
    var isElapsed = false
    var rest = Array(code.lowercased().utf8)[...]
    scan: while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: ";"): break scan
      case UInt8(ascii: "\""): rest = rest.drop { $0 != UInt8(ascii: "\"") }.dropFirst()
      // The next character is shown, or gives a width, or fills the cell.
      case UInt8(ascii: "\\"), UInt8(ascii: "_"), UInt8(ascii: "*"): rest = rest.dropFirst()
      case UInt8(ascii: "["):
        let inner = rest.prefix { $0 != UInt8(ascii: "]") }
        rest = rest.dropFirst(inner.count + 1)
        guard let letter = inner.first, "hms".utf8.contains(letter) else { continue }
        if inner.allSatisfy({ $0 == letter }) { isElapsed = true }
      case UInt8(ascii: "y"), UInt8(ascii: "d"): hasDate = true
      case UInt8(ascii: "h"), UInt8(ascii: "s"): hasTime = true
      case UInt8(ascii: "m"): hasMonth = true
      case UInt8(ascii: "g") where rest.starts(with: "eneral".utf8): rest = rest.dropFirst(6)
      default: break
      }
    }
    // An m beside hours or seconds is minutes.
    if hasMonth, !hasTime, !isElapsed { hasDate = true }
    switch (isElapsed, hasDate, hasTime) {
    case (true, false, _): self = .elapsed
    case (_, true, true), (true, true, _): self = .dateTime
    case (false, true, false): self = .date
    case (false, false, true): self = .time
    case (false, false, false): self = .number
    }
  }
}
