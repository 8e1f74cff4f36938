import CSystemd
import Glibc

/// A socket that systemd opened and passed on.
package struct ActivatedSocket: Sendable, Equatable {
  /// The descriptor. The caller owns it; programs that the caller starts don't inherit it.
  package let descriptor: Int32
  /// `FileDescriptorName=` of the .socket unit, or `unknown`.
  package let name: String
}

extension ServiceManager {
  /// The sockets that systemd passed to this process, from sd_listen_fds_with_names(3); none without socket activation.
  /// Doesn't change the environment, so call it only once. Throws `SystemdError.listen`.
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

/// The listening sockets that systemd passed to this process, by purpose.
package struct PassedSockets: Sendable, Equatable {
  /// A Unix socket.
  package let control: ActivatedSocket?
  /// TCP sockets.
  package let metrics: [ActivatedSocket]
  /// TCP and Unix sockets.
  package let web: [ActivatedSocket]

  /// `FileDescriptorName=` of each.
  package static let (controlName, metricsName, webName) = ("control", "metrics", "web")

  /// Sorts the sockets by name. The control socket needs no name if it is the only one besides those on TCP.
  /// - Throws: `SystemdError.socket` for a socket that can't be used for the purpose of its name.
  package init(_ passed: [ActivatedSocket]) throws {
    metrics = passed.filter { $0.name == Self.metricsName }
    web = passed.filter { $0.name == Self.webName }
    for socket in metrics
    where sd_is_socket_inet(socket.descriptor, AF_UNSPEC, Int32(SOCK_STREAM.rawValue), 1, 0) <= 0 {
      throw SystemdError.socket(name: socket.name, problem: "it isn't a listening TCP socket")
    }
    for socket in web
    where sd_is_socket_inet(socket.descriptor, AF_UNSPEC, Int32(SOCK_STREAM.rawValue), 1, 0) <= 0
      && sd_is_socket(socket.descriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) <= 0
    {
      throw SystemdError.socket(name: socket.name, problem: "it isn't a listening TCP or Unix stream socket")
    }
    let others = passed.filter { ![Self.metricsName, Self.webName].contains($0.name) }
    control = others.first { $0.name == Self.controlName } ?? (others.count == 1 ? others.first : nil)
    guard let control else {
      guard let other = others.first else { return }
      throw SystemdError.socket(name: other.name, problem: "no socket has the name \(Self.controlName)")
    }
    guard sd_is_socket(control.descriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0 else {
      throw SystemdError.socket(name: control.name, problem: "it isn't a listening Unix stream socket")
    }
  }

  /// The sockets of this process. Call it only once.
  /// - Throws: `SystemdError.listen`, `SystemdError.socket`.
  package static func ofThisProcess() throws -> PassedSockets {
    try PassedSockets(ServiceManager.listenFileDescriptors())
  }
}
