import ArgumentParser
import ControlAPI
import FoundationEssentials
import Glibc

/// A point in time on the command line.
struct StartTime: Sendable, Hashable {
  let date: Date

  /// Parses an ISO 8601 time with a zone (also with a space instead of the `T`, as ladectl prints it), a local
  /// `YYYY-MM-DD HH:MM[:SS]`, or a time relative to now such as `+10m`.
  /// - Throws: `ValidationError` that lists the accepted forms.
  init(parsing text: String, now: Date = Date()) throws {
    if let seconds = Self.seconds(fromNow: text) {
      date = now.addingTimeInterval(seconds)
    } else if let zoned = WireFormat.date(of: text.replacing(" ", with: "T", maxReplacements: 1)) {
      date = zoned
    } else if let local = Self.localTime(text) {
      date = local
    } else {
      throw ValidationError(
        "'\(text)' isn't a time; write 2026-03-01T12:00:00Z, '2026-03-01 12:00' (local), or +10m (s, m, h, d).")
    }
  }

  private static func seconds(fromNow text: String) -> Double? {
    text.first == "+" ? Duration(parsing: text.dropFirst())?.seconds : nil
  }

  private static func localTime(_ text: String) -> Date? {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "T" })
    guard words.count == 2, let date = numbers(words[0], "-", [4, 2, 2]) else { return nil }
    guard let time = numbers(words[1], ":", [2, 2, 2]) ?? numbers(words[1], ":", [2, 2]).map({ $0 + [0] })
    else { return nil }
    guard 1...12 ~= date[1], 1...31 ~= date[2], 0...23 ~= time[0], 0...59 ~= time[1], 0...59 ~= time[2]
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (date[0] - 1900, date[1] - 1, date[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time[2])
    parts.tm_isdst = -1
    let seconds = mktime(&parts)
    // Otherwise 31 April would become 1 May.
    guard seconds != -1, parts.tm_mday == date[2] else { return nil }
    return Date(timeIntervalSince1970: Double(seconds))
  }

  private static func numbers(_ text: Substring, _ separator: Character, _ digits: [Int]) -> [Int32]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == digits.count else { return nil }
    let numbers = zip(parts, digits).compactMap { part, count in
      part.count == count && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32(part) : nil
    }
    return numbers.count == parts.count ? numbers : nil
  }
}
