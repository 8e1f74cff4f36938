import ControlAPI
import FoundationEssentials
import NIOHTTP1

/// The daemon, as its client sees it: a method for each route. Every call is a connection of its own, which on a Unix
/// socket costs some 50 µs. Errors are ``ControlClientError``.
struct ControlClient: Sendable {
  let socketPath: String

  func status() async throws -> Status { try await send(.GET, .status) }

  func jobs(_ query: JobQuery) async throws -> JobList { try await send(.GET, .jobs, query.queryString) }

  func job(_ id: Int64) async throws -> Job { try await send(.GET, .job(id)) }

  func rejects(_ id: Int64) async throws -> RejectReport { try await send(.GET, .rejects(id)) }

  func submit(_ submission: JobSubmission) async throws -> Job {
    try await send(.POST, .jobs, body: try WireFormat.encode(submission))
  }

  func cancel(_ id: Int64) async throws -> Job { try await send(.POST, .cancelJob(id)) }

  func objects(_ query: ObjectQuery) async throws -> ObjectPage {
    try await send(.GET, .objects(entity: query.entity), query.queryString)
  }

  func count(_ query: ObjectQuery) async throws -> ObjectCount {
    try await send(.GET, .count(entity: query.entity), query.queryString)
  }

  /// Listens to jobs' changes until the stream ends, or one of the closures says by `false` that it's enough.
  /// - Parameters:
  ///   - endpoint: ``Endpoint/allJobEvents`` or ``Endpoint/jobEvents(_:)``.
  ///   - opened: called when the daemon has begun to note changes and before the first event; what is asked for here
  ///     can't fall between the answer and the events.
  func listen(
    to endpoint: Endpoint, opened: @Sendable () async throws -> Bool,
    each: @Sendable (ControlEvent) async throws -> Bool
  ) async throws {
    try await HTTPExchange(socketPath: socketPath).perform(HTTPExchange.Request(.GET, endpoint)) { head, body in
      guard head.status == .ok else { throw Self.failure(head, try await body.collect()) }
      guard try await opened() else { return }
      var parser = ServerSentEventParser()
      while let bytes = try await body.next() {
        for event in parser.feed(bytes.readableBytesView) {
          guard let event = try Self.understand(head, { try ControlEvent(event) }) else { continue }
          guard try await each(event) else { return }
        }
      }
    }
  }

  private func send<Answer: Decodable & Sendable>(
    _ method: HTTPMethod, _ endpoint: Endpoint, _ query: QueryString = QueryString(), body: Data? = nil
  ) async throws -> Answer {
    let request = HTTPExchange.Request(method, endpoint, query, body: body)
    return try await HTTPExchange(socketPath: socketPath).perform(request) { head, body in
      let bytes = try await body.collect()
      guard (200..<300).contains(head.status.code) else { throw Self.failure(head, bytes) }
      return try Self.understand(head) { try WireFormat.decode(Answer.self, from: bytes) }
    }
  }

  /// An answer that isn't what this version expects is another version's.
  private static func understand<Value>(_ head: HTTPResponseHead, _ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch {
      throw ControlClientError.versionMismatch(
        server: head.headers.first(name: "server"), detail: "its answer isn't what was expected (\(error)).")
    }
  }

  private static func failure(_ head: HTTPResponseHead, _ body: Data) -> ControlClientError {
    let server = head.headers.first(name: "server")
    guard head.headers.first(name: "content-type")?.hasPrefix(Problem.contentType) == true,
      let problem = try? WireFormat.decode(Problem.self, from: body)
    else {
      return .versionMismatch(server: server, detail: "it answered \(head.status) without saying why.")
    }
    return problem.code == "no_such_route"
      ? .versionMismatch(server: server, detail: problem.detail) : .refused(problem)
  }
}
