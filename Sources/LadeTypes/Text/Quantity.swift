package import FoundationEssentials
import Glibc

/// Numbers, sizes, durations and times as people read them: in command output, notes, logs and messages.
package enum Quantity {
  /// `1,234,567`.
  package static func count(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }

  /// `1 record`, `2 records`.
  package static func count(_ number: some BinaryInteger, _ noun: String) -> String {
    count(number) + " " + noun + (number == 1 ? "" : "s")
  }

  /// `12.4 MB`, in powers of 1000.
  package static func bytes(_ number: Double) -> String {
    var value = number
    for unit in ["B", "kB", "MB", "GB", "TB"] {
      // A value that would be rounded to four digits belongs to the next unit.
      if value < 999.5 || unit == "TB" {
        return unit == "B" || value >= 99.95 ? "\(Int(value.rounded())) \(unit)" : "\(tenths(value)) \(unit)"
      }
      value /= 1000
    }
    return ""
  }

  /// `0:07`, `12:05`, `3:00:00`: how long something has been running.
  package static func duration(_ seconds: Double) -> String {
    let total = Int(min(max(seconds, 0), 359_999_999).rounded())
    let (hours, minutes, rest) = (total / 3600, total / 60 % 60, total % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  /// `0.4 ms`, `0.45 s`, `12.5 s`, `2:05`: how long something took.
  package static func span(_ seconds: Double) -> String {
    switch seconds {
    case ..<0.01: return tenths(max(seconds, 0) * 1000) + " ms"
    case ..<9.995:
      let hundredths = Int((seconds * 100).rounded())
      return "\(hundredths / 100).\(two(hundredths % 100)) s"
    case ..<59.95: return tenths(seconds) + " s"
    default: return duration(seconds)
    }
  }

  /// `2.5 s`, `30 s`, `10 min`, `1 h`: a time span that somebody has chosen.
  package static func seconds(_ seconds: Double) -> String {
    guard seconds == seconds.rounded(), seconds.magnitude < 1e15 else { return "\(seconds) s" }
    let whole = Int(seconds)
    if whole > 0, whole % 3600 == 0 { return "\(whole / 3600) h" }
    return whole > 0 && whole % 60 == 0 ? "\(whole / 60) min" : "\(whole) s"
  }

  /// `2026-03-01 12:00:05+01:00`: the local time with its offset from UTC, `Z` for none, as RFC 3339 writes it.
  package static func time(_ date: Date) -> String {
    let parts = local(date)
    let minutes = parts.tm_gmtoff.magnitude / 60
    let offset =
      parts.tm_gmtoff == 0 ? "Z" : (parts.tm_gmtoff < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
    return text(of: parts, "%Y-%m-%d %H:%M:%S") + offset
  }

  /// `12:00` for a time of today, `Mar 1` for one of this year, `2025-03-01` for another: the local time where room is short.
  package static func shortTime(_ date: Date, now: Date) -> String {
    let (parts, today) = (local(date), local(now))
    if parts.tm_year != today.tm_year { return text(of: parts, "%Y-%m-%d") }
    return parts.tm_yday == today.tm_yday
      ? text(of: parts, "%H:%M") : text(of: parts, "%b ") + String(parts.tm_mday)
  }

  /// `12:00:05`: the local time of day, for a screen that shows what happens now.
  package static func clock(_ date: Date) -> String { text(of: local(date), "%H:%M:%S") }

  private static func local(_ date: Date) -> tm {
    var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
    var parts = tm()
    localtime_r(&seconds, &parts)
    return parts
  }

  private static func text(of parts: tm, _ format: String) -> String {
    var parts = parts
    var text = [CChar](repeating: 0, count: 64)
    let length = strftime(&text, text.count, format, &parts)
    return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
