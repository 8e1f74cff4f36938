import CSystemd
import Glibc

/// A socket that systemd opened and passed on.
package struct ActivatedSocket: Sendable, Equatable {
  /// The descriptor. It belongs to the caller, and isn't passed on to programs that the caller starts.
  package let descriptor: Int32
  /// `FileDescriptorName=` of the .socket unit, or `unknown`.
  package let name: String
}

extension ServiceManager {
  /// The sockets that systemd passed to this process, by sd_listen_fds_with_names(3); none if it wasn't activated so.
  /// The environment is left as it is: ask once. Throws `SystemdError.listen`.
  package static func listenFileDescriptors() throws -> [ActivatedSocket] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(0, &names)
    guard count >= 0 else { throw SystemdError.listen(code: -count) }
    defer {
      for index in 0..<Int(count) { free(names?[index]) }
      free(names)
    }
    return (0..<count).map { index in
      let name = names?[Int(index)].map { String(cString: $0) } ?? "unknown"
      return ActivatedSocket(descriptor: SD_LISTEN_FDS_START + index, name: name)
    }
  }
}

/// The sockets that systemd passed to this process to accept connections on, each for what it is.
package struct PassedSockets: Sendable, Equatable {
  /// A Unix socket.
  package let control: ActivatedSocket?
  /// Sockets of TCP.
  package let metrics: [ActivatedSocket]

  /// `FileDescriptorName=` of each.
  package static let (controlName, metricsName) = ("control", "metrics")

  /// Looks which is which. The control socket needs no name where, beside those for metrics, it is the only one.
  /// - Throws: `SystemdError.socket` for one that can't be used for what it is called.
  package init(_ passed: [ActivatedSocket]) throws {
    metrics = passed.filter { $0.name == Self.metricsName }
    for socket in metrics where sd_is_socket_inet(socket.descriptor, AF_UNSPEC, Int32(SOCK_STREAM.rawValue), 1, 0) <= 0
    {
      throw SystemdError.socket(name: socket.name, problem: "it isn't a TCP socket that listens")
    }
    let others = passed.filter { $0.name != Self.metricsName }
    control = others.first { $0.name == Self.controlName } ?? (others.count == 1 ? others.first : nil)
    guard let control else {
      guard let other = others.first else { return }
      throw SystemdError.socket(name: other.name, problem: "none of the sockets is called \(Self.controlName)")
    }
    guard sd_is_socket(control.descriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0 else {
      throw SystemdError.socket(name: control.name, problem: "it isn't a Unix stream socket that listens")
    }
  }

  /// Those of this process. Ask once.
  /// - Throws: `SystemdError.listen`, `SystemdError.socket`.
  package static func ofThisProcess() throws -> PassedSockets {
    try PassedSockets(ServiceManager.listenFileDescriptors())
  }
}
