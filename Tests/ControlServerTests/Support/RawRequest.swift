import ControlAPI
import Foundation
import NIOHTTP1

@testable import ladectl

/// An answer as it came.
struct RawAnswer: Sendable {
  let status: Int
  let contentType: String?
  let body: Data
  let headers: HTTPHeaders

  func problem() throws -> Problem { try WireFormat.decode(Problem.self, from: body) }
}

/// Any request, also one that ladectl wouldn't make.
func ask(_ path: String, _ method: HTTPMethod, _ uri: String, body: Data? = nil) async throws -> RawAnswer {
  try await HTTPExchange(socketPath: path).perform(.init(method, uri: uri, body: body)) { head, body in
    RawAnswer(
      status: Int(head.status.code), contentType: head.headers.first(name: "content-type"),
      body: try await body.collect(), headers: head.headers)
  }
}
