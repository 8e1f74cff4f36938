import ControlAPI
import Hummingbird

// MARK: Rejects

extension ControlRoutes {
  func rejects(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.rejects(context.number()))
  }

  func reject(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let text = try context.name("number")
    guard let number = Int64(text), number > 0 else {
      throw ControlError.invalid(field: "number", reason: "'\(text)' isn't a reject's number")
    }
    return try .json(await backend.reject(number, of: context.number()))
  }

  func openRejects(_ request: Request, _ context: ControlContext) async throws -> Response {
    try .json(await backend.openRejects(context.number(), RejectQuery(request.query())))
  }

  func checkRejects(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let check = try await Self.checked(request.decoded(as: RejectRetryRequest.self))
    let (id, peer) = try await (context.number(), context.peer())
    return try .json(await context.untilGone { try await backend.checkRejects(id, check, by: peer) })
  }

  func retryRejects(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let retry = try await Self.checked(request.decoded(as: RejectRetryRequest.self))
    let job = try await backend.retryRejects(context.number(), retry, by: context.peer())
    var response = try Response.json(job, status: .created)
    response.headers[.location] = Endpoint.job(job.id).path
    return response
  }

  private static func checked(_ request: RejectRetryRequest) throws -> RejectRetryRequest {
    guard let records = request.records else { return request }
    guard !records.isEmpty else { throw ControlError.invalid(field: "records", reason: "there are none") }
    var seen: Set<Int64> = []
    for record in records where !seen.insert(record.number).inserted {
      throw ControlError.invalid(field: "records", reason: "reject \(record.number) is there twice")
    }
    return request
  }
}
