package import ControlAPI
import Hummingbird
package import Logging
import NIOCore
import NIOHTTP1

/// Answers every error as a problem document. The only place that does.
struct ProblemMiddleware: RouterMiddleware {
  let routes: [ControlRoute]

  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let allowed = (error as? HTTPError)?.status == .notFound ? methods(of: request.uri.path) : []
      var problem =
        allowed.isEmpty
        ? Problem(describing: error, method: request.method.rawValue, path: request.uri.path)
        : Problem(notAllowed: request.method.rawValue, on: request.uri.path, allowed)
      // The port for metrics has few routes, whatever the versions.
      if problem.code == "no_such_route", !routes.contains(where: { $0.path == Endpoint.status.template }) {
        problem.detail = "There is no \(request.method.rawValue) \(request.uri.path) on this port."
        problem.hint = "It has \(routes.map(\.path).joined(separator: ", ")); the rest is on the control socket."
      }
      context.logger.report(problem, of: error, path: request.uri.path)
      var response = try Response.json(
        problem, status: .init(code: problem.status), contentType: Problem.contentType)
      if !allowed.isEmpty { response.headers[.allow] = allowed.joined(separator: ", ") }
      if problem.status == 401 { response.headers[.wwwAuthenticate] = TokenMiddleware.challenge }
      return response
    }
  }

  /// The methods that there are for a path, where no route was found for the one that was asked with.
  private func methods(of path: String) -> [String] {
    let exact = routes.filter { $0.path == path }
    let those = exact.isEmpty ? routes.filter { $0.matches(path) } : exact
    return Set(those.map(\.method.rawValue)).sorted()
  }
}

extension Logger {
  /// Logs what isn't the client's fault.
  package func report(_ problem: Problem, of error: any Error, path: String) {
    // What was cancelled has no client any more, or the daemon stops.
    guard problem.status >= 500, !(error is CancellationError) else { return }
    self.error("request failed", metadata: ["path": "\(path)", "error": "\(error)", "code": "\(problem.code)"])
  }
}

extension Problem {
  /// What an error that a route threw means to the client.
  package init(describing error: any Error, method: String, path: String) {
    switch error {
    case let error as ControlError: self = error.problem
    case let problem as Problem: self = problem
    case let error as QueryError:
      self.init(status: 400, code: "invalid_query", title: "The query can't be understood", detail: "\(error)")
    case BodyError.notJSON(let mistake):
      self.init(
        status: 400, code: "malformed_body", title: "The body can't be understood",
        detail: "Line \(mistake.line), column \(mistake.column): \(mistake.what).",
        hint: "The body of this request is a JSON object.")
    case BodyError.unexpected:
      self.init(
        status: 400, code: "unexpected_body", title: "There is a body", detail: "\(method) \(path) takes no body.",
        hint: "Leave it out.")
    case let error as DecodingError:
      self.init(
        status: 400, code: "malformed_body", title: "The body can't be understood", detail: error.explanation,
        hint: "GET \(Endpoint.description.path) describes the members of every request's JSON object.")
    case is NIOTooManyBytesError:
      self.init(
        status: 413, code: "body_too_large", title: "The body is too large",
        detail: "A request's body can have 1 MiB.", hint: "Submit the path of a file, not its content.")
    case let error as HTTPParserError: self.init(of: error)
    case let error as HTTPError where error.status == .notFound:
      self.init(
        status: 404, code: "no_such_route", title: "No such route",
        detail: "There is no \(method) \(path) in this version of the daemon, \(LadeVersion.current).",
        hint: "ladectl and laded should be of the same version.")
    case let error as HTTPError:
      self.init(
        status: error.status.code, code: "bad_request", title: error.status.reasonPhrase,
        detail: error.body ?? error.status.reasonPhrase)
    case is CancellationError:
      self =
        ControlError.unavailable(
          reason: "The daemon is stopping.", hint: "Nothing was submitted; try again when it runs."
        ).problem
    default:
      self.init(
        status: 500, code: "internal_error", title: "The daemon failed", detail: String(describing: error),
        hint: "The daemon's log has more: journalctl -u laded")
    }
  }
}

extension Problem {
  /// A known path with a method that it doesn't support.
  init(notAllowed method: String, on path: String, _ allowed: [String]) {
    self.init(
      status: 405, code: "method_not_allowed", title: "No such method",
      detail: "\(path) can't be asked with \(method).", hint: "It takes \(allowed.joined(separator: " and ")).")
  }
}

extension DecodingError {
  /// Which value is wrong and why, without the decoder's own words.
  fileprivate var explanation: String {
    switch self {
    case .keyNotFound(let key, let context): "'\(Self.path(context, key))' is missing"
    case .typeMismatch(let type, let context): "'\(Self.path(context))' isn't \(Self.name(of: type))"
    case .valueNotFound(let type, let context): "'\(Self.path(context))' is null, but must be \(Self.name(of: type))"
    case .dataCorrupted(let context) where context.codingPath.isEmpty: context.debugDescription
    case .dataCorrupted(let context): "'\(Self.path(context))': \(context.debugDescription)"
    @unknown default: "\(self)"
    }
  }

  private static func path(_ context: Context, _ last: (any CodingKey)? = nil) -> String {
    let path = (context.codingPath + (last.map { [$0] } ?? [])).map(\.stringValue).joined(separator: ".")
    return path.isEmpty ? "the body" : path
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is any BinaryInteger.Type: "a whole number"
    case is Bool.Type: "true or false"
    case is any Collection.Type: "a list or an object"
    default: "what it should be"
    }
  }
}
