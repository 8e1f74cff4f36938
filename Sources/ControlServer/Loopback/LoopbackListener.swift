import Glibc

/// A listening TCP socket. By default only this machine can connect to it.
package struct LoopbackListener: Sendable {
  let descriptor: Int32
  /// Its actual address: `127.0.0.1:9464`.
  let address: String
  /// Whether only this machine can connect.
  let isLoopback: Bool

  /// Opens a socket that listens on an address.
  package init(at address: LoopbackAddress) throws(LoopbackError) {
    self.init(passed: try address.listen())
  }

  /// Takes a socket that already listens, such as one from systemd.
  package init(passed descriptor: Int32) {
    self.descriptor = descriptor
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: 256)
    var port = [CChar](repeating: 0, count: 32)
    let code = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &length) == 0 else { return errno }
        return getnameinfo(
          address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
      }
    }
    func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let name = code == 0 ? text(host) : "unknown"
    isLoopback = name.hasPrefix("127.") || name == "::1"
    address = (name.contains(":") ? "[\(name)]" : name) + ":" + text(port)
  }
}

/// Why a TCP socket can't be opened.
package enum LoopbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another program listens on this address.
  case inUse(address: String)
  /// The process may not open TCP sockets: its unit allows Unix sockets only.
  case noInternet(address: String)
  case failed(operation: String, address: String, errno: Int32)

  package var description: String {
    switch self {
    case .inUse(let address):
      "another program listens on \(address) (ss -ltnp tells which): stop it, or give metrics.address another port"
    case .noInternet(let address):
      "\(address): the service's unit keeps it to Unix sockets. Take metrics.address out, and have systemd listen: "
        + "systemctl enable laded-metrics.socket, then systemctl restart laded"
    case .failed(let operation, let address, let code):
      "\(address): couldn't \(operation): \(String(cString: strerror(code)))\(Self.advice(code))"
    }
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case EACCES: ". Ports below 1024 are for root; choose a higher one"
    case EADDRNOTAVAIL: ". This machine doesn't have that address; use 127.0.0.1"
    default: ""
    }
  }
}
