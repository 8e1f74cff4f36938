import Glibc

/// A TCP port of this machine that other machines can't reach.
package struct LoopbackAddress: Sendable, Hashable, CustomStringConvertible {
  /// Why a text isn't one.
  package enum Mistake: Error, Sendable, Hashable {
    /// It isn't of the form `host:port`.
    case form
    /// Others could connect.
    case notLoopback
  }

  /// An address of 127.0.0.0/8, or `::1`.
  let host: String
  /// 0 for any that is free.
  let port: UInt16
  private var isVersion6: Bool { host.contains(":") }

  /// - Parameter text: `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`, which is 127.0.0.1. No name is looked up.
  package init(_ text: String) throws(Mistake) {
    guard let colon = text.lastIndex(of: ":") else { throw .form }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(digits) else {
      throw .form
    }
    self.port = port
    let name = String(text[..<colon])
    if name.hasPrefix("["), name.hasSuffix("]") {
      var address = in6_addr()
      guard inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &address) == 1 else { throw .form }
      let bytes = withUnsafeBytes(of: &address) { Array($0) }
      guard bytes == [UInt8](repeating: 0, count: 15) + [1] else { throw .notLoopback }
      host = "::1"
    } else {
      let name = name.lowercased() == "localhost" ? "127.0.0.1" : name
      guard !name.isEmpty, !name.contains(":") else { throw .form }
      var address = in_addr()
      guard inet_pton(AF_INET, name, &address) == 1, UInt32(bigEndian: address.s_addr) >> 24 == 127 else {
        throw .notLoopback
      }
      host = name
    }
  }

  package var description: String { isVersion6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Binds a socket there, and listens.
  /// - Returns: its descriptor, which is the caller's.
  func listen() throws(LoopbackError) -> Int32 {
    let family = isVersion6 ? AF_INET6 : AF_INET
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failed("make a socket") }
    var yes: Int32 = 1
    // Connections of a daemon that has just ended don't keep the next from listening.
    guard setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
      bind(descriptor), Glibc.listen(descriptor, Self.backlog) == 0
    else {
      let error = failed("listen")
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Connections that wait to be accepted, at most.
  private static let backlog: Int32 = 64

  private func bind(_ descriptor: Int32) -> Bool {
    if isVersion6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &address.sin6_addr)
      return Self.bind(descriptor, &address)
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return Self.bind(descriptor, &address)
  }

  private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
      }
    }
  }

  private func failed(_ operation: String) -> LoopbackError {
    let code = errno
    switch code {
    case EADDRINUSE: return .inUse(address: description)
    case EAFNOSUPPORT: return .noInternet(address: description)
    default: return .failed(operation: operation, address: description, errno: code)
    }
  }
}
