import CPostgreSQL
import Foundation
import Glibc
import Synchronization

/// Listens to a channel, on a connection and a thread of its own. A lost connection is made again; as notifications may have been
/// lost with it, the handler is called then, too.
///
/// A pooler that works by transactions passes no notifications on, and says nothing. So none is listened through, unless it is
/// the way that was named for it; there it has to bring a notification of the listener's own first.
package final class PostgresListener: Sendable {
  /// Why a handler is called.
  package enum News: Sendable {
    /// The listener listens from now on. What was announced before may have been lost.
    case connected
    case announced
    /// It is time to look: nothing is heard.
    case unheard
  }

  /// Between two looks whether the server is still there, in milliseconds.
  private static let interval: Int32 = 30_000
  /// How long its own notification may take, in seconds.
  private static let patience: TimeInterval = 5

  private let access: PostgresAccess
  private let channel: String
  private let isForListening: Bool
  private let polls: Int32?
  private let handler: @Sendable (News) -> Void
  private let heard: @Sendable (Bool) -> Void
  private let failed: @Sendable (PostgresError) -> Void
  /// A pipe whose end for writing wakes the thread.
  private let wake: (read: Int32, write: Int32)
  private let isStopped = Atomic(false)

  /// Begins to listen.
  /// - Parameters:
  ///   - isForListening: whether `access` was named for it, so that a pooler may pass notifications on.
  ///   - polls: where nothing is heard, after how many milliseconds the handler is called again; nil for never.
  ///   - handler: called on the listener's thread.
  ///   - heard: called each time with whether announcements are heard from now on.
  ///   - failed: called once for each row of failures to connect.
  package init(
    _ access: PostgresAccess, channel: String, isForListening: Bool = false, polls: Int32? = nil,
    handler: @escaping @Sendable (News) -> Void, heard: @escaping @Sendable (Bool) -> Void = { _ in },
    failed: @escaping @Sendable (PostgresError) -> Void
  ) {
    self.access = access
    self.channel = channel
    self.isForListening = isForListening
    self.polls = polls
    self.handler = handler
    self.heard = heard
    self.failed = failed
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
    wake = (ends[0], ends[1])
    let thread = Thread { [self] in
      listen()
      Glibc.close(wake.read)
    }
    thread.name = "postgres-listen"
    thread.start()
  }

  /// Ends listening. The handler isn't called afterwards, apart from a call that runs.
  package func stop() {
    guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Glibc.close(wake.write)
  }

  private func listen() {
    var pause: Int32 = 100
    var hasFailed = false
    while !isStopped.load(ordering: .acquiring) {
      do {
        let connection = try access.connect()
        let isHeard = try begin(connection)
        (pause, hasFailed) = (100, false)
        heard(isHeard)
        guard isHeard else { return look() }
        handler(.connected)
        try follow(connection)
      } catch {
        let error = error as? PostgresError ?? PostgresError(message: "\(error)")
        if !hasFailed, !isStopped.load(ordering: .acquiring) {
          heard(false)
          failed(error)
        }
        hasFailed = true
        wait(pause)
        pause = min(pause * 2, 10_000)
      }
    }
  }

  /// Waits, unless the listener is stopped.
  private func wait(_ milliseconds: Int32) {
    var descriptor = pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)
    _ = poll(&descriptor, 1, milliseconds)
  }

  /// Begins to listen. Returns whether notifications come.
  private func begin(_ connection: PostgresConnection) throws -> Bool {
    // Listening there would stay with a session that others get.
    if connection.isPooled, !isForListening { return false }
    try connection.run("LISTEN \(PostgresName.quoted(channel))")
    guard connection.isPooled else { return true }
    let token = UUID().uuidString
    try access.connect().query("SELECT pg_notify($1, $2)", [.text(channel), .text(token)])
    let end = Date(timeIntervalSinceNow: Self.patience)
    while Date() < end, !isStopped.load(ordering: .acquiring) {
      var descriptor = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&descriptor, 1, 100)
      if try connection.notifications().contains(where: { $0.payload == token }) { return true }
    }
    try connection.run("UNLISTEN *")
    return false
  }

  private func follow(_ connection: PostgresConnection) throws {
    while !isStopped.load(ordering: .acquiring) {
      var descriptors = [
        pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&descriptors, 2, Self.interval) == 0 { try connection.run("SELECT 1") }
      if try !connection.notifications().isEmpty, !isStopped.load(ordering: .acquiring) { handler(.announced) }
    }
  }

  private func look() {
    guard let polls else { return }
    while !isStopped.load(ordering: .acquiring) {
      handler(.unheard)
      wait(polls)
    }
  }
}
