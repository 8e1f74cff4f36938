import ControlAPI
import Glibc
import Synchronization

/// How many connections clients may hold at a time. They are shares of the descriptors that the process may have: no user takes
/// them all from the others, and all users together leave enough for jobs, stores and those who are never refused.
package struct ConnectionLimits: Sendable, Hashable {
  /// Of all users together.
  package var ofAll: Int
  /// Of one user. Who comes over TCP has no name, and all of them count as one.
  package var ofOne: Int
  /// Of those as well who are trusted: what is left is needed for jobs and stores.
  package var ofEverybody: Int
  /// The users who are refused only when there is no room for anybody, and don't count otherwise.
  package var trusted: Set<UInt32>
  /// How long a refused client may take to ask, and to read the answer.
  package var patience: Duration
  /// How long a connection may be open without a request or its answer.
  package var idle: Duration

  /// The refused clients that are waited for at a time, so that they have asked when they are answered. Their connections take
  /// descriptors, too.
  var waitingRefused: Int { min(64, max(1, ofAll / 4)) }

  /// Limits by number.
  package init(
    ofAll: Int, ofOne: Int, ofEverybody: Int = .max, trusted: Set<UInt32> = [0, geteuid()],
    patience: Duration = .seconds(1), idle: Duration = .seconds(60)
  ) {
    self.ofAll = ofAll
    self.ofOne = ofOne
    self.ofEverybody = ofEverybody
    self.trusted = trusted
    self.patience = patience
    self.idle = idle
  }

  /// Half of the process's descriptors for all users, and a quarter of these for one. Root and the process's own user are
  /// trusted.
  /// - Parameters:
  ///   - descriptors: how many the process may have (RLIMIT_NOFILE).
  ///   - reserved: those that aren't for connections. Of the others a fifth is for clients that are refused in words.
  package static func ofProcess(with descriptors: Int, reserving reserved: Int) -> ConnectionLimits {
    let ofEverybody = max((descriptors - reserved) / 5 * 4, 3)
    let ofAll = min(max(descriptors / 2, 4), ofEverybody)
    return ConnectionLimits(ofAll: ofAll, ofOne: max(ofAll / 4, 1), ofEverybody: ofEverybody)
  }

  /// The same, with nothing reserved.
  package static var ofProcess: ConnectionLimits {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return ofProcess(with: Int(clamping: limit.rlim_cur), reserving: 0)
  }
}

/// Who holds connections.
enum ConnectionHolder: Sendable, Hashable {
  case user(UInt32)
  /// Somebody who came over TCP.
  case network
}

extension ConnectionHolder: CustomStringConvertible {
  var description: String {
    switch self {
    case .user(let id): "user \(id)"
    case .network: "clients over TCP"
    }
  }
}

/// Why a connection is refused; the raw values are the label `reason` of the metric.
enum ConnectionRefusal: String, Sendable, CaseIterable {
  /// No descriptor is left for it.
  case descriptors
  /// Its user has as many as one user may.
  case user
  /// All users together have as many as they may.
  case all
}

/// Counts the open connections, by who holds them, and those that were refused. Safe from any thread.
final class ConnectionCounts: Sendable {
  private struct State {
    var open: [ConnectionHolder: Int] = [:]
    /// All that are open.
    var total = 0
    /// The open ones that count.
    var counted = 0
    var refused: [ConnectionRefusal: Int] = [:]
    var logged: [Logged: ContinuousClock.Instant] = [:]
    /// The latest refusal that an operator should do something about.
    var trouble: (time: ContinuousClock.Instant, reason: String)?
  }

  /// What a line of the log is about. Each user has lines of its own: the refusals of one mustn't hide another's.
  private struct Logged: Hashable {
    let refusal: ConnectionRefusal
    let holder: ConnectionHolder?
  }

  /// The users whose refusals are logged within ``kept``, at most: one who has many numbers doesn't fill the log.
  private static let mostLogged = 32

  /// How long trouble is reported by health; and a refusal isn't logged again for as long.
  private static let kept = Duration.seconds(60)

  let limits: ConnectionLimits
  private let state = Mutex(State())

  init(_ limits: ConnectionLimits) { self.limits = limits }

  /// Counts a connection that was accepted, until ``left(_:)``.
  /// - Returns: nil, or why it is refused; it isn't counted then.
  func came(_ holder: ConnectionHolder) -> ConnectionRefusal? {
    state.withLock { state in
      if counts(holder) {
        if state.open[holder, default: 0] >= limits.ofOne { return .user }
        if state.counted >= limits.ofAll { return .all }
      }
      if state.total >= limits.ofEverybody { return .descriptors }
      if counts(holder) { state.counted += 1 }
      state.total += 1
      state.open[holder, default: 0] += 1
      return nil
    }
  }

  /// A connection that was counted is closed.
  func left(_ holder: ConnectionHolder) {
    state.withLock { state in
      let open = state.open[holder, default: 0] - 1
      state.open[holder] = open > 0 ? open : nil
      state.total -= 1
      if counts(holder) { state.counted -= 1 }
    }
  }

  /// Takes note of refused connections.
  /// - Parameters:
  ///   - holder: whose they are, where only one user is concerned.
  ///   - trouble: what an operator should know; nil where only one user is concerned.
  ///   - now: when they were refused.
  /// - Returns: whether to log it: the first time, and once a minute.
  func note(
    _ refusal: ConnectionRefusal, of holder: ConnectionHolder? = nil, count: Int = 1, trouble: String? = nil,
    at now: ContinuousClock.Instant = .now
  ) -> Bool {
    state.withLock { state in
      state.refused[refusal, default: 0] += count
      if let trouble { state.trouble = (now, trouble) }
      let line = Logged(refusal: refusal, holder: holder)
      if let logged = state.logged[line], logged.duration(to: now) < Self.kept { return false }
      state.logged = state.logged.filter { $0.value.duration(to: now) < Self.kept }
      if holder != nil, state.logged.keys.count(where: { $0.holder != nil }) >= Self.mostLogged { return false }
      state.logged[line] = now
      return true
    }
  }

  /// How many are open.
  var open: Int { state.withLock { $0.total } }

  /// How many were refused.
  subscript(refusal: ConnectionRefusal) -> Int { state.withLock { $0.refused[refusal] ?? 0 } }

  /// The three who hold most, for the log: `user 1000: 512, user 1001: 3`.
  var mostHeld: String {
    state.withLock { $0.open }.filter { counts($0.key) }.map { (name: "\($0.key)", count: $0.value) }
      .sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(3)
      .map { "\($0.name): \($0.count)" }.joined(separator: ", ")
  }

  /// Whether clients get connections; a warning for a minute after some didn't.
  var health: Health.Check {
    let trouble = state.withLock { $0.trouble }
    guard let trouble, trouble.time.duration(to: .now) < Self.kept else { return .init(.pass) }
    return .init(
      .warn,
      "clients were refused within the last minute, because \(trouble.reason). End clients that hold connections, or "
        + "raise LimitNOFILE= of the service")
  }

  private func counts(_ holder: ConnectionHolder) -> Bool {
    if case .user(let id) = holder { !limits.trusted.contains(id) } else { true }
  }
}
