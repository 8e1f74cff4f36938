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
