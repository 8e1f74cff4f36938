/// Where the control socket is, and who may connect to it.
package struct SocketAddress: Sendable, Hashable {
  /// The socket's path; its directory must exist.
  package var path: String
  /// Its permission bits; connecting needs the write bit.
  package var mode: UInt32
  /// The group it gets; nil for the daemon's own.
  package var group: UInt32?

  /// An address; by default owner and group may connect.
  package init(path: String, mode: UInt32 = 0o660, group: UInt32? = nil) {
    self.path = path
    self.mode = mode
    self.group = group
  }
}
