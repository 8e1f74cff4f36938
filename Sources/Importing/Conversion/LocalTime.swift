import Foundation
import ManagedObjects

/// The offsets of a time zone from UTC, as a table by local time: for dates that don't give their zone.
///
/// Foundation gives the offset at an instant, not at a local time. So the zone's transitions are listed once, and each date
/// costs a binary search among them. A local time that is skipped when clocks go forward is read with the offset from
/// before, and so becomes later by the difference: 02:30 becomes 03:30. A local time that occurs twice, because clocks go
/// back, is the first of the two.
///
/// After the end of the table the rules continue: the calendar repeats every 400 years, weekdays included.
struct LocalTime: Sendable {
  /// 400 years of the Gregorian calendar, in seconds.
  private static let cycle: Int64 = 146_097 * 86_400
  /// The year 2100: every zone has fixed rules from then on.
  private static let regular: Int64 = 4_102_444_800
  /// The year 1800, before the first time zones.
  private static let beginning: Int64 = -5_364_662_400

  /// The first local second of each offset except the first, which applies before all of them.
  private let begins: [Int64]
  private let offsets: [Int64]

  /// - Throws: `ConverterError.unknownTimeZone`.
  init(_ name: String, attribute: String) throws(ConverterError) {
    guard !name.isEmpty, let zone = TimeZone(identifier: name) else {
      throw .unknownTimeZone(
        attribute: attribute, name: name, nearest: NearestName.of(name, among: TimeZone.knownTimeZoneIdentifiers))
    }
    let end = Date(timeIntervalSince1970: TimeInterval(Self.regular + Self.cycle))
    var instant = Date(timeIntervalSince1970: TimeInterval(Self.beginning))
    var begins: [Int64] = []
    var offsets = [Int64(zone.secondsFromGMT(for: instant))]
    while let next = zone.nextDaylightSavingTimeTransition(after: instant), next > instant, next < end {
      let former = offsets[offsets.count - 1]
      let offset = Int64(zone.secondsFromGMT(for: next))
      instant = next
      if offset == former { continue }
      begins.append(Int64(next.timeIntervalSince1970) + max(former, offset))
      offsets.append(offset)
    }
    self.begins = begins
    self.offsets = offsets
  }

  /// Seconds east of UTC at a local time, given as seconds since the beginning of 1970 in local time.
  func offset(at local: Int64) -> Int64 {
    var local = local
    if local >= Self.regular + Self.cycle { local = Self.regular + (local - Self.regular) % Self.cycle }
    // The last offset that has begun.
    var low = 0
    var high = begins.count
    while low < high {
      let middle = (low + high) / 2
      if begins[middle] <= local { low = middle + 1 } else { high = middle }
    }
    return offsets[low]
  }
}
