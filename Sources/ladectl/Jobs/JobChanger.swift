import ControlAPI

/// Changes the jobs selected on the command line, and reports the result for each.
struct JobChanger: Sendable {
  /// The change, and its wording.
  struct Change: Sendable {
    let action: JobChange.Action
    var priority: Int?
    /// For the question: `Cancel`.
    let verb: String
    /// For the answer: `cancelled`.
    let participle: String
    /// The states that the verb applies to if a filter names none.
    let standard: JobSelection
    /// Changes one job.
    let one: @Sendable (ControlClient, Int64) async throws -> Job
    /// Describes the result for one job.
    let sentence: @Sendable (Job) -> String
  }

  /// The maximum number of jobs to count before asking, and of numbers to send at once.
  private static let page = JobQuery.maximumLimit

  let session: Session
  let change: Change

  /// Changes the jobs.
  /// - Throws: ``ControlClientError``; if several jobs can't be changed, the last one's, after reporting the others.
  func run(_ jobs: JobsToChange) async throws {
    if jobs.all { return try await changeAll(jobs) }
    guard let numbers = JobNumbers.singles(jobs.jobs) else {
      return try await changeMany(try await session.client.numbers(jobs.jobs))
    }
    try await changeEach(numbers)
  }

  private func changeEach(_ numbers: [Int64]) async throws {
    var changed: [Job] = []
    var failure: ControlClientError?
    for id in numbers {
      do {
        changed.append(try await change.one(session.client, id))
      } catch let error as ControlClientError where [.failed, .notAllowed].contains(error.exitStatus) {
        if let failure { Failure.write(failure.problem, asJSON: session.json) }
        failure = error
      }
    }
    try session.report(JobList(jobs: changed)) { changed.map { change.sentence($0) + "\n" }.joined() }
    if let failure { throw failure }
  }

  private func changeAll(_ jobs: JobsToChange) async throws {
    var selection = jobs.filter.selection
    if selection.states.isEmpty { selection.states = change.standard.states }
    if selection.isHeld == nil { selection.isHeld = change.standard.isHeld }
    if !jobs.yes {
      let found = try await session.client.jobs(JobQuery(selection, limit: Self.page))
      guard !found.jobs.isEmpty else { return try report(JobChangeResult(changed: 0)) }
      let count =
        found.next == nil ? Quantity.count(found.jobs.count, "job") : "more than \(Quantity.count(Self.page)) jobs"
      guard try session.mayGoOn("\(change.verb) \(count)?", yes: false) else { return }
    }
    let job = try await session.client.change(
      JobChange(change.action, selection, priority: change.priority, isForAll: selection.isEverything))
    let ended = try await session.client.endedJob(job.id)
    try report(ended.change ?? JobChangeResult(), unfinished: ended.state == .completed ? [] : [ended])
  }

  private func changeMany(_ numbers: [Int64]) async throws {
    var result = JobChangeResult(changed: 0)
    var unfinished: [Job] = []
    var rest = numbers[...]
    while !rest.isEmpty {
      let job = try await session.client.change(
        JobChange(change.action, JobSelection(jobs: Array(rest.prefix(Self.page))), priority: change.priority))
      let ended = try await session.client.endedJob(job.id)
      if ended.state != .completed { unfinished.append(ended) }
      let part = ended.change ?? JobChangeResult()
      rest = rest.dropFirst(Self.page)
      result.changed += part.changed
      result.refused += part.refused
      result.refusals += part.refusals
    }
    try report(result, unfinished: unfinished)
  }

  /// - Parameter unfinished: the jobs that were to change others and haven't come to the end.
  /// - Throws: the exit status 1 if some couldn't be changed.
  private func report(_ result: JobChangeResult, unfinished: [Job] = []) throws {
    try session.report(result) {
      var text = result.changed + result.refused == 0 && unfinished.isEmpty ? "No job is meant.\n" : ""
      if result.changed > 0 { text += Quantity.count(result.changed, "job") + " \(change.participle)\n" }
      if result.refused > 0 {
        text += Quantity.count(result.refused, "job") + " couldn't be:\n"
        for refusal in result.refusals { text += "  job \(refusal.job): \(refusal.reason.printable)\n" }
        if result.refused > result.refusals.count {
          text += "  and \(Quantity.count(result.refused - result.refusals.count)) more\n"
        }
      }
      for job in unfinished {
        text += "job \(job.id), which changes them, was \(job.state.rawValue): \((job.reason ?? "").printable)\n"
      }
      return text
    }
    if result.refused > 0 || !unfinished.isEmpty { throw ExitStatus.failed.silently }
  }
}
