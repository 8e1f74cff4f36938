import ControlAPI
import ControlServer
import Jobs

extension DaemonBackend {
  func lanes() async throws -> [ControlAPI.Lane] { try await queue.laneSnapshots().map(ControlAPI.Lane.init) }

  func pause(lane: String, by peer: Peer) async throws -> ControlAPI.Lane {
    try await change(lane, "pause lanes", by: peer) { try await queue.pause(lane: lane, by: peer.who) }
  }

  func resume(lane: String, by peer: Peer) async throws -> ControlAPI.Lane {
    try await change(lane, "resume lanes", by: peer) { try await queue.resume(lane: lane, by: peer.who) }
  }

  func setConcurrency(of lane: String, to number: Int?, by peer: Peer) async throws -> ControlAPI.Lane {
    try await change(lane, "change the concurrency of lanes", by: peer) {
      try await queue.setConcurrency(of: lane, to: number, by: peer.who)
    }
  }

  private func change(
    _ lane: String, _ what: String, by peer: Peer, _ body: () async throws -> LaneSnapshot
  ) async throws -> ControlAPI.Lane {
    try permissions.checkOperator(peer, to: what)
    do {
      return ControlAPI.Lane(try await body())
    } catch JobQueueError.unknownLane(let name, let known) {
      throw ControlError.noSuchLane(name, known: known)
    }
  }
}

extension ControlAPI.Lane {
  init(_ lane: LaneSnapshot) {
    self.init(
      name: lane.name, concurrency: lane.concurrency, configuredConcurrency: lane.configuredConcurrency,
      isPaused: lane.isPaused, pausedBy: lane.pausedBy, pausedAt: lane.pausedAt,
      rate: lane.rate.map { Rate(jobs: $0.jobs, seconds: $0.period) },
      counts: Dictionary(uniqueKeysWithValues: lane.counts.filter { $0.value != 0 }.map { ($0.rawValue, $1) }),
      running: lane.running)
  }
}
