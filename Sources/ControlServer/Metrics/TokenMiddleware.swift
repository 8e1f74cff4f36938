import ControlAPI
import Hummingbird

/// Lets in who brings the token (RFC 6750, 2.1), whatever is asked for.
struct TokenMiddleware: RouterMiddleware {
  let token: AccessToken

  /// What is asked of whoever comes without.
  static let challenge = "Bearer realm=\"laded\""

  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    let words = (request.headers[.authorization] ?? "").split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bearer", token.matches(words[1]) else {
      throw Problem(
        status: 401, code: "unauthorized", title: "A token is needed",
        detail: "The request has no token, or another one than the configuration's metrics.token.",
        hint: "Send the header “Authorization: Bearer TOKEN”; on the control socket none is needed.")
    }
    return try await next(request, context)
  }
}
