import ControlAPI
import FoundationEssentials
import NIOHTTP1

/// The daemon, as its client sees it. Every call is a connection of its own, which on a Unix socket costs some 50 µs.
/// Errors are ``ControlClientError``. The routes are in the files beside this one.
struct ControlClient: Sendable {
  let socketPath: String

  /// Asks once.
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

  /// Listens to events until the stream ends, or one of the closures says by `false` that it's enough.
  /// - Parameters:
  ///   - opened: called when the daemon has begun to note changes and before the first event; what is asked for here
  ///     can't fall between the answer and the events.
  ///   - read: makes an event of what came; nil for a type that this version doesn't know.
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

  /// An answer that isn't what this version expects is another version's.
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
