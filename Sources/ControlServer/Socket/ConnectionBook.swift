import NIOCore
import Synchronization

/// What is known of each open connection: its peer, which never changes (to ask again for every request takes two hops to the
/// connection's thread), and the work that is in progress for it, which ends when the client goes.
final class ConnectionBook: Sendable {
  private struct Connection {
    var peer: Peer?
    /// What cancels each piece of work.
    var work: [Int: @Sendable () -> Void] = [:]
    var lastWork = 0
  }

  private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

  /// nil when it isn't known yet.
  subscript(channel: any Channel) -> Peer? { connections.withLock { $0[ObjectIdentifier(channel)]?.peer } }

  /// Notes it until the connection is closed.
  func note(_ peer: Peer, of channel: any Channel) {
    change(channel) { $0.peer = peer }
  }

  /// Runs `body` in a task that is cancelled when the client has closed the connection.
  func untilClosed<T: Sendable>(
    _ channel: any Channel, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let task = Task(operation: body)
    let number = change(channel) { connection in
      connection.lastWork += 1
      connection.work[connection.lastWork] = { task.cancel() }
      return connection.lastWork
    }
    defer { connections.withLock { _ = $0[ObjectIdentifier(channel)]?.work.removeValue(forKey: number) } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  @discardableResult
  private func change<T: Sendable>(_ channel: any Channel, _ body: @Sendable (inout Connection) -> T) -> T {
    let id = ObjectIdentifier(channel)
    let (result, isNew) = connections.withLock { connections in
      let isNew = connections[id] == nil
      return (body(&connections[id, default: Connection()]), isNew)
    }
    guard isNew else { return result }
    // The channel lives as long, so that no other has its identity. One that is closed already is forgotten at once.
    channel.closeFuture.whenComplete { [self] _ in
      let closed = connections.withLock { $0.removeValue(forKey: id) }
      for cancel in (closed?.work ?? [:]).values { cancel() }
      withExtendedLifetime(channel) {}
    }
    return result
  }
}
