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

extension ServiceManager {
  /// The socket that systemd passed to this process to accept connections on, or nil if it passed none.
  /// - Parameter name: its `FileDescriptorName=`; the name doesn't matter where there is only one.
  /// - Throws: `SystemdError.listen`, `SystemdError.socket` for one that isn't a Unix socket which listens.
  package static func listeningSocket(named name: String) throws -> ActivatedSocket? {
    let passed = try listenFileDescriptors()
    guard let socket = passed.first(where: { $0.name == name }) ?? (passed.count == 1 ? passed.first : nil) else {
      guard let other = passed.first else { return nil }
      throw SystemdError.socket(name: other.name, problem: "none of the sockets is called \(name)")
    }
    guard sd_is_socket(socket.descriptor, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0 else {
      throw SystemdError.socket(name: socket.name, problem: "it isn't a Unix stream socket that listens")
    }
    return socket
  }
}
