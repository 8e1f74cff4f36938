import ControlAPI
import Hummingbird

/// A secret that every request must have. No way of describing values shows it.
package struct AccessToken: Sendable, Equatable {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether a text is the secret. The time that the comparison takes reveals only its length.
  package func matches(_ text: some StringProtocol) -> Bool {
    let given = Array(text.utf8)
    var difference: UInt8 = given.count == bytes.count ? 0 : 1
    for (place, byte) in bytes.enumerated() { difference |= byte ^ (place < given.count ? given[place] : 0) }
    return difference == 0
  }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Admits requests with the bearer token (RFC 6750, 2.1), for every route.
struct TokenMiddleware: RouterMiddleware {
  let token: AccessToken

  /// The challenge in an answer to a request without it.
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
