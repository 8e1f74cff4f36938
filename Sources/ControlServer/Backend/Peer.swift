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

/// The kernel's `struct ucred` (unix(7)), which Glibc doesn't show to Swift.
struct PeerCredentials: Sendable {
  var pid: Int32 = 0
  var uid: UInt32 = 0
  var gid: UInt32 = 0
}
