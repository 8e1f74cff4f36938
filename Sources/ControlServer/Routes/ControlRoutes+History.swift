import ControlAPI
import Hummingbird

extension ControlRoutes {
  func history(_ request: Request) async throws -> Response {
    try .json(await backend.history(HistorySpanQuery(request.query())))
  }

  func disks(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.disks())
  }

  func daemons(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.daemons())
  }
}
