import ControlAPI
import Hummingbird

extension HTTPFields {
  /// ``LadeVersion/header``.
  static let ladeVersion = Element.Name(LadeVersion.header)
}

/// Says the daemon's version in every answer.
struct VersionMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    if let name = HTTPFields.ladeVersion { response.headers[name] = LadeVersion.current }
    return response
  }
}

/// Refuses clients of another major version, which would misunderstand the answers; routes that report the daemon's version
/// they get all the same.
struct ClientVersionMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
  ) async throws -> Response {
    if let client = Self.version(of: request), !Self.tellsVersion(request.uri.path),
      LadeVersion.major(of: client) != LadeVersion.major(of: LadeVersion.current)
    {
      throw Problem(
        status: 400, code: "version_mismatch", title: "Another version",
        detail: "The client is of version \(client.prefix(40)), and the daemon of \(LadeVersion.current).",
        hint: "Install both from one version, and restart laded after an update.")
    }
    return try await next(request, context)
  }

  private static func tellsVersion(_ path: String) -> Bool {
    path == Endpoint.status.path || path == Endpoint.description.path
  }

  /// The version that a client says it is of; nil for those that say nothing, as curl does.
  private static func version(of request: Request) -> Substring? {
    if let name = HTTPFields.ladeVersion, let version = request.headers[name] { return version[...] }
    guard let agent = request.headers[.userAgent], agent.hasPrefix("ladectl/") else { return nil }
    return agent.dropFirst("ladectl/".count).prefix { $0 != " " }
  }
}
