import StrictYAML

/// How long jobs that have ended stay in the queue, with their transitions, rejects and files.
package struct KeepConfiguration: Sendable, Equatable {
  package var completed = Duration.seconds(30 * 86_400)
  package var cancelled = Duration.seconds(30 * 86_400)
  package var discarded = Duration.seconds(180 * 86_400)
  /// How many in all; those that ended last.
  package var jobs = 100_000
  /// How long the former values of rows stay, for an undo of the jobs that have changed them; nil if none are kept.
  package var undo: Duration? = .seconds(7 * 86_400)
  /// How long their files stay in `done/` and `corrupt/`.
  package var files = Files.job

  /// How long files of ended jobs are kept.
  package enum Files: Sendable, Equatable {
    /// As long as the job.
    case job
    /// In `done/` for this long, and no longer than the job; in `corrupt/` as long as the job.
    case age(Duration)
    /// Until somebody else removes them.
    case forever
  }

  package init() {}
}

extension KeepConfiguration {
  enum Key: String, CaseIterable {
    case completed, cancelled, discarded, jobs, undo, files
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    let allowed: ClosedRange<Duration> = .seconds(60) ... .seconds(3650 * 86_400)
    if let completed = section[.completed]?.duration(allowed) { self.completed = completed }
    if let cancelled = section[.cancelled]?.duration(allowed) { self.cancelled = cancelled }
    if let discarded = section[.discarded]?.duration(allowed) { self.discarded = discarded }
    if let jobs = section[.jobs]?.integer(1...100_000_000) { self.jobs = jobs }
    if let value = section[.undo] {
      if value.node.string == "none" { undo = nil } else if let age = value.duration(allowed) { undo = age }
    }
    if let value = section[.files] {
      switch value.node.string {
      case "job": files = .job
      case "forever": files = .forever
      default: if let age = value.duration(allowed) { files = .age(age) }
      }
    }
  }
}
