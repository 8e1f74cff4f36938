import ControlAPI
import Foundation
import Glibc
import TestSupport

/// An answer of the control interface, as it came.
struct HTTPAnswer: Sendable {
  let status: Int
  let body: Data

  func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try WireFormat.decode(type, from: body)
  }

  var text: String { String(decoding: body, as: UTF8.self) }
}

extension DaemonFolder {
  /// Any request of the control interface, over a connection of its own.
  func http(_ method: String, _ uri: String, _ body: String? = nil) async throws -> HTTPAnswer {
    let request = Self.request(method, uri, body)
    let path = file("s")
    return try await Self.answer(to: "\(method) \(uri)") { try Self.connected(to: path, asking: request) }
  }

  /// The same, once it has been sent: the answer is still to come.
  func asking(_ method: String, _ uri: String) throws -> Task<HTTPAnswer, any Error> {
    let descriptor = try Self.connected(to: file("s"), asking: Self.request(method, uri, nil))
    return Task { try await Self.answer(to: "\(method) \(uri)") { descriptor } }
  }

  private static func request(_ method: String, _ uri: String, _ body: String?) -> String {
    "\(method) \(uri) HTTP/1.1\r\nHost: laded\r\nConnection: close\r\n"
      + "Content-Length: \(body?.utf8.count ?? 0)\r\n\r\n\(body ?? "")"
  }

  private static func answer(
    to question: String, on connection: @escaping @Sendable () throws -> Int32
  ) async throws -> HTTPAnswer {
    let answer = try await withCheckedThrowingContinuation { continuation in
      // A thread of its own, for reading blocks.
      Thread.detachNewThread { continuation.resume(with: Result { try Self.received(on: connection()) }) }
    }
    guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)),
      let status = Int(String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self))
    else {
      throw ProgramFailure(
        program: "laded", arguments: [question], what: "no answer", error: String(decoding: answer, as: UTF8.self))
    }
    return HTTPAnswer(status: status, body: Data(answer[end.upperBound...]))
  }

  /// A request that has to succeed, and its answer.
  func got<Value: Decodable>(
    _ type: Value.Type, _ method: String, _ endpoint: Endpoint, _ query: QueryString = QueryString(),
    body: (any Encodable)? = nil
  ) async throws -> Value {
    try await got(method, endpoint, query, body: body)
  }

  /// The same, of the type that is wanted.
  func got<Value: Decodable>(
    _ method: String, _ endpoint: Endpoint, _ query: QueryString = QueryString(), body: (any Encodable)? = nil
  ) async throws -> Value {
    let uri = endpoint.path + (query.text.isEmpty ? "" : "?" + query.text)
    let text = try body.map { String(decoding: try WireFormat.encode($0), as: UTF8.self) }
    let answer = try await http(method, uri, text)
    guard (200..<300).contains(answer.status) else {
      throw ProgramFailure(program: "laded", arguments: [method, uri], what: "\(answer.status)", error: answer.text)
    }
    return try answer.decoded()
  }

  private static func received(on descriptor: Int32) -> Data {
    defer { close(descriptor) }
    var all = Data()
    var bytes = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count <= 0 { return all }
      all.append(contentsOf: bytes[..<count])
    }
  }

  /// A connection, and a request on it. Who is refused at once can't ask any more, but has an answer to read.
  static func connected(to path: String, asking request: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let bytes = Array(request.utf8)
    guard try SocketPath.with(path, { connect(descriptor, $0, $1) }) == 0,
      send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count || errno == EPIPE
    else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
    return descriptor
  }

  /// The events of a stream, until it ends or they are released.
  func events(_ uri: String) throws -> AsyncStream<ServerSentEvent> {
    let descriptor = try Self.connected(to: file("s"), asking: "GET \(uri) HTTP/1.1\r\nHost: laded\r\n\r\n")
    let (events, continuation) = AsyncStream<ServerSentEvent>.makeStream()
    continuation.onTermination = { _ in shutdown(descriptor, Int32(SHUT_RDWR)) }
    Thread.detachNewThread {
      // HTTP's head and its chunk sizes are lines that an event stream has no meaning for, so they are passed over.
      var parser = ServerSentEventParser()
      var bytes = [UInt8](repeating: 0, count: 16_384)
      while true {
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count <= 0 { break }
        for event in parser.feed(bytes[..<count]) { continuation.yield(event) }
      }
      continuation.finish()
      close(descriptor)
    }
    return events
  }
}
