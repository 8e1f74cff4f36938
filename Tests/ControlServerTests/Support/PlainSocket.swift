import Foundation
import Glibc

/// A client that sends bytes and reads them when it likes.
final class PlainSocket: Sendable {
  let descriptor: Int32

  init(connectingTo path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard try Self.with(path, { connect(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
  }

  /// A socket that is bound at a path; it listens, or is left there as by a daemon that was killed.
  init(boundTo path: String, listening: Bool) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard try Self.with(path, { bind(descriptor, $0, $1) }) == 0, !listening || listen(descriptor, 5) == 0 else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }

  /// Accepts one connection, reads what comes first, answers with these bytes and hangs up.
  func answerOnce(_ text: String) {
    Thread.detachNewThread {
      let connection = accept(self.descriptor, nil, nil)
      guard connection >= 0 else { return }
      var bytes = [UInt8](repeating: 0, count: 4096)
      _ = recv(connection, &bytes, bytes.count, 0)
      let answer = Array(text.utf8)
      _ = Glibc.send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
      close(connection)
    }
  }

  /// What comes until it ends with these words, or the connection ends.
  func receive(until end: String) async -> String {
    // A thread of its own, for reading blocks, and the server runs in the tasks' few threads.
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.read(until: end)) }
    }
  }

  private func read(until end: String) -> String {
    var all: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let text = String(decoding: all, as: UTF8.self)
      if text.hasSuffix(end) { return text }
      let count = recv(descriptor, &bytes, bytes.count, 0)
      guard count > 0 else { return text }
      all += bytes[..<count]
    }
  }

  private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws -> Int32 {
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
