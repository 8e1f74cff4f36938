import ControlAPI
import FoundationEssentials
import NIOHTTP1

/// A client of the daemon. Every call opens a connection, which costs about 50 µs on a Unix socket. It throws
/// ``ControlClientError``. The routes are in the neighbouring files.
struct ControlClient: Sendable {
  let socketPath: String

  /// Sends one request.
  func send<Answer: Decodable & Sendable>(
    _ method: HTTPMethod, _ endpoint: Endpoint, _ query: QueryString = QueryString(), body: Data? = nil
  ) async throws -> Answer {
    let request = HTTPExchange.Request(method, endpoint, query, body: body)
    return try await HTTPExchange(socketPath: socketPath).perform(request) { head, body in
      let bytes = try await body.collect()
      guard (200..<300).contains(head.status.code) else { throw Self.failure(head, bytes) }
      return try Self.understand(head) { try WireFormat.decode(Answer.self, from: bytes) }
    }
  }

  /// Listens to events until the stream ends or a closure returns `false`.
  /// - Parameters:
  ///   - opened: called when the daemon has started to record changes and before the first event, so that a request
  ///     made here misses no change.
  ///   - read: decodes an event; nil for a type that this version doesn't know.
  func events<Event: Sendable>(
    _ endpoint: Endpoint, _ query: QueryString = QueryString(), opened: @Sendable () async throws -> Bool = { true },
    read: @Sendable (ServerSentEvent) throws -> Event?, each: @Sendable (Event) async throws -> Bool
  ) async throws {
    try await HTTPExchange(socketPath: socketPath).perform(HTTPExchange.Request(.GET, endpoint, query)) { head, body in
      guard head.status == .ok else { throw Self.failure(head, try await body.collect()) }
      guard try await opened() else { return }
      var parser = ServerSentEventParser()
      while let bytes = try await body.next() {
        for event in parser.feed(bytes.readableBytesView) {
          guard let event = try Self.understand(head, { try read(event) }) else { continue }
          guard try await each(event) else { return }
        }
      }
    }
  }

  /// Receives all rejects of a job as one file, in parts.
  func rejectFile(_ job: Int64, _ part: @Sendable ([UInt8]) throws -> Void) async throws {
    try await HTTPExchange(socketPath: socketPath).perform(HTTPExchange.Request(.GET, .rejectFile(job))) { head, body in
      guard head.status == .ok else { throw Self.failure(head, try await body.collect()) }
      while let bytes = try await body.next() { try part(Array(bytes.readableBytesView)) }
    }
  }

  /// An unexpected answer comes from another version.
  private static func understand<Value>(_ head: HTTPResponseHead, _ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch {
      throw ControlClientError.versionMismatch(
        server: head.headers.first(name: "server"), detail: "its answer isn't what was expected (\(words(of: error))).")
    }
  }

  private static func failure(_ head: HTTPResponseHead, _ body: Data) -> ControlClientError {
    let server = head.headers.first(name: "server")
    guard head.headers.first(name: "content-type")?.hasPrefix(Problem.contentType) == true,
      let problem = try? WireFormat.decode(Problem.self, from: body)
    else {
      return .versionMismatch(server: server, detail: "it answered \(head.status) without saying why.")
    }
    return ["no_such_route", "version_mismatch"].contains(problem.code)
      ? .versionMismatch(server: server, detail: problem.detail) : .refused(problem)
  }
}
