import Foundation
import Synchronization

/// The `Date` of answers (RFC 9110, 6.6.1), made when one is given: a server that has it at hand wakes up every second.
final class AnswerDate: Sendable {
  private let last = Mutex<(second: time_t, text: String)>((0, ""))

  /// The time now, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  var text: String {
    let now = time(nil)
    return last.withLock { last in
      if last.second != now { last = (now, Self.text(of: now)) }
      return last.text
    }
  }

  static func text(of second: time_t) -> String {
    var second = second
    var parts = tm()
    gmtime_r(&second, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday) % 7]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon) % 12]) "
      + "\(1900 + parts.tm_year) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}
