import ControlAPI
import Hummingbird

/// Which request goes where. The routes themselves are in the files beside this one.
struct ControlRoutes<Backend: ControlBackend>: Sendable {
  let backend: Backend

  func router() -> Router<ControlContext> {
    let router = Router(context: ControlContext.self)
    router.add(middleware: ProblemMiddleware())
    router.get("v1/status") { request, context in try await status(request, context) }
    router.get("v1/jobs") { request, context in try await list(request, context) }
    router.post("v1/jobs") { request, context in try await submit(request, context) }
    router.get("v1/jobs/events") { request, context in try await allEvents(request, context) }
    router.get("v1/jobs/:id") { request, context in try await show(request, context) }
    router.post("v1/jobs/:id/cancel") { request, context in try await cancel(request, context) }
    router.get("v1/jobs/:id/rejects") { request, context in try await rejects(request, context) }
    router.get("v1/jobs/:id/events") { request, context in try await events(request, context) }
    router.get("v1/objects/:entity") { request, context in try await objects(request, context) }
    router.get("v1/count/:entity") { request, context in try await count(request, context) }
    return router
  }

  func status(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.query().refuseNames(otherThan: [])
    return try .json(await backend.status())
  }
}

extension Request {
  /// The request's query, read as ladectl writes it.
  func query() throws -> QueryString {
    try QueryString(parsing: uri.query ?? "")
  }
}

extension ControlContext {
  /// The job's number in the path.
  func jobID() throws -> Int64 {
    let text = try parameters.require("id")
    guard let id = Int64(text), id >= 0 else {
      throw ControlError.invalid(field: "job", reason: "'\(text)' isn't a job's number")
    }
    return id
  }

  /// The entity's name in the path.
  func entity() throws -> String {
    let text = try parameters.require("entity")
    // Read as a parameter's name, for the escapes are the same and a name may have any character.
    guard let name = try QueryString(parsing: text.replacing("=", with: "%3D")).names.first else {
      throw ControlError.invalid(field: "entity", reason: "there is no name")
    }
    return name
  }
}
