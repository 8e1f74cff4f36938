import ControlAPI
import Foundation
import Hummingbird
import ServiceLifecycle

extension ControlRoutes {
  func list(_ request: Request, _ context: ControlContext) async throws -> Response {
    try .json(await backend.jobs(JobQuery(request.query())))
  }

  func show(_ request: Request, _ context: ControlContext) async throws -> Response {
    try .json(await backend.job(context.jobID()))
  }

  func rejects(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.query().refuseNames(otherThan: [])
    return try .json(await backend.rejects(context.jobID()))
  }

  func submit(_ request: Request, _ context: ControlContext) async throws -> Response {
    // A client that doesn't go on sending must not keep the daemon from stopping.
    let body = try await cancelWhenGracefulShutdown {
      try await request.body.collect(upTo: ControlServer<Backend>.maximumBodySize)
    }
    let submission = try WireFormat.decode(JobSubmission.self, from: Data(body.readableBytesView))
    if let source = submission.source { try Self.checkIsAbsolute(source) }
    let job = try await backend.submit(submission, by: context.peer())
    var response = try Response.json(job, status: .created)
    response.headers[.location] = Endpoint.job(job.id).path
    return response
  }

  static func checkIsAbsolute(_ source: String) throws {
    guard !source.hasPrefix("/") else { return }
    throw ControlError.invalid(
      field: "source", reason: "'\(source)' isn't an absolute path",
      hint: "The daemon has a working directory of its own, so a relative path would mean another file.")
  }

  func cancel(_ request: Request, _ context: ControlContext) async throws -> Response {
    try .json(await backend.cancel(context.jobID(), by: context.peer()))
  }
}
