import ControlServer
import Dispatch
import Synchronization

/// Looks up the users whom a proxy names. A name service may take its time, so that is done on a thread of its own, one after
/// the other, and what was found is remembered for a while.
final class UserDirectory: Sendable {
  private struct Entry {
    let user: NamedUser
    let until: ContinuousClock.Instant
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var waiting = 0
  }

  /// How long a user is remembered, and one who may not come in. A changed group has its effect after that.
  private static let times = (user: Duration.seconds(60), refused: Duration.seconds(10))
  /// Names that are remembered, at most.
  static let mostEntries = 1024
  /// Requests that wait, at most.
  static let mostWaiting = 64

  private let lookUp: @Sendable (String) -> NamedUser
  private let now: @Sendable () -> ContinuousClock.Instant
  private let queue = DispatchQueue(label: "web.users")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - lookUp: finds a user by login name. It may block, and is called once at a time.
  ///   - now: the clock.
  init(
    lookUp: @escaping @Sendable (String) -> NamedUser, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.lookUp = lookUp
    self.now = now
  }

  /// The user of that name.
  /// - Throws: ``ControlError/unavailable(reason:hint:)`` while too many wait for an answer.
  func user(named name: String) async throws(ControlError) -> NamedUser {
    if let known = known(name) { return known }
    let mayWait = state.withLock { state in
      guard state.waiting < Self.mostWaiting else { return false }
      state.waiting += 1
      return true
    }
    guard mayWait else {
      throw ControlError.unavailable(
        reason: "Too many requests wait to learn who their users are.",
        hint: "Try again in a moment. 'getent passwd' shows whether this machine's name service answers.")
    }
    defer { state.withLock { $0.waiting -= 1 } }
    return await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: known(name) ?? found(name)) }
    }
  }

  /// What is remembered; nil if that is nothing, or old.
  private func known(_ name: String) -> NamedUser? {
    let now = now()
    return state.withLock { state in
      guard let entry = state.entries[name], entry.until > now else { return nil }
      return entry.user
    }
  }

  private func found(_ name: String) -> NamedUser {
    let user = lookUp(name)
    let now = now()
    let isIn = if case .user = user { true } else { false }
    let entry = Entry(user: user, until: now + (isIn ? Self.times.user : Self.times.refused))
    state.withLock { state in
      if state.entries.count >= Self.mostEntries { state.entries = state.entries.filter { $0.value.until > now } }
      // Whoever makes up names doesn't make it grow.
      if state.entries.count >= Self.mostEntries { state.entries.removeAll() }
      state.entries[name] = entry
    }
    return user
  }
}
