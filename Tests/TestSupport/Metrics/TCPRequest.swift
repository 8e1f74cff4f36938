package import Foundation
import Glibc

/// An HTTP request on a TCP port of this machine, and its answer.
package struct TCPAnswer: Sendable {
  package let status: Int
  /// By their names in small letters.
  package let headers: [String: String]
  package let body: Data

  package var text: String { String(decoding: body, as: UTF8.self) }
}

/// Asks on a connection of its own.
/// - Parameters:
///   - port: of 127.0.0.1, unless another host is said.
///   - headers: further lines of the head.
///   - body: what is sent behind the head.
package func tcp(
  _ method: String, _ uri: String, port: UInt16, host: String = "127.0.0.1", headers: [String: String] = [:],
  body: String = ""
) async throws -> TCPAnswer {
  try await asked(method, uri, host, headers.map { "\($0.key): \($0.value)" }, body) { try exchange($0, host, port) }
}

/// Asks on a connection of its own to a Unix socket.
/// - Parameter headers: further lines of the head, as they are sent.
package func unix(
  _ method: String, _ uri: String, socket path: String, host: String, headers: [String] = [], body: String = ""
) async throws -> TCPAnswer {
  try await asked(method, uri, host, headers, body) { try exchange($0, unix: path) }
}

private func asked(
  _ method: String, _ uri: String, _ host: String, _ headers: [String], _ body: String,
  _ exchange: @escaping @Sendable (String) throws -> Data
) async throws -> TCPAnswer {
  let lines = headers.map { $0 + "\r\n" }.joined()
  let head =
    "\(method) \(uri) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n"
  let answer = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
    // A thread of its own, for reading blocks.
    Thread.detachNewThread { continuation.resume(with: Result { try exchange(head + body) }) }
  }
  let failure = ProgramFailure(
    program: "tcp", arguments: [method, uri], what: "no answer", error: String(decoding: answer, as: UTF8.self))
  guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)) else { throw failure }
  let answerHead = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
  guard let status = answerHead.first.flatMap({ Int($0.split(separator: " ").dropFirst().first ?? "") }) else {
    throw failure
  }
  let pairs = answerHead.dropFirst().compactMap { line -> (String, String)? in
    guard let colon = line.firstIndex(of: ":") else { return nil }
    return (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
  }
  return TCPAnswer(
    status: status, headers: Dictionary(pairs) { first, _ in first }, body: Data(answer[end.upperBound...]))
}

/// Asks with GET.
package func tcp(_ uri: String, port: UInt16, headers: [String: String] = [:]) async throws -> TCPAnswer {
  try await tcp("GET", uri, port: port, headers: headers)
}

private func exchange(_ request: String, _ host: String, _ port: UInt16) throws -> Data {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  inet_pton(AF_INET, host, &address.sin_addr)
  let connected = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  guard connected == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  return try exchange(request, over: descriptor)
}

private func exchange(_ request: String, unix path: String) throws -> Data {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  defer { close(descriptor) }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  let connected = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard connected == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  return try exchange(request, over: descriptor)
}

private func exchange(_ request: String, over descriptor: Int32) throws -> Data {
  let bytes = Array(request.utf8)
  guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
    throw POSIXError(.init(rawValue: errno) ?? .EIO)
  }
  var all = Data()
  var part = [UInt8](repeating: 0, count: 16_384)
  while true {
    let count = recv(descriptor, &part, part.count, 0)
    guard count > 0 else { return all }
    all += part[..<count]
  }
}
