import Foundation
import Glibc
import HTTPTypes
import Hummingbird

/// A request that wasn't sent.
func request(
  _ method: String = "GET", host: String? = "127.0.0.1:9465", headers: [String: String] = [:]
) -> Request {
  var fields = HTTPFields()
  for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
  let head = HTTPRequest(
    method: .init(method) ?? .get, scheme: "http", authority: host, path: "/", headerFields: fields)
  return Request(head: head, body: .init(buffer: .init()))
}

/// A connection to a port of this machine, over which a test sends bytes and reads when it likes.
final class Connection: Sendable {
  private let descriptor: Int32

  init(to port: UInt16, sending text: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let bytes = Array(text.utf8)
    guard connected == 0, send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  /// What comes until there are these words, or the connection ends.
  func receive(until words: String? = nil) async -> String {
    await withCheckedContinuation { continuation in
      // A thread of its own, for reading blocks.
      Thread.detachNewThread {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
          let text = String(decoding: all, as: UTF8.self)
          if let words, text.contains(words) { return continuation.resume(returning: text) }
          let count = recv(self.descriptor, &part, part.count, 0)
          guard count > 0 else { return continuation.resume(returning: text) }
          all += part[..<count]
        }
      }
    }
  }
}
