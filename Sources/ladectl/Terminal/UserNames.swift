import ControlAPI
import Synchronization

/// The names of this system's users. The daemon uses numbers, which don't change; people prefer names, as in `ls -l`.
final class UserNames: Sendable {
  static let system = UserNames(SystemUser.name)

  private let name: @Sendable (UInt32) -> String?
  /// A cache: a list may have thousands of jobs from a few users.
  private let known = Mutex<[UInt32: String?]>([:])

  init(_ name: @escaping @Sendable (UInt32) -> String?) { self.name = name }

  /// `cancelled by user 1000` as `cancelled by anna`; unknown users stay numbers.
  func naming(_ text: String) -> String {
    guard text.contains("user ") else { return text }
    return text.replacing(/\buser (\d{1,10})\b/) { match in
      UInt32(match.output.1).flatMap(cached) ?? String(match.output.0)
    }
  }

  private func cached(_ number: UInt32) -> String? {
    known.withLock { known in
      if let name = known[number] { return name }
      let name = name(number)
      known[number] = .some(name)
      return name
    }
  }
}

extension String {
  /// A text of the daemon as people read it: with user names instead of numbers, and with times in the local zone.
  var namingUsers: String { UserNames.system.naming(self).inLocalTime }

  private var inLocalTime: String {
    guard utf8.contains(UInt8(ascii: "Z")) else { return self }
    return replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/) { match in
      WireFormat.date(of: String(match.output)).map(Quantity.time) ?? String(match.output)
    }
  }
}
