import NIOCore
import Synchronization

/// The process at the other end of the control socket, as the kernel noted it when it connected (SO_PEERCRED, unix(7)).
/// The client can't forge it; the pid may be another process's by now.
package struct Peer: Sendable, Hashable {
  package var pid: Int32
  package var uid: UInt32
  package var gid: UInt32

  /// A process by its numbers.
  package init(pid: Int32, uid: UInt32, gid: UInt32) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
  }
}

/// Who is at the other end of each connection, which never changes: asking for every request takes two hops to the
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
