package import ControlAPI
import Synchronization

/// Who may see the pages: links that were asked for over the control socket, and the browsers that have traded one for
/// a session. All of it is in memory, so a restart of the daemon signs everybody out.
///
/// Invariants:
/// 1. A link is traded once, and within ``WebSessionLimits/link``.
/// 2. Neither a link's secret nor a session's is kept: only their SHA-256, compared in constant time.
/// 3. A session ends when it has been idle, when it is too old, when its browser signs out, or when its user opens more
///    than ``WebSessionLimits/ofOne``. So their number is bounded.
package final class WebSessions: Sendable {
  private struct Entry {
    let digest: SecretDigest
    let session: WebSession
    let began: ContinuousClock.Instant
    var lastUse: ContinuousClock.Instant
  }

  private struct State {
    /// Where the pages are, without a slash at the end: `http://127.0.0.1:9465`. Nil while nobody listens.
    var origin: String?
    /// Where a proxy serves them that signs browsers in; nil for nowhere.
    var proxy: String?
    /// Oldest first.
    var links: [Entry] = []
    /// Oldest first.
    var sessions: [Entry] = []
  }

  package let limits: WebSessionLimits
  private let state = Mutex(State())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// No links and no sessions.
  /// - Parameter now: the clock, which goes on while the machine sleeps.
  package init(
    limits: WebSessionLimits = WebSessionLimits(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.limits = limits
    self.now = now
  }

  /// Says where the pages are from now on.
  package func serve(at origin: String) { state.withLock { $0.origin = origin } }

  /// Says that a proxy signs browsers in.
  package func serve(behindProxyAt origin: String) { state.withLock { $0.proxy = origin } }

  /// A new link for a peer. The caller has looked up the user's name, which may take long.
  /// - Throws: ``ControlError/conflict(reason:hint:)`` where there are no pages,
  ///   ``ControlError/unavailable(reason:hint:)`` where there are too many links.
  package func link(for peer: Peer, user: String) throws(ControlError) -> WebLink {
    let secret = SessionSecret()
    let now = now()
    let origin = state.withLock { state -> Result<String, ControlError> in
      guard let origin = state.origin else { return .failure(state.proxy.map(Self.signedInElsewhere) ?? Self.noPages) }
      removeEnded(&state, at: now)
      let entry = Entry(
        digest: secret.digest, session: WebSession(peer: peer, user: user), began: now, lastUse: now)
      guard add(entry, to: &state.links) else { return .failure(Self.full) }
      return .success(origin)
    }
    return WebLink(
      url: try origin.get() + "/sign-in?token=" + secret.text, seconds: Double(limits.link.components.seconds))
  }

  /// Trades a link's secret for a session.
  /// - Returns: the secret of the browser's cookie; nil for a link that isn't there, was used, or is too old.
  package func trade(_ secret: SessionSecret) throws(ControlError) -> (SessionSecret, WebSession)? {
    let cookie = SessionSecret()
    let (given, now) = (secret.digest, now())
    let traded = state.withLock { state -> Result<WebSession?, ControlError> in
      removeEnded(&state, at: now)
      guard let place = Self.place(of: given, in: state.links) else { return .success(nil) }
      let session = state.links.remove(at: place).session
      let entry = Entry(digest: cookie.digest, session: session, began: now, lastUse: now)
      return add(entry, to: &state.sessions) ? .success(session) : .failure(Self.full)
    }
    return try traded.get().map { (cookie, $0) }
  }

  /// The session of a cookie's secret; nil where there is none.
  /// - Parameter isUse: whether it isn't idle from now on. What an open page fetches by itself is no use.
  package func session(_ secret: SessionSecret, isUse: Bool = true) -> WebSession? {
    let (given, now) = (secret.digest, now())
    return state.withLock { state in
      removeEnded(&state, at: now)
      guard let place = Self.place(of: given, in: state.sessions) else { return nil }
      if isUse { state.sessions[place].lastUse = now }
      return state.sessions[place].session
    }
  }

  /// Ends the session of a cookie's secret.
  package func end(_ secret: SessionSecret) {
    let given = secret.digest
    state.withLock { state in
      if let place = Self.place(of: given, in: state.sessions) { state.sessions.remove(at: place) }
    }
  }

  /// Adds an entry, for which the oldest of its user goes where there are too many.
  /// - Returns: false where all users together have too many.
  private func add(_ entry: Entry, to entries: inout [Entry]) -> Bool {
    let own = entries.indices.filter { entries[$0].session.peer.uid == entry.session.peer.uid }
    if own.count >= limits.ofOne, let oldest = own.first { entries.remove(at: oldest) }
    guard entries.count < limits.ofAll else { return false }
    entries.append(entry)
    return true
  }

  private func removeEnded(_ state: inout State, at now: ContinuousClock.Instant) {
    state.links.removeAll { $0.began.duration(to: now) >= limits.link }
    state.sessions.removeAll {
      $0.lastUse.duration(to: now) >= limits.idle || $0.began.duration(to: now) >= limits.absolute
    }
  }

  /// Compares with every entry, so that the time says nothing.
  private static func place(of digest: SecretDigest, in entries: [Entry]) -> Int? {
    var found: Int?
    for (place, entry) in entries.enumerated() where entry.digest.matches(digest) { found = place }
    return found
  }

  private static let noPages = ControlError.conflict(
    reason: "The daemon serves no pages.",
    hint: "Enable laded-web.socket and restart laded, or set web.address where no unit denies the network.")
  private static func signedInElsewhere(_ proxy: String) -> ControlError {
    .conflict(reason: "A proxy signs browsers in, so there are no links.", hint: "Open \(proxy) in a browser.")
  }
  private static let full = ControlError.unavailable(
    reason: "Too many browsers are signed in.", hint: "Sign out in some, or restart laded.")
}
