import Foundation
import Glibc
import Synchronization

/// Stands between a client and a server on Unix sockets, and cuts a connection at a commit.
final class CuttingProxy: @unchecked Sendable {
  // Sendable: the descriptor is constant after `init`; the rest is atomic.

  /// When a connection is cut.
  enum Cut: Int, Sendable {
    case never
    /// The server hasn't received the COMMIT.
    case beforeCommit
    /// The server has committed, and its answer is lost.
    case afterCommit
  }

  /// The folder of its socket, which is a client's `host`.
  let folder: String
  private let server: String
  private let listener: Int32
  private let cut = Atomic(Cut.never.rawValue)
  private let cuts = Atomic(0)

  /// - Parameter server: the folder of the server's socket.
  init(to server: String) throws {
    self.server = server
    var template = Array("/tmp/lade-cut-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    folder = String(cString: made)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let bound = Self.withAddress(folder) { bind(listener, $0, $1) }
    guard bound == 0, listen(listener, 16) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    Thread { [self] in accept() }.start()
  }

  deinit { _ = Result { try FileManager.default.removeItem(atPath: folder) } }

  /// Cuts the next connection that commits, once.
  func cutNext(_ cut: Cut) { self.cut.store(cut.rawValue, ordering: .sequentiallyConsistent) }

  /// How many connections were cut.
  var count: Int { cuts.load(ordering: .sequentiallyConsistent) }

  /// Ends it. Connections stay.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else {
        close(listener)
        return
      }
      let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      guard Self.withAddress(server, { connect(upstream, $0, $1) }) == 0 else {
        close(client)
        close(upstream)
        continue
      }
      Thread { [self] in pass(client, upstream) }.start()
    }
  }

  /// Passes bytes on, in both directions.
  private func pass(_ client: Int32, _ upstream: Int32) {
    defer {
      close(client)
      close(upstream)
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var isCommitting = false
    while true {
      var descriptors = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&descriptors, 2, -1) > 0 else { return }
      if descriptors[0].revents != 0 {
        let count = read(client, &buffer, buffer.count)
        guard count > 0 else { return }
        if buffer[..<count].elementsEqual([UInt8(ascii: "Q"), 0, 0, 0, 11] + Array("COMMIT".utf8) + [0]) {
          switch take() {
          case .never: break
          case .beforeCommit: return
          case .afterCommit: isCommitting = true
          }
        }
        guard send(upstream, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
      }
      if descriptors[1].revents != 0 {
        let count = read(upstream, &buffer, buffer.count)
        guard count > 0, !isCommitting else { return }
        guard send(client, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
      }
    }
  }

  private func take() -> Cut {
    let taken = Cut(rawValue: cut.exchange(Cut.never.rawValue, ordering: .sequentiallyConsistent)) ?? .never
    if taken != .never { cuts.add(1, ordering: .sequentiallyConsistent) }
    return taken
  }

  private static func withAddress<T>(_ folder: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array((folder + "/.s.PGSQL.5432").utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
