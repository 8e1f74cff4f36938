import Foundation
import Logging

// What people set of lanes. It is durable when the call returns, and outlives the daemon.

extension JobQueue {
  /// Lets no job of a lane begin until it is resumed; those that run go on.
  /// - Throws: ``JobQueueError/unknownLane(_:known:)``, or the store's error. So do the others here.
  package func pause(lane: String, by who: String) async throws -> LaneSnapshot {
    try await set(lane, "paused by \(who)") { row, now in
      guard !row.isPaused else { return }
      row.isPaused = true
      row.pausedBy = who
      row.pausedAt = now
    }
  }

  /// Lets jobs of a paused lane begin again.
  package func resume(lane: String, by who: String) async throws -> LaneSnapshot {
    try await set(lane, "resumed by \(who)") { row, _ in
      row.isPaused = false
      row.pausedBy = nil
      row.pausedAt = nil
    }
  }

  /// Changes how many jobs of a lane run at a time, from 1 to 64; nil for what the configuration says. When more run than
  /// may, these go on.
  /// - Throws: ``JobQueueError/invalidLanes(_:)`` too.
  package func setConcurrency(of lane: String, to number: Int?, by who: String) async throws -> LaneSnapshot {
    if let number, !(1...64).contains(number) {
      throw JobQueueError.invalidLanes("\(lane) can run from 1 to 64 jobs at a time, not \(number)")
    }
    return try await set(lane, "\(number.map { "\($0)" } ?? "as configured") at a time, by \(who)") { row, _ in
      row.concurrency = number
    }
  }

  /// The lanes of the configuration, by name.
  package func laneSnapshots() async throws -> [LaneSnapshot] {
    let counts = try await counts()
    return lanes.keys.sorted().compactMap { snapshot(of: $0, counts) }
  }

  private func set(
    _ lane: String, _ what: String, _ change: @escaping @Sendable (LaneSetting, Date) -> Void
  ) async throws -> LaneSnapshot {
    guard let known = lanes[lane] else { throw JobQueueError.unknownLane(lane, known: Array(lanes.keys)) }
    let setting = try await ledger.set(lane, change)
    logger.notice("lane \(lane): \(what)", metadata: ["lane": "\(lane)"])
    try await ledger.context.perform {
      // What was set later may be here already.
      let latest = try self.ledger.laneSettings()[lane] ?? setting
      self.apply(latest, to: known.name)
      self.claimWork()
    }
    guard let snapshot = snapshot(of: lane, try await counts()) else {
      throw JobQueueError.unknownLane(lane, known: Array(lanes.keys))
    }
    return snapshot
  }

  /// On the ledger's queue.
  func apply(_ setting: LaneControl.Setting, to lane: String) {
    state.withLock { state in
      state.lanes[lane]?.setting = setting
      state.lanesWithWork.insert(lane)
    }
  }

  private func snapshot(of name: String, _ counts: JobCounts) -> LaneSnapshot? {
    state.withLock { state in
      guard let control = state.lanes[name] else { return nil }
      return LaneSnapshot(
        name: name, concurrency: control.concurrency, configuredConcurrency: control.configuration.concurrency,
        isPaused: control.setting.isPaused, pausedBy: control.setting.pausedBy, pausedAt: control.setting.pausedAt,
        rate: control.configuration.rate, counts: counts.lanes[name] ?? [:],
        running: state.running.filter { $0.value.lane == name && !$0.value.hasPassedOn }.keys.sorted())
    }
  }
}
