import CPostgreSQL
import Foundation
import Glibc
import Synchronization

/// Listens to a channel, on a connection and a thread of its own. A lost connection is made again; as notifications may have been
/// lost with it, the handler is called then, too.
package final class PostgresListener: Sendable {
  /// Between two looks whether the server is still there, in milliseconds.
  private static let interval: Int32 = 30_000

  private let access: PostgresAccess
  private let channel: String
  private let handler: @Sendable (_ payloads: [String]) -> Void
  private let failed: @Sendable (PostgresError) -> Void
  /// A pipe whose end for writing wakes the thread.
  private let wake: (read: Int32, write: Int32)
  private let isStopped = Atomic(false)

  /// Begins to listen.
  /// - Parameters:
  ///   - handler: called on the listener's thread with the payloads of notifications; with none after it has connected.
  ///   - failed: called once for each row of failures to connect.
  package init(
    _ access: PostgresAccess, channel: String, handler: @escaping @Sendable (_ payloads: [String]) -> Void,
    failed: @escaping @Sendable (PostgresError) -> Void
  ) {
    self.access = access
    self.channel = channel
    self.handler = handler
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
        try connection.run("LISTEN \(PostgresName.quoted(channel))")
        (pause, hasFailed) = (100, false)
        handler([])
        try follow(connection)
      } catch {
        let error = error as? PostgresError ?? PostgresError(message: "\(error)")
        if !hasFailed, !isStopped.load(ordering: .acquiring) { failed(error) }
        hasFailed = true
        var descriptor = pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, pause)
        pause = min(pause * 2, 10_000)
      }
    }
  }

  private func follow(_ connection: PostgresConnection) throws {
    while !isStopped.load(ordering: .acquiring) {
      var descriptors = [
        pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&descriptors, 2, Self.interval) == 0 { try connection.run("SELECT 1") }
      let payloads = try connection.notifications().map(\.payload)
      if !payloads.isEmpty, !isStopped.load(ordering: .acquiring) { handler(payloads) }
    }
  }
}
