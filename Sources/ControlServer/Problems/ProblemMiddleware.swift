import ControlAPI
import Hummingbird

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
      let problem =
        allowed.isEmpty
        ? Problem(describing: error, method: request.method.rawValue, path: request.uri.path)
        : Problem(notAllowed: request.method.rawValue, on: request.uri.path, allowed)
      if problem.status >= 500 {
        context.logger.error(
          "request failed",
          metadata: ["path": "\(request.uri.path)", "error": "\(error)", "code": "\(problem.code)"])
      }
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
