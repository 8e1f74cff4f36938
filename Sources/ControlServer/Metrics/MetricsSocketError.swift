import Glibc

/// Why there is no socket for metrics.
package enum MetricsSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another program listens there.
  case inUse(address: String)
  /// The process may not make TCP sockets, as a service that is kept to Unix sockets.
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
    case EADDRNOTAVAIL: ". This machine hasn't got that address; use 127.0.0.1"
    default: ""
    }
  }
}
