// What the queue works by can be changed while it runs, all or nothing: whatever can go wrong is done first, the last of it
// the transaction that notes the schedules. A kill after that finds schedules that the next start notes again, as its own
// configuration has them. All of it happens on the ledger's queue, between two transactions, so that no job is claimed, made
// or ended by half of it; jobs that run aren't touched.

import Foundation

/// What a queue works by and can work by otherwise.
package struct JobQueueConfiguration: Sendable {
  package var lanes: [LaneConfiguration]
  package var schedules: [ScheduleConfiguration]
  package var retention: JobRetention
  package var backoff: Backoff

  /// Everything has to be said: what isn't there is taken away.
  package init(
    lanes: [LaneConfiguration], schedules: [ScheduleConfiguration], retention: JobRetention, backoff: Backoff
  ) {
    self.lanes = lanes
    self.schedules = schedules
    self.retention = retention
    self.backoff = backoff
  }
}

extension JobQueue {
  /// What ``reconfigure(_:committed:)`` changes, beside what governs the lanes.
  struct Settings: Sendable {
    var lanes: [String: Lane]
    var retention: JobRetention
    var schedules: [ScheduleConfiguration]
  }

  var lanes: [String: Lane] { settings.withLock { $0.lanes } }
  var retention: JobRetention { settings.withLock { $0.retention } }
  var configuredSchedules: [ScheduleConfiguration] { settings.withLock { $0.schedules } }

  /// Works by another configuration from now on. A lane whose concurrency was set while the queue ran keeps that.
  /// - Parameter committed: called once, when nothing can go wrong any more, before any job is made or begins by it.
  /// - Throws: ``JobQueueError/invalidLanes(_:)``, ``JobQueueError/lanesInUse(_:)``,
  ///   ``JobQueueError/invalidSchedule(_:_:)``, or the store's error; everything is as it was then.
  package func reconfigure(
    _ new: JobQueueConfiguration, committed: @escaping @Sendable () -> Void = {}
  ) async throws {
    let lanes = try Self.checked(new.lanes)
    try check(new.schedules, lanes: Array(lanes.keys))
    try await ledger.context.perform {
      let before = self.lanes
      let counts = try self.loadCounts()
      try Self.check(Set(before.keys).subtracting(lanes.keys), areDone: counts)
      let isSame = Set(before.keys) == Set(lanes.keys)
      let newCounts = isSame ? nil : try self.ledger.count(lanes: Array(lanes.keys))
      let controls = try self.changedControls(lanes)
      try self.ledger.beginSchedules(new.schedules)

      self.state.withLock { state in
        if let newCounts { state.counts = newCounts }
        state.lanes = state.lanes.filter { lanes[$0.key] != nil }
        for (name, control) in controls {
          // What was set of one that is there isn't the configuration's, and jobs begin meanwhile.
          guard let rate = state.lanes[name].map(\.configuration.rate) else {
            state.lanes[name] = control
            continue
          }
          state.lanes[name]?.configuration = control.configuration
          if rate != control.configuration.rate { state.lanes[name]?.starts = control.starts }
        }
        state.lanesWithWork = Set(lanes.keys)
      }
      let table = lanes.mapValues { before[$0.name] ?? Lane($0) }
      let old = self.settings.withLock { settings in
        defer { settings = Settings(lanes: table, retention: new.retention, schedules: new.schedules) }
        return settings
      }
      self.ledger.backoff.withLock { $0 = new.backoff }
      self.setDue(new.schedules, from: old.schedules)
      committed()
      self.wakeUp()
      self.prune()
    }
  }

  /// The lanes by name.
  static func checked(_ lanes: [LaneConfiguration]) throws(JobQueueError) -> [String: LaneConfiguration] {
    var known: [String: LaneConfiguration] = [:]
    for lane in lanes {
      guard known[lane.name] == nil else { throw .invalidLanes("\(lane.name) is there twice") }
      guard lane.concurrency > 0 else { throw .invalidLanes("\(lane.name) has to run at least one job at a time") }
      if let rate = lane.rate, rate.jobs < 1 || !(rate.period > 0) {
        throw .invalidLanes("\(lane.name) has to let at least one job begin, in a time longer than none")
      }
      known[lane.name] = lane
    }
    guard !known.isEmpty else { throw .invalidLanes("there has to be one") }
    return known
  }

  /// Nobody would run the jobs of a lane that isn't there any more.
  private static func check(_ removed: Set<String>, areDone counts: JobCounts) throws(JobQueueError) {
    var inUse: [String: Int] = [:]
    for name in removed {
      let number = (counts.lanes[name] ?? [:]).filter { !$0.key.isEnded }.values.reduce(0, +)
      if number > 0 { inUse[name] = number }
    }
    guard inUse.isEmpty else { throw .lanesInUse(inUse) }
  }

  /// What governs lanes that are new, or are other than they were.
  private func changedControls(_ lanes: [String: LaneConfiguration]) throws -> [String: LaneControl] {
    let now = state.withLock { $0.lanes }
    let set = try ledger.laneSettings()
    var changed: [String: LaneControl] = [:]
    for (name, lane) in lanes where now[name]?.configuration != lane {
      var control = LaneControl(lane)
      if let setting = set[name] { control.setting = setting }
      if let rate = lane.rate { control.starts = try latestStarts(in: name, rate) }
      changed[name] = control
    }
    return changed
  }

  /// When the latest jobs of a lane began, as far as its rate remembers. On the ledger's queue.
  func latestStarts(in lane: String, _ rate: RateLimit) throws -> [Date] {
    try ledger.latestStarts(lane: lane, since: clock.now().addingTimeInterval(-rate.period), limit: rate.jobs)
  }

  /// Has each schedule looked at that is new or another one now.
  private func setDue(_ schedules: [ScheduleConfiguration], from old: [ScheduleConfiguration]) {
    let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
    dueSchedules.withLock { due in
      let known = due
      due = [:]
      for schedule in schedules where schedule.isEnabled {
        let isSame =
          before[schedule.name]?.signature == schedule.signature
          && before[schedule.name]?.jitter == schedule.jitter
        due[schedule.name] = isSame ? known[schedule.name] ?? .now : .now
      }
    }
  }
}
