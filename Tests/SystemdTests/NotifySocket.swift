import Foundation
import Glibc
import Testing

/// A service manager's end of `$NOTIFY_SOCKET`: a datagram socket in a directory of its own.
struct NotifySocket {
  let path: String
  private let number: Int32

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/lade-notify-XXXXXX").utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) }) + "/notify"
    number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0, "errno \(errno)")
  }

  /// The next message, in lines.
  func receive() throws -> [String] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(number, &buffer, buffer.count, 0)
    try #require(count >= 0, "errno \(errno)")
    return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func remove() throws {
    close(number)
    try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
  }
}
