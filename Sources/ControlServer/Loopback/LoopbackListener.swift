import Glibc

/// A listening TCP socket, or for pages a Unix socket. By default only this machine can connect to it.
package struct LoopbackListener: Sendable {
  let descriptor: Int32
  /// Its actual address: `127.0.0.1:9464`, or the path of a Unix socket.
  package let address: String
  /// Whether only this machine can connect.
  package let isLoopback: Bool
  /// Whether it is a Unix socket, at which the kernel knows who connects.
  package let isUnix: Bool
  /// What keeps the path of a Unix socket that the daemon has made.
  private var file: ControlSocket?

  /// Makes a Unix socket to which every user can connect who may enter its folder: as over TCP, that lets nobody see anything.
  /// - Throws: ``ControlSocketError``.
  package init(at path: String) throws {
    let file = try ControlSocket(at: SocketAddress(path: path, mode: 0o666))
    let descriptor = try file.listen()
    do {
      try file.publish()
    } catch {
      close(descriptor)
      throw error
    }
    (self.descriptor, address, isLoopback, isUnix, self.file) = (descriptor, path, true, true, file)
  }

  /// Removes the file of a Unix socket that the daemon has made.
  func withdraw() { file?.withdraw() }

  /// Opens a socket that listens on an address.
  /// - Parameter purpose: what it is for, which errors name.
  package init(at address: LoopbackAddress, for purpose: LoopbackPurpose = .metrics) throws(LoopbackError) {
    self.init(passed: try address.listen(for: purpose))
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
    isUnix = storage.ss_family == sa_family_t(AF_UNIX)
    guard !isUnix else {
      (isLoopback, address) = (true, Self.path(in: storage, length))
      return
    }
    let name = code == 0 ? text(host) : "unknown"
    isLoopback = name.hasPrefix("127.") || name == "::1"
    address = (name.contains(":") ? "[\(name)]" : name) + ":" + text(port)
  }

  private static func path(in storage: sockaddr_storage, _ length: socklen_t) -> String {
    let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    return withUnsafeBytes(of: storage) { bytes in
      String(decoding: bytes.prefix(Int(length)).dropFirst(start).prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

/// What a TCP socket is for. The raw value is the section of the configuration.
package enum LoopbackPurpose: String, Sendable, Hashable {
  case metrics, web
}

/// Why a TCP socket can't be opened.
package enum LoopbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another program listens on this address.
  case inUse(address: String, LoopbackPurpose)
  /// The process may not open TCP sockets: its unit allows Unix sockets only.
  case noInternet(address: String, LoopbackPurpose)
  case failed(operation: String, address: String, LoopbackPurpose, errno: Int32)

  package var description: String {
    switch self {
    case .inUse(let address, let purpose):
      "another program listens on \(address) (ss -ltnp tells which): stop it, or give \(purpose).address another port"
    case .noInternet(let address, let purpose):
      "\(address): the service's unit keeps it to Unix sockets. Take \(purpose).address out, and have systemd listen: "
        + "systemctl enable laded-\(purpose).socket, then systemctl restart laded"
    case .failed(let operation, let address, _, let code):
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
  func listen(for purpose: LoopbackPurpose) throws(LoopbackError) -> Int32 {
    let family = isVersion6 ? AF_INET6 : AF_INET
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failed("make a socket", purpose) }
    var yes: Int32 = 1
    // Connections of a daemon that has just ended don't keep the next from listening.
    guard setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
      bind(descriptor), Glibc.listen(descriptor, Self.backlog) == 0
    else {
      let error = failed("listen", purpose)
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

  private func failed(_ operation: String, _ purpose: LoopbackPurpose) -> LoopbackError {
    let code = errno
    switch code {
    case EADDRINUSE: return .inUse(address: description, purpose)
    case EAFNOSUPPORT: return .noInternet(address: description, purpose)
    default: return .failed(operation: operation, address: description, purpose, errno: code)
    }
  }
}
