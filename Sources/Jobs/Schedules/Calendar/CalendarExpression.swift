// What systemd.time(7) calls a calendar event, and means the same by it:
//
//   [WEEKDAYS] [[YEARS-]MONTHS-DAYS] [HOURS:MINUTES[:SECONDS]] [ZONE]      Mon..Fri 2026-*-* 02:30 Europe/Berlin
//   minutely hourly daily weekly monthly quarterly semiannually yearly
//
// It stands for the times at which the zone's clocks show something that every part of it matches. A time that the
// clocks skip isn't made up for; of a time that they show twice the first is meant, and nothing elapses in the hour
// that comes again unless the search begins there.

package import Foundation
import ManagedObjects

/// A repeating time, written as in a timer of systemd's.
package struct CalendarExpression: Sendable, Hashable, CustomStringConvertible {
  /// Bit 0 is Monday; none for every day.
  var weekdays: UInt8 = 0
  var years = CalendarField.any
  var months = CalendarField.any
  var days = CalendarField.any
  /// Whether `days` are counted from the end of the month, 1 being its last.
  var countsDaysFromEnd = false
  var hours = CalendarField.any
  var minutes = CalendarField.any
  /// Millionths of a second.
  var seconds = CalendarField.any
  /// Whether the expression itself says its zone.
  var namesZone = false
  /// The zone whose clocks are meant.
  package internal(set) var zone: CalendarZone

  init(zone: CalendarZone) { self.zone = zone }

  package static func == (a: CalendarExpression, b: CalendarExpression) -> Bool {
    a.normalized == b.normalized && a.zone.name == b.zone.name
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(normalized)
    hasher.combine(zone.name)
  }

  /// As ``normalized``.
  package var description: String { normalized }

  /// The first time after `time` that it stands for; nil if there is none before the year 2200.
  package func next(after time: Date) -> Date? {
    guard let microseconds = ISODate.microseconds(of: time) else { return nil }
    return next(afterMicroseconds: microseconds).map(ISODate.date(microseconds:))
  }
}

extension CalendarExpression {
  static let weekdayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  /// The expression with all of its parts, as systemd's own normalised form: `Mon..Fri *-*-* 02:30:00 Europe/Berlin`.
  /// The zone is there if the expression named one.
  package var normalized: String {
    var text = weekdays == 0 ? "" : Self.text(ofWeekdays: weekdays) + " "
    text += years.text(width: 4) + "-" + months.text(width: 2) + (countsDaysFromEnd ? "~" : "-")
    text += days.text(width: 2) + " "
    text += hours.text(width: 2) + ":" + minutes.text(width: 2) + ":" + seconds.textOfSeconds
    return namesZone ? text + " " + zone.name : text
  }

  /// `Mon..Wed,Fri,Sat`
  private static func text(ofWeekdays weekdays: UInt8) -> String {
    var runs: [ClosedRange<Int>] = []
    for day in 0..<7 where weekdays & 1 << UInt8(day) != 0 {
      if let last = runs.last, last.upperBound == day - 1 {
        runs[runs.count - 1] = last.lowerBound...day
      } else {
        runs.append(day...day)
      }
    }
    return runs.map { run in
      let first = weekdayNames[run.lowerBound]
      guard run.count > 1 else { return first }
      return first + (run.count > 2 ? ".." : ",") + weekdayNames[run.upperBound]
    }.joined(separator: ",")
  }
}

extension CalendarField {
  fileprivate func text(width: Int) -> String {
    items.isEmpty ? "*" : text(oneStep: 1) { Self.padded($0, $1 ? 1 : width) }
  }

  fileprivate var textOfSeconds: String {
    if items.isEmpty || items == [Item(first: 0, last: nil, step: 1_000_000)] { return "*" }
    return text(oneStep: 1_000_000) { value, isStep in
      let (seconds, fraction) = value.quotientAndRemainder(dividingBy: 1_000_000)
      let whole = Self.padded(seconds, isStep ? 1 : 2)
      return fraction == 0 ? whole : whole + "." + Self.padded(fraction, 6)
    }
  }

  private func text(oneStep: Int, _ number: (_ value: Int, _ isStep: Bool) -> String) -> String {
    items.map { item in
      var text = number(item.first, false)
      if let last = item.last { text += ".." + number(last, false) }
      if item.step > 0, item.last == nil || item.step != oneStep { text += "/" + number(item.step, true) }
      return text
    }.joined(separator: ",")
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// Why a text is no calendar expression.
package struct CalendarExpressionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where, in characters from 1.
  package let column: Int
  /// What is wrong there, and what was expected.
  package let problem: String

  package var description: String { "column \(column): \(problem)" }
}
