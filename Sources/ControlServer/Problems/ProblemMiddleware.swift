import ControlAPI
import Hummingbird

/// Answers every error as a problem document. The only place that does.
struct ProblemMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let problem = Problem(describing: error, method: request.method.rawValue, path: request.uri.path)
      if problem.status >= 500 {
        context.logger.error(
          "request failed",
          metadata: ["path": "\(request.uri.path)", "error": "\(error)", "code": "\(problem.code)"])
      }
      return try .json(problem, status: .init(code: problem.status), contentType: Problem.contentType)
    }
  }
}
