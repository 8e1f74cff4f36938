import ControlAPI
import Hummingbird

extension ControlRoutes {
  func lanes(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(LaneList(lanes: await backend.lanes()))
  }

  func schedules(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(ScheduleList(schedules: await backend.schedules()))
  }

  /// Does to the lane in the path what needs no saying.
  func changeLane(
    _ request: Request, _ context: ControlContext, _ body: @Sendable (String, Peer) async throws -> Lane
  ) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    return try .json(await body(context.name("lane"), context.peer()))
  }

  /// The same for every lane.
  func changeAll(
    _ request: Request, _ context: ControlContext, _ body: @Sendable (String, Peer) async throws -> Lane
  ) async throws -> Response {
    try request.refuseQuery()
    try await request.refuseBody()
    let peer = try await context.peer()
    for lane in try await backend.lanes() { _ = try await body(lane.name, peer) }
    return try .json(LaneList(lanes: await backend.lanes()))
  }

  func setConcurrency(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let change = try await request.decoded(as: ConcurrencyChange.self)
    if let number = change.concurrency, !LaneConfiguration.concurrencyRange.contains(number) {
      throw ControlError.invalid(field: "concurrency", reason: "it must be from 1 to 64, or null")
    }
    return try .json(
      await backend.setConcurrency(of: context.name("lane"), to: change.concurrency, by: context.peer()))
  }
}
