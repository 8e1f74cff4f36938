import ControlAPI

extension ControlClient {
  func lanes() async throws -> LaneList { try await send(.GET, .lanes) }

  func pause(_ lane: String) async throws -> Lane { try await send(.POST, .pauseLane(lane)) }

  func resume(_ lane: String) async throws -> Lane { try await send(.POST, .resumeLane(lane)) }

  func pauseAllLanes() async throws -> LaneList { try await send(.POST, .pauseLanes) }

  func resumeAllLanes() async throws -> LaneList { try await send(.POST, .resumeLanes) }

  /// - Parameter concurrency: nil for the configured one.
  func setConcurrency(of lane: String, to concurrency: Int?) async throws -> Lane {
    try await send(
      .PUT, .laneConcurrency(lane), body: try WireFormat.encode(ConcurrencyChange(concurrency: concurrency)))
  }
}
