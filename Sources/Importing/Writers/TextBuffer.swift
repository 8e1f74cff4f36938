import Foundation
import ManagedObjects

/// An output buffer whose memory is reused. Belongs to one thread at a time.
final class TextBuffer {
  // Written for every byte of a text. Nothing has a reference to one of them while another writes it.
  @exclusivity(unchecked) private(set) var start: UnsafeMutablePointer<UInt8>
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private var capacity: Int

  init(capacity: Int = 1 << 18) {
    self.capacity = capacity
    start = .allocate(capacity: capacity)
  }

  deinit { start.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  func removeAll() { count = 0 }

  /// Keeps the first bytes only.
  func truncate(to length: Int) { count = min(count, length) }

  /// Room for this many further bytes; ``advance(by:)`` then counts those that were written.
  @inline(__always)
  func room(for more: Int) -> UnsafeMutablePointer<UInt8> {
    if count &+ more > capacity { grow(by: more) }
    return start + count
  }

  @inline(__always)
  func advance(by written: Int) { count &+= written }

  private func grow(by more: Int) {
    let larger = max(capacity * 2, count + more)
    let new = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    new.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (new, larger)
  }

  @inline(__always)
  func append(_ byte: UInt8) {
    room(for: 1).pointee = byte
    count &+= 1
  }

  @inline(__always)
  func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
    room(for: bytes.count).update(from: base, count: bytes.count)
    count &+= bytes.count
  }

  func append(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  func append(_ number: Int64) {
    let place = room(for: 20)
    var rest = number.magnitude
    var end = 20
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      repeat {
        end &-= 1
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        digits[end] = UInt8(truncatingIfNeeded: digit) | 0x30
        rest = quotient
      } while rest > 0
      if number < 0 {
        end &-= 1
        digits[end] = UInt8(ascii: "-")
      }
      for index in end..<20 { place[index - end] = digits[index] }
    }
    count &+= 20 &- end
  }
}

// Values as texts, each of which the importer's converter of its type reads as the same value.
extension TextBuffer {
  /// Appends a value that isn't null, without quotes.
  func append(_ value: Value, of column: WrittenColumn) throws(WriterError) {
    switch value {
    case .null, .unresolved: break
    case .bool(let flag): append(flag ? "true" : "false" as StaticString)
    case .int(let number): append(number)
    case .double(let number): append(number.description)
    case .decimal(let number): append(number.description)
    case .string(let text): append(text)
    case .date(let date): try append(date, of: column)
    case .data(let data) where column.isJSON: data.withUnsafeBytes { append($0.assumingMemoryBound(to: UInt8.self)) }
    case .data(let data): append(base64: data)
    case .uuid(let uuid): append(uuid)
    case .uri(let uri): append(uri.absoluteString)
    case .object(let id): append(id.description)
    case .objects, .orderedObjects, .composite: append(value.plainText)
    }
  }

  private func append(base64 data: Data) {
    let place = room(for: (data.count + 2) / 3 * 4)
    data.withUnsafeBytes { advance(by: Base64.write($0, to: place)) }
  }

  private func append(_ uuid: UUID) {
    let place = room(for: 36)
    withUnsafeBytes(of: uuid.uuid) { bytes in
      var written = 0
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          place[written] = UInt8(ascii: "-")
          written &+= 1
        }
        place[written] = Self.hexadecimal(byte &>> 4)
        place[written &+ 1] = Self.hexadecimal(byte & 15)
        written &+= 2
      }
    }
    advance(by: 36)
  }

  static func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? digit | 0x30 : digit &+ 0x57 }

  /// A date in its column's form. A year of more than four digits is written in seconds since 1970, which the importer
  /// refuses like any such date.
  func append(_ date: Date, of column: WrittenColumn) throws(WriterError) {
    guard let microseconds = ISODate.microseconds(of: date) else {
      return append(date.timeIntervalSince1970.description)
    }
    switch column.dates {
    case .iso:
      let place = room(for: ISODate.longest + 1)
      guard let count = ISODate.write(microseconds: microseconds, to: place) else {
        return append(date.timeIntervalSince1970.description)
      }
      place[10] = UInt8(ascii: "T")
      place[count] = UInt8(ascii: "Z")
      advance(by: count + 1)
    case .unix(let unit): append(microseconds, in: unit)
    case .pattern(let pattern, let format):
      let text = pattern.text(microseconds)
      guard text.withUnsafeBytes({ pattern.microsecondsSince1970($0) }) == microseconds else {
        throw .lossyDate(column: column.name, format: format, date: Value.date(date).plainText)
      }
      text.withUnsafeBufferPointer { append($0) }
    }
  }

  /// A time since 1970 in a unit, with a fraction if it needs one.
  private func append(_ microseconds: Int64, in unixTimeUnit: UnixTimeUnit) {
    let unit = UInt64(1_000_000 / unixTimeUnit.perSecond)
    if microseconds < 0 { append(UInt8(ascii: "-")) }
    let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: unit)
    append(Int64(whole))
    guard rest > 0 else { return }
    append(UInt8(ascii: "."))
    var (left, scale) = (rest, unit / 10)
    while left > 0 {
      append(UInt8(truncatingIfNeeded: left / scale) | 0x30)
      left %= scale
      scale /= 10
    }
  }
}

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
