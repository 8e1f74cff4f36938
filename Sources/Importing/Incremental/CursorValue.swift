import Foundation

/// A value of a cursor.
package enum CursorValue: Sendable, Hashable {
  case integer(Int64)
  case real(Double)
  case text(String)

  /// Reads a value as a person writes it: a number, if it looks like one.
  package init(parsing text: String) {
    if let integer = Int64(text), String(integer) == text {
      self = .integer(integer)
    } else if let real = Double(text), real.isFinite, text.contains(".") {
      self = .real(real)
    } else {
      self = .text(text)
    }
  }
}

extension CursorValue {
  /// A time without its hours, which comes before every way to write them; another value as it is.
  var day: CursorValue {
    if case .text(let text) = self, isTime { .text(String(text.prefix(10))) } else { self }
  }

  /// Whether it is a time in ISO 8601.
  package var isTime: Bool { if case .text(let text) = self { ISOText(text) != nil } else { false } }
}

extension CursorValue: CustomStringConvertible {
  package var description: String {
    switch self {
    case .integer(let number): String(number)
    case .real(let number): number.description
    case .text(let text): text
    }
  }
}

extension CursorValue {
  /// A stable form, to be stored. A stored value keeps its type.
  var stored: String {
    switch self {
    case .integer(let number): "i\(number)"
    case .real(let number): "r\(number)"
    case .text(let text): "t" + text
    }
  }

  init?(stored: String) {
    let rest = String(stored.dropFirst())
    switch stored.first {
    case "i":
      guard let number = Int64(rest) else { return nil }
      self = .integer(number)
    case "r":
      guard let number = Double(rest) else { return nil }
      self = .real(number)
    case "t": self = .text(rest)
    default: return nil
    }
  }
}

/// The values that a cursor can have beside others, so that they can be put in order. Of a column whose values are of several
/// kinds, those of one count.
enum CursorKind: Hashable, Sendable {
  case number
  /// A date or time in ISO 8601, in UTC or without a zone. Those with another character between date and time are of another
  /// kind, as are dates without a time: as texts, they have another order.
  case time(separator: Character?)
  /// Any text, in the order of its bytes.
  case text

  /// The kind of a value.
  /// - Parameter isTime: whether texts must be times, since the lag is a duration.
  init?(_ value: CursorValue, isTime: Bool) {
    switch value {
    case .integer, .real: self = .number
    case .text(let text):
      if let time = ISOText(text) {
        self = .time(separator: time.separator)
      } else if isTime {
        return nil
      } else {
        self = .text
      }
    }
  }

  /// Whether a value can be put in order with others of this kind.
  func contains(_ value: CursorValue) -> Bool {
    switch (self, value) {
    case (.number, .integer), (.number, .real), (.text, .text): true
    case (.time(let separator), .text(let text)): ISOText(text).map { $0.separator == separator } ?? false
    default: false
    }
  }

  /// A stable form, for the extract.
  var stored: String {
    switch self {
    case .number: "number"
    case .text: "text"
    case .time(let separator): "time" + (separator.map(String.init) ?? "")
    }
  }

  init?(stored: String) {
    switch stored {
    case "number": self = .number
    case "text": self = .text
    default:
      guard stored.hasPrefix("time") else { return nil }
      self = .time(separator: stored.dropFirst(4).first)
    }
  }
}

/// Of which kind the values of a cursor are, and the greatest of these. They are noted in their order.
///
/// The kind is the one of the cursor so far. Before there is one, it is that of most rows, so that a few odd ones among them don't
/// decide; also where an operator has set the cursor to a value of a kind that no row has. Then the rows of any text don't decide
/// in place of times, for they may be a few odd ones.
struct CursorTally {
  private let present: CursorKind?
  private let isFixed: Bool
  private let isTime: Bool
  /// In the order of their first values.
  private var found: [(kind: CursorKind, rows: Int64, last: CursorValue)] = []
  private var lastText: CursorValue?
  /// The first value that can't be a cursor's with this lag.
  private(set) var misfit: CursorValue?

  /// - Parameters:
  ///   - isFixed: whether the kind is that of `since` in any case.
  ///   - isTime: whether texts must be times, since the lag is a duration.
  init(since: CursorValue?, isFixed: Bool, isTime: Bool) {
    present = since.flatMap { CursorKind($0, isTime: isTime) }
    self.isFixed = isFixed
    self.isTime = isTime
  }

  mutating func note(_ value: CursorValue) {
    if case .text = value { lastText = value }
    guard let kind = CursorKind(value, isTime: isTime) else {
      misfit = misfit ?? value
      return
    }
    if let index = found.firstIndex(where: { $0.kind == kind }) {
      found[index].rows += 1
      found[index].last = value
    } else {
      found.append((kind, 1, value))
    }
  }

  var kind: CursorKind? {
    if let present, isFixed || found.contains(where: { $0.kind == present }) { return present }
    var most = present
    var rows: Int64 = 0
    // Any text is one that nothing else fits.
    for candidate in found.filter({ $0.kind != .text }) + found.filter({ $0.kind == .text })
    where candidate.rows > rows {
      if candidate.kind == .text, case .time? = present { continue }
      (most, rows) = (candidate.kind, candidate.rows)
    }
    return most
  }

  /// The greatest value of the kind.
  var last: CursorValue? {
    guard let kind else { return nil }
    // A time is a text, too.
    return kind == .text ? lastText : found.first { $0.kind == kind }?.last
  }
}

extension CursorValue {
  /// Where reading begins: the value less the lag, or somewhat before.
  ///
  /// A time is cut to its last whole second without a zone. As a text, that comes before every way to write the same second.
  /// - Throws: ``ExtractionError/lagWithoutUnit(cursor:value:)`` if it can't be computed.
  func less(
    _ lag: IncrementalSource.Lag?, _ unit: IncrementalSource.TimeUnit?, cursor: String
  ) throws(ExtractionError) -> CursorValue {
    switch (self, lag) {
    case (.integer, nil), (.real, nil): return self
    case (.integer(let value), .number(let lag)):
      let (difference, overflows) = value.subtractingReportingOverflow(lag)
      return .integer(overflows ? .min : difference)
    case (.real(let value), .number(let lag)): return .real(value - Double(lag))
    case (.integer(let value), .seconds(let lag)):
      guard let unit else { throw .lagWithoutUnit(cursor: cursor, value: "\(value)") }
      if unit == .days { return .real(Double(value) - lag * unit.perSecond) }
      let (difference, overflows) = value.subtractingReportingOverflow(Int64((lag * unit.perSecond).rounded(.up)))
      return .integer(overflows ? .min : difference)
    case (.real(let value), .seconds(let lag)):
      guard let unit else { throw .lagWithoutUnit(cursor: cursor, value: "\(value)") }
      return .real(value - lag * unit.perSecond)
    case (.text(let text), nil): return .text(ISOText(text)?.text(less: 0) ?? text)
    case (.text(let text), .seconds(let lag)):
      guard let time = ISOText(text) else { throw .lagOfNoTime(cursor: cursor, value: text) }
      return .text(time.text(less: lag))
    case (.text(let text), .number): throw .numberLagOfText(cursor: cursor, value: text)
    }
  }

  /// The value, or the present time if the value is a later one: a row that is dated in the future doesn't take the cursor past
  /// those that come before it.
  func notAfter(_ now: Date, _ unit: IncrementalSource.TimeUnit?) -> CursorValue {
    let seconds = now.timeIntervalSince1970
    switch self {
    case .integer(let value):
      guard let unit, Double(value) > unit.number(ofUnixTime: seconds) else { return self }
      return .integer(Int64(unit.number(ofUnixTime: seconds).rounded(.down)))
    case .real(let value):
      guard let unit, value > unit.number(ofUnixTime: seconds) else { return self }
      return .real(unit.number(ofUnixTime: seconds))
    case .text(let text):
      guard let time = ISOText(text), time.seconds > seconds else { return self }
      return .text(time.text(of: seconds))
    }
  }
}

/// A time as ISO 8601 writes it, `2026-11-28 20:30:05.25` or with `T`, in UTC or without a zone; or a date.
struct ISOText: Hashable {
  /// What stands between date and time; nil for a date alone.
  let separator: Character?
  private let hasSeconds: Bool
  /// Seconds since 1970, without their fraction. A time without a zone counts as if it were in UTC.
  private let whole: Int64
  private let fraction: Double

  /// Seconds since 1970.
  var seconds: Double { Double(whole) + fraction }

  /// Nil for anything else: a text with another zone than UTC isn't in the order of its time.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    func number(_ start: Int, _ count: Int) -> Int64? {
      guard start + count <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[start..<(start + count)] {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    func has(_ character: Unicode.Scalar, at place: Int) -> Bool {
      place < bytes.count && bytes[place] == UInt8(ascii: character)
    }
    guard let year = number(0, 4), has("-", at: 4), let month = number(5, 2), (1...12).contains(month), has("-", at: 7),
      let day = number(8, 2), (1...31).contains(day)
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    guard bytes.count > 10 else {
      (separator, hasSeconds, whole, fraction) = (nil, false, days * 86_400, 0)
      return
    }
    guard has("T", at: 10) || has(" ", at: 10), let hour = number(11, 2), hour < 24, has(":", at: 13),
      let minute = number(14, 2), minute < 60
    else { return nil }
    var (place, second, part) = (16, Int64(0), 0.0)
    let hasSeconds = has(":", at: place)
    if hasSeconds {
      guard let found = number(17, 2), found <= 60 else { return nil }
      (place, second) = (19, found)
      if has(".", at: place) {
        let digits = bytes[(place + 1)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let value = Double("0." + String(decoding: digits, as: UTF8.self)), !digits.isEmpty else { return nil }
        (place, part) = (place + 1 + digits.count, value)
      }
    }
    guard ["", "Z", "+00:00", "+00"].contains(String(decoding: bytes[place...], as: UTF8.self)) else { return nil }
    separator = Character(UnicodeScalar(bytes[10]))
    self.hasSeconds = hasSeconds
    whole = days * 86_400 + hour * 3600 + minute * 60 + second
    fraction = part
  }

  /// The time less a number of seconds, down to its last second, or to the last minute or day where the text has no more.
  func text(less lag: Double) -> String {
    text(atSecond: whole - Int64(min(max(lag, 0), 1e15).rounded(.up)))
  }

  /// Another time in the same form.
  func text(of seconds: Double) -> String { text(atSecond: Int64(seconds.rounded(.down))) }

  private func text(atSecond second: Int64) -> String {
    let (days, rest) = Self.floorDivided(max(second, Self.first), by: 86_400)
    let (year, month, day) = Self.date(days)
    var text = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
    guard let separator else { return text }
    text += "\(separator)\(Self.padded(rest / 3600, 2)):\(Self.padded(rest / 60 % 60, 2))"
    return hasSeconds ? text + ":\(Self.padded(rest % 60, 2))" : text
  }

  /// The beginning of the year 0: texts don't go further back.
  private static let first = days(year: 0, month: 1, day: 1) * 86_400

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func floorDivided(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  // Days of the Gregorian calendar since 1970, by eras of 400 years that begin in March.

  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, ofEra) = floorDivided(shifted, by: 400)
    let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
  }

  private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, ofEra) = floorDivided(days + 719_468, by: 146_097)
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let shifted = (5 * ofYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (era * 400 + year + (month <= 2 ? 1 : 0), month, ofYear - (153 * shifted + 2) / 5 + 1)
  }
}
