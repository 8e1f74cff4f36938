// A new configuration of the queue is applied as a whole or not at all, while jobs run. Everything that can fail is done first,
// ending with the transaction that notes the schedules; after a kill the next start notes them again, from its own
// configuration. All of it happens on the ledger's queue, between two transactions, so that no job is claimed, made or ended
// under half of a configuration. Running jobs aren't affected.

import Foundation
import Logging

/// The settings of a queue that can change while it runs.
package struct JobQueueConfiguration: Sendable {
  package var lanes: [LaneConfiguration]
  package var schedules: [JobSchedule]
  package var retention: JobRetention
  package var backoff: Backoff
  /// The recipes whose completed imports are noted: see ``JobQueue/recipeRuns()``.
  package var watchedRecipes: Set<String>

  /// A complete configuration: lanes and schedules that it doesn't name are removed.
  package init(
    lanes: [LaneConfiguration], schedules: [JobSchedule], retention: JobRetention, backoff: Backoff,
    watchedRecipes: Set<String> = []
  ) {
    self.lanes = lanes
    self.schedules = schedules
    self.retention = retention
    self.backoff = backoff
    self.watchedRecipes = watchedRecipes
  }
}

extension JobQueue {
  var lanes: [String: LaneQueue] { state.lanes }

  /// Applies another configuration. A lane whose concurrency was set at run time keeps that.
  /// - Parameter committed: called once, when nothing can fail any more, before any job is made or begins under it.
  /// - Throws: ``JobQueueError/invalidLanes(_:)``, ``JobQueueError/lanesInUse(_:)``,
  ///   ``JobQueueError/invalidSchedule(_:_:)``, or the store's error; everything is as it was then.
  package func reconfigure(
    _ new: JobQueueConfiguration, committed: @escaping @Sendable () -> Void = {}
  ) async throws {
    let lanes = try Self.checked(new.lanes)
    try check(new.schedules, lanes: new.lanes.map(\.name))
    try await ledger.queue.perform { _ in
      let before = Set(self.lanes.keys)
      let counts = try self.state.counts ?? self.ledger.count(lanes: before, in: self.ledger.context)
      try Self.check(before.subtracting(lanes.keys), areDone: counts)
      let newCounts =
        before == Set(lanes.keys) ? nil : try self.ledger.count(lanes: lanes.keys, in: self.ledger.context)
      let controls = try self.changedControls(lanes)
      try self.ledger.beginSchedules(new.schedules)
      try self.ledger.beginRuns(of: new.watchedRecipes)

      self.state.reconfigure(
        lanes, controls: controls, counts: self.membership == nil ? newCounts : nil, retention: new.retention,
        watchedRecipes: new.watchedRecipes)
      self.ledger.backoff.withLock { $0 = new.backoff }
      self.scheduleRunner.replace(by: new.schedules)
      committed()
      self.wakeUp()
      self.pruner.prune(self)
    }
  }

  /// Where jobs that change others run: several at a time, since one may take long.
  private static let changes = {
    var lane = LaneConfiguration(name: LaneConfiguration.changesName, concurrency: 4)
    lane.isBuiltIn = true
    return lane
  }()

  /// The names of the lanes of the configuration.
  var lanesNow: [String] { state.controls.filter { !$0.value.configuration.isBuiltIn }.map(\.key) }

  /// The lanes by name, with the queue's own.
  static func checked(_ lanes: [LaneConfiguration]) throws(JobQueueError) -> [String: LaneConfiguration] {
    var known: [String: LaneConfiguration] = [:]
    for lane in lanes {
      guard known[lane.name] == nil else { throw .invalidLanes("\(lane.name) is there twice") }
      if let problem = lane.problem { throw .invalidLanes("\(lane.name) \(problem)") }
      known[lane.name] = lane
    }
    guard !known.isEmpty else { throw .invalidLanes("there has to be one") }
    known[changes.name] = changes
    return known
  }

  /// Checks whether the jobs of schedules would be accepted, in these lanes.
  func check(_ schedules: [JobSchedule], lanes: [String]) throws(JobQueueError) {
    var names = Set<String>()
    for schedule in schedules {
      guard names.insert(schedule.name).inserted else {
        throw JobQueueError.invalidSchedule(schedule.name, "it is there twice")
      }
      guard !schedule.calendar.isEmpty else { throw JobQueueError.invalidSchedule(schedule.name, "it has no calendar") }
      do {
        try check(schedule.submission, lanes: lanes)
      } catch {
        throw JobQueueError.invalidSchedule(schedule.name, error.description)
      }
    }
  }

  /// The jobs of a removed lane would never run.
  private static func check(_ removed: Set<String>, areDone counts: JobCounts) throws(JobQueueError) {
    var inUse: [String: Int] = [:]
    for name in removed {
      let number = (counts.lanes[name] ?? [:]).filter { !$0.key.isEnded }.values.reduce(0, +)
      if number > 0 { inUse[name] = number }
    }
    guard inUse.isEmpty else { throw .lanesInUse(inUse) }
  }

  /// The limits of lanes that are new or changed.
  private func changedControls(_ lanes: [String: LaneConfiguration]) throws -> [String: LaneControl] {
    let now = state.controls
    let set = try ledger.laneSettings()
    var changed: [String: LaneControl] = [:]
    for (name, lane) in lanes where now[name]?.configuration != lane {
      var control = LaneControl(lane)
      if let setting = set[name] { control.setting = setting }
      control.starts = try control.storedStarts(ledger, at: clock.now())
      changed[name] = control
    }
    return changed
  }
}

// Run-time settings of lanes. They are durable when the call returns, and outlive the daemon.

extension JobQueue {
  /// Pauses a lane: no job of it begins until it is resumed. Running jobs continue.
  /// - Throws: ``JobQueueError/unknownLane(_:known:)``, or the store's error. So do the others here.
  package func pause(lane: String, by who: String) async throws -> Lane {
    try await set(lane, "paused by \(who)") { row, now in
      guard !row.isPaused else { return }
      row.isPaused = true
      row.pausedBy = who
      row.pausedAt = now
    }
  }

  /// Lets jobs of a paused lane begin again.
  package func resume(lane: String, by who: String) async throws -> Lane {
    try await set(lane, "resumed by \(who)") { row, _ in
      row.isPaused = false
      row.pausedBy = nil
      row.pausedAt = nil
    }
  }

  /// Changes how many jobs of a lane run at a time, from 1 to 64; nil for the configured number. Running jobs beyond the new
  /// number continue.
  /// - Throws: ``JobQueueError/invalidLanes(_:)`` too.
  package func setConcurrency(of lane: String, to number: Int?, by who: String) async throws -> Lane {
    if let number, !LaneConfiguration.concurrencyRange.contains(number) {
      throw JobQueueError.invalidLanes("\(lane) can run from 1 to 64 jobs at a time, not \(number)")
    }
    return try await set(lane, "\(number.map { "\($0)" } ?? "as configured") at a time, by \(who)") { row, _ in
      row.concurrency = number
    }
  }

  /// The lanes of the configuration, by name.
  package func laneSnapshots() async throws -> [Lane] {
    let counts = try await counts()
    return lanesNow.sorted().compactMap { snapshot(of: $0, counts) }
  }

  private func set(
    _ lane: String, _ what: String, _ change: @escaping @Sendable (LaneRecord, Date) -> Void
  ) async throws -> Lane {
    guard lanesNow.contains(lane), let known = lanes[lane] else {
      throw JobQueueError.unknownLane(lane, known: lanesNow)
    }
    let setting = try await ledger.set(lane, change)
    logger.notice("lane \(lane): \(what)", metadata: ["lane": "\(lane)"])
    membership?.announce()
    try await ledger.queue.perform { _ in
      // A later setting may have been written already.
      let latest = try self.ledger.laneSettings()[lane] ?? setting
      self.state.apply(latest, to: known.name)
      self.claimWork()
    }
    guard let snapshot = snapshot(of: lane, try await counts()) else {
      throw JobQueueError.unknownLane(lane, known: lanesNow)
    }
    return snapshot
  }

  private func snapshot(of name: String, _ counts: JobCounts) -> Lane? {
    state.snapshot(of: name, counts, at: clock.now())
  }
}
