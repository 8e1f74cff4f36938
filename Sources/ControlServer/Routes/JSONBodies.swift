package import ControlAPI
import Foundation
package import Hummingbird
import ServiceLifecycle

extension Request {
  /// The most bytes that a body may have.
  static let maximumBodySize = 1 << 20

  /// The body as JSON.
  /// - Parameter executor: where to wait for it.
  /// - Throws: ``BodyError``, `DecodingError`, or what says that it is too large or that the daemon stops.
  func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, on executor: LoopExecutor? = nil
  ) async throws -> Value {
    let body = try await collected(on: executor)
    let data = Data(body.readableBytesView)
    // The decoder doesn't say where it stops reading, and takes commas that lead to nothing.
    if let mistake = JSONSyntaxError.first(in: [UInt8](data)) { throw BodyError.notJSON(mistake) }
    return try WireFormat.decode(type, from: data)
  }

  /// The body as an HTML form, in the form of a query.
  /// - Throws: `QueryError`, or what says that it is too large or that the daemon stops.
  package func form() async throws -> QueryString {
    try QueryString(parsing: String(decoding: try await collected().readableBytesView, as: UTF8.self))
  }

  /// - Throws: ``BodyError/unexpected`` where there is a body that says something.
  func refuseBody() async throws {
    let body = try await collected()
    let text = body.readableBytesView.filter { !JSONSyntaxError.isSpace($0) }
    guard text.isEmpty || text.elementsEqual("{}".utf8) else { throw BodyError.unexpected }
  }

  /// The body's bytes. A client that doesn't go on sending must not keep the daemon from stopping.
  private func collected(on executor: LoopExecutor? = nil) async throws -> ByteBuffer {
    // Another task that waits for the shutdown beside this one would double what a small request costs.
    let reading = Task(executorPreference: executor) { try await self.body.collect(upTo: Self.maximumBodySize) }
    return try await withTaskCancellationOrGracefulShutdownHandler {
      try await reading.value
    } onCancelOrGracefulShutdown: {
      reading.cancel()
    }
  }
}

/// What is wrong with a request's body before its values are looked at.
enum BodyError: Error, Equatable {
  case notJSON(JSONSyntaxError)
  case unexpected
}

extension Response {
  /// An answer with a body of JSON.
  static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, contentType: String = "application/json"
  ) throws -> Response {
    json(bytes: try WireFormat.encode(value), status: status, contentType: contentType)
  }

  /// An answer with a job: every submission has one, so it is written the fast way.
  static func json(_ job: Job, status: HTTPResponse.Status = .ok) throws -> Response {
    json(bytes: try WireFormat.bytes(of: job), status: status, contentType: "application/json")
  }

  /// An answer with a page of jobs, written the fast way.
  static func json(_ jobs: JobList) throws -> Response {
    json(bytes: try WireFormat.bytes(of: jobs), status: .ok, contentType: "application/json")
  }

  private static func json(
    bytes: some Collection<UInt8>, status: HTTPResponse.Status, contentType: String
  ) -> Response {
    Response(
      status: status, headers: [.contentType: contentType, .contentLength: String(bytes.count)],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
