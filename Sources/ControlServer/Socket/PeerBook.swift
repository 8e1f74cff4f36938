import NIOCore
import Synchronization

/// Who is at the other end of each connection, which never changes: to ask anew for every request takes two hops to the
/// connection's thread.
final class PeerBook: Sendable {
  private let peers = Mutex<[ObjectIdentifier: Peer]>([:])

  /// nil when it isn't known yet.
  subscript(channel: any Channel) -> Peer? { peers.withLock { $0[ObjectIdentifier(channel)] } }

  /// Notes it until the connection is closed.
  func note(_ peer: Peer, of channel: any Channel) {
    let id = ObjectIdentifier(channel)
    let isNew = peers.withLock { $0.updateValue(peer, forKey: id) == nil }
    guard isNew else { return }
    // The channel lives as long, so that no other has its identity. One that is closed already is forgotten at once.
    channel.closeFuture.whenComplete { [self] _ in
      peers.withLock { _ = $0.removeValue(forKey: id) }
      withExtendedLifetime(channel) {}
    }
  }
}
