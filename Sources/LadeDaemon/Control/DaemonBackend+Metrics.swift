import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Glibc
import Jobs
import Spool

extension DaemonBackend {
  /// Files of /proc are looked at there.
  private static let measuringQueue = DispatchQueue(label: "control.metrics")

  func metrics() async throws -> [MetricFamily] {
    let sources = meters.sources
    // Counts are kept in memory while jobs move.
    let jobs = await sources.families(of: .jobs) { [Self.jobs(try await queue.counts())] }
    let lanes = await sources.families(of: .lanes) { Self.lanes(try await queue.laneSnapshots()) }
    let kept = meters.kept.families()
    sources.note(.keptFiles, kept.error)
    let sizes = await meters.sizes.families()
    sources.note(.storeSizes, sizes.error)
    let process = try await Self.measuringQueue.result { ProcessUse.now().families }
    var build = MetricFamily(.gauge, "lade_build_info", "The version of this daemon; always 1.")
    build.add(1, ["version": LadeVersion.current])
    return [build, sources.family] + jobs + Self.reloads(await reloader.outcome) + lanes + meters.jobs.families
      + [
        MetricFamily(
          "lade_main_queue_wait_seconds",
          "How long the main queue let others wait while jobs moved, since this daemon's start.",
          meters.mainQueue.waits)
      ] + meters.mainContexts.families + Self.spool(intake.status) + freshness.families + kept.families + sizes.families
      + process + lease
  }

  /// Of a daemon that shares the queue.
  private var lease: [MetricFamily] {
    guard let left = queue.leaseLeft, let host = queue.host else { return [] }
    var family = MetricFamily(
      .gauge, "lade_lease_seconds", "Seconds until this daemon's lease on the queue is lost unless it is renewed.")
    family.add(left, ["host": host])
    return [family]
  }

  private static func jobs(_ counts: JobCounts) -> MetricFamily {
    var jobs = MetricFamily(.gauge, "lade_jobs", "Jobs in the queue, by lane and state.")
    for (lane, states) in counts.lanes.sorted(by: { $0.key < $1.key }) {
      for state in JobState.allCases { jobs.add(states[state] ?? 0, ["lane": lane, "state": state.rawValue]) }
    }
    return jobs
  }

  private static func reloads(_ outcome: Reloader.Outcome) -> [MetricFamily] {
    [
      MetricFamily(
        .gauge, "lade_config_last_reload_successful",
        "Whether the last reload of the configuration was applied: 1, or 0 if it was refused.",
        value: outcome.isSuccess ? 1 : 0),
      MetricFamily(
        .gauge, "lade_config_last_reload_success_timestamp_seconds",
        "When a configuration was last applied, in seconds since 1970.",
        value: Int64(outcome.lastSuccess.timeIntervalSince1970)),
    ]
  }

  private static func lanes(_ lanes: [Lane]) -> [MetricFamily] {
    var paused = MetricFamily(
      .gauge, "lade_lane_paused", "Whether a lane is paused, so that none of its jobs starts: 1, else 0.")
    var limited = MetricFamily(
      .gauge, "lade_lane_rate_limited", "Whether the rate of a lane lets no further job start now: 1, else 0.")
    for lane in lanes {
      paused.add(lane.isPaused ? 1 : 0, ["lane": lane.name])
      limited.add(lane.nextStart == nil ? 0 : 1, ["lane": lane.name])
    }
    return [paused, limited]
  }

  private static func spool(_ status: SpoolStatus) -> [MetricFamily] {
    var entries = MetricFamily(
      .counter, "lade_spool_entries_total",
      "Entries of the spool that became jobs (taken) and that went to corrupt/ (refused), since this daemon's start.")
    entries.add(status.taken, ["outcome": "taken"])
    entries.add(status.refused, ["outcome": "refused"])
    var look = MetricFamily(
      .gauge, "lade_spool_last_look_timestamp_seconds",
      "When everything in the spool was last looked at, in seconds since 1970.")
    if let time = status.lastRescan { look.add(time.timeIntervalSince1970) }
    return [
      entries,
      MetricFamily(
        .counter, "lade_spool_failures_total",
        "Errors with the spool that were logged, each try counted, since this daemon's start.", value: status.failures),
      MetricFamily(
        .counter, "lade_spool_overflows_total",
        "How often the kernel lost events of the spool, each time made up for, since this daemon's start.",
        value: status.overflows),
      MetricFamily(
        .gauge, "lade_spool_entries_waiting",
        "Entries that the last look at the spool left to wait for a writer, a file or time.", value: status.waiting),
      MetricFamily(
        .gauge, "lade_spool_sets_waiting", "Sets of files in hot folders that aren't complete.",
        value: status.waitingSets),
      MetricFamily(
        .gauge, "lade_spool_sets_overdue", "Sets of files that have waited for longer than their timeout.",
        value: status.overdueSets),
      look,
    ]
  }

  /// Whether everything answers, with a warning for each recipe that isn't fresh, and for those whose sets are overdue.
  func health() async -> Health {
    var health = freshness.adding(to: await meters.health.check())
    for fault in configuration.recipeFaults {
      health = health.adding(
        .init(.warn, "it isn't used: \(fault.reason). \(RecipeFault.remedy(fault.recipe))"),
        of: "the saved recipe \(fault.recipe)")
    }
    let overdue = intake.status.sets.filter(\.isOverdue)
    return Dictionary(grouping: overdue, by: \.recipe).reduce(health) { health, sets in
      health.adding(
        .init(.warn, "incomplete after their timeout: \(sets.value.count)"), of: "sets \(sets.key)")
    }
  }

  func readiness() async -> Health { readiness.now }
}
