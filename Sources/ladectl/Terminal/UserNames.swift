import LadeTypes
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
  /// The text with user names instead of numbers.
  var namingUsers: String { UserNames.system.naming(self) }
}
