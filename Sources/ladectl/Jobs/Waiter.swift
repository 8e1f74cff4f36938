import ControlAPI

/// Follows jobs until they have ended, and shows their progress.
actor Waiter {
  private let session: Session
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var watch: JobWatch
  private var display: WaitDisplay
  /// Whether the daemon dropped changes because this client was too slow.
  private var hasLagged = false

  init(_ session: Session, for scope: JobWatch.Scope) {
    self.session = session
    start = clock.now
    watch = JobWatch(scope)
    display = WaitDisplay(
      isInteractive: session.terminal.isInteractive, width: session.terminal.width ?? 80,
      style: session.terminal.style)
  }

  /// Waits, writes the jobs if the output is JSON, and sets the exit status by their states.
  /// - Throws: ``ControlClientError``; an exit status if a job didn't complete.
  func run(timeout: Double?) async throws {
    if timeout == 0 {
      // A poll: it asks once and doesn't wait for the daemon to be quicker than nothing.
      try await refresh()
      guard isDone else {
        throw ControlClientError.timedOut(seconds: 0, waitingFor: standing, hint: "Nothing was stopped.")
      }
    } else {
      try await withDeadline(seconds: timeout, waitingFor: { await self.standing }) { try await self.follow() }
    }
    if session.json { session.terminal.writeData(try JSONText.of(JobList(jobs: watch.jobs))) }
    guard watch.exitStatus == .success else { throw watch.exitStatus.silently }
  }

  private var standing: String {
    let count = watch.unfinishedCount
    return count == 1 ? "one job hadn't ended" : "\(count) jobs hadn't ended"
  }

  private var isDone: Bool { watch.isDone }

  private func follow() async throws {
    let endpoint: Endpoint =
      if case .jobs(let ids) = watch.scope, ids.count == 1 { .jobEvents(ids[0]) } else { .allJobEvents }
    while true {
      hasLagged = false
      try await session.client.listen(to: endpoint) {
        try await self.refresh()
        return await !self.isDone
      } each: { event in
        await self.takeIn(event)
      }
      if watch.isDone { return }
      // Asking again recovers from that; in any other case the daemon has ended the stream.
      guard hasLagged else { throw ControlClientError.hungUp(path: session.client.socketPath) }
    }
  }

  /// Whether to continue listening.
  private func takeIn(_ event: ControlEvent) -> Bool {
    switch event {
    case .job(let job): note(job)
    case .lagged: hasLagged = true
    }
    return !watch.isDone && !hasLagged
  }

  /// Asks for the jobs' current states once the daemon has started to record changes.
  private func refresh() async throws {
    switch watch.scope {
    case .jobs(let ids), .attempts(let ids):
      for id in ids { note(try await session.client.settledJob(id)) }
    case .all:
      var query = JobQuery(states: [.available, .running, .retryable], limit: JobQuery.maximumLimit)
      repeat {
        let list = try await session.client.jobs(query)
        for job in list.jobs { note(job) }
        query.before = list.next
      } while query.before != nil
    }
  }

  private func note(_ job: Job) {
    let time = start.duration(to: clock.now) / .seconds(1)
    let change = watch.note(job, at: time)
    if session.terminal.isInteractive, let size = Terminal.size() { display.width = size.columns }
    let text = display.text(for: job, change, in: watch, at: time)
    if !session.json, !text.isEmpty { session.terminal.write(text) }
  }
}
