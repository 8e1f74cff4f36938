import Foundation
import Glibc
import Synchronization

/// A service manager's end of `$NOTIFY_SOCKET` (sd_notify(3)): hears what a daemon tells until it is closed.
final class NotifySocket: @unchecked Sendable {
  // Sendable: `heard` is behind its lock, `source` may be cancelled from any thread, and the rest doesn't change.

  let path: String
  private let descriptor: Int32
  private let heard = Mutex<[String]>([])
  private let source: any DispatchSourceRead
  private let queue = DispatchQueue(label: "notify-socket")
  private let each: @Sendable (String) -> Void

  /// - Parameter each: called for each line that comes, such as `READY=1`, one after the other.
  init(path: String, each: @escaping @Sendable (String) -> Void) throws {
    self.path = path
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard try SocketPath.with(path, { bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
    // A daemon may run as another user.
    guard chmod(path, 0o777) == 0 else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
    self.descriptor = descriptor
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    self.each = each
    source.setEventHandler { [weak self] in self?.hear() }
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  /// Every line so far, also those that nothing has woken this one for yet.
  var lines: [String] {
    queue.sync { hear() }
    return heard.withLock { $0 }
  }

  private func hear() {
    while let lines = next() {
      heard.withLock { $0 += lines }
      lines.forEach(each)
    }
  }

  private func next() -> [String]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { return nil }
    return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// Paths as addresses of Unix sockets.
enum SocketPath {
  static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
