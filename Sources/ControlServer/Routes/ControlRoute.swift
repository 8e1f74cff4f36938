import ControlAPI
import Hummingbird

/// One route of the interface, which has its operation in `openapi.yaml`.
struct ControlRoute: Sendable {
  typealias Handler = @Sendable (Request, ControlContext) async throws -> Response

  let method: HTTPRequest.Method
  /// The path with the parameters' names in braces: `/v1/jobs/{id}`.
  let path: String
  let handler: Handler

  init(_ method: HTTPRequest.Method, _ endpoint: Endpoint, _ handler: @escaping Handler) {
    self.method = method
    path = endpoint.template
    self.handler = handler
  }

  /// Whether a request's path is one of this route's.
  func matches(_ requested: String) -> Bool {
    let parts = requested.split(separator: "/")
    let own = path.split(separator: "/")
    return parts.count == own.count && zip(own, parts).allSatisfy { $0.first == "{" || $0 == $1 }
  }
}
