import Glibc
package import Hummingbird
import NIOCore

/// What a route knows of its request beside the request: the connection it came on.
package struct ControlContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  let channel: any Channel
  var connections: ConnectionBook?
  /// The connection's thread, where the request is answered there.
  var executor: LoopExecutor?
  /// Whom a proxy names, on the pages.
  package var session: WebSession?

  package init(source: Source) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }

  /// Who is at the other end.
  package func peer() async throws -> Peer {
    if let known = connections?[channel] { return known }
    let peer = try await credentials()
    connections?.note(peer, of: channel)
    return peer
  }

  /// Runs `body`, which may take long, in a task that is cancelled when the client has gone.
  package func untilGone<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    guard let connections else { return try await body() }
    return try await connections.untilClosed(channel, body)
  }

  private func credentials() async throws -> Peer {
    guard let peer = Self.peer(of: channel) else { throw ControlError.forbidden(reason: "No peer.") }
    return try await peer.get()
  }

  /// Who is at the other end of a connection; nil where that isn't a socket.
  static func peer(of channel: any Channel) -> EventLoopFuture<Peer>? {
    guard let options = channel as? any SocketOptionProvider else { return nil }
    let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
      level: .socket, name: .init(rawValue: SO_PEERCRED))
    return credentials.map { Peer(pid: $0.pid, uid: $0.uid, gid: $0.gid) }
  }
}
