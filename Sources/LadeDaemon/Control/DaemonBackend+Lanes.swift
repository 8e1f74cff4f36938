import ControlAPI
import ControlServer
import Jobs

extension DaemonBackend {
  func lanes() async throws -> [Lane] { try await queue.laneSnapshots() }

  func pause(lane: String, by peer: Peer) async throws -> Lane {
    try await change(lane, "pause lanes", by: peer) { try await queue.pause(lane: lane, by: peer.who) }
  }

  func resume(lane: String, by peer: Peer) async throws -> Lane {
    try await change(lane, "resume lanes", by: peer) { try await queue.resume(lane: lane, by: peer.who) }
  }

  func setConcurrency(of lane: String, to number: Int?, by peer: Peer) async throws -> Lane {
    try await change(lane, "change the concurrency of lanes", by: peer) {
      try await queue.setConcurrency(of: lane, to: number, by: peer.who)
    }
  }

  private func change(
    _ lane: String, _ what: String, by peer: Peer, _ body: () async throws -> Lane
  ) async throws -> Lane {
    try permissions.checkOperator(peer, to: what)
    do {
      return try await body()
    } catch JobQueueError.unknownLane(let name, let known) {
      throw ControlError.noSuchLane(name, known: known)
    }
  }
}
