import Glibc

/// A TCP socket that listens, for metrics.
package struct MetricsListener: Sendable {
  let descriptor: Int32
  /// Where it listens, as it is: `127.0.0.1:9464`.
  let address: String
  /// Whether only this machine can connect.
  let isLoopback: Bool

  /// Listens there from now on.
  package init(at address: LoopbackAddress) throws(MetricsSocketError) {
    self.init(passed: try address.listen())
  }

  /// A socket that listens already.
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
