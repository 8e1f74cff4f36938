import ControlAPI
import ControlServer
import Hummingbird
import NIOCore

/// What every answer says to the browser, errors too: nothing but the server's own files is run or shown, and no other
/// site frames or reads it.
struct PageHeaders: RouterMiddleware {
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

  private static let fields: [(name: String, value: String)] = [
    ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"), ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
  ]

  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    for (name, value) in Self.fields {
      if let name = HTTPFields.Element.Name(name) { response.headers[name] = value }
    }
    // Who signs out leaves nothing in the browser's cache.
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    return response
  }
}

/// Answers every error as a page. The only place that does.
struct ProblemPages<Backend: ControlBackend>: RouterMiddleware {
  let pages: PageRoutes<Backend>

  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    do {
      let proxy = pages.proxyUsers
      let peer = proxy == nil ? nil : try await context.peer()
      try pages.check.checkHost(request, isOfProxy: peer.map { proxy?.isProxy($0) == true } ?? false)
      try pages.check.checkOrigin(request)
      if let peer { context.session = try await proxy?.session(of: request, from: peer) }
      return try await next(request, context)
    } catch {
      var problem = Problem(describing: error, method: request.method.rawValue, path: request.uri.path)
      if problem.code == "no_such_route" {
        problem.title = "No such page"
        problem.detail = "There is no page \(request.uri.path)."
        problem.hint = nil
      }
      context.logger.report(problem, of: error, path: request.uri.path)
      // Who comes under another name learns nothing about a session.
      let session = problem.code == "wrong_host" ? nil : pages.session(of: request, context)?.session
      return pages.response(
        Page.problem(problem, isSignedIn: session != nil), for: session, status: .init(code: problem.status))
    }
  }
}

/// Measures requests, as those of the control socket are.
struct PageMeter: RouterMiddleware {
  let meter: RequestMeter

  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    let response = try await next(request, context)
    if request.method == .get { meter.note(start.duration(to: .now)) }
    return response
  }
}
