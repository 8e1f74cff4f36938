import ControlAPI
import FoundationEssentials

/// Submits jobs, prints their numbers, and waits for them if requested.
struct Submitter: Sendable {
  /// The precision of times on the wire, in seconds.
  private static let rounding = 0.001

  let session: Session

  /// Submits the jobs and reports each as accepted or as an error.
  /// - Parameter isList: whether the result is a list even for one job.
  /// - Throws: ``ControlClientError``; with `wait`, an exit status if one didn't complete.
  func run(_ submissions: [JobSubmission], isList: Bool = false, wait: Bool) async throws {
    if submissions.count > 1 { return try await runMany(submissions, wait: wait) }
    var jobs: [Job] = []
    var old: Set<Int64> = []
    for submission in submissions {
      let asked = Date()
      let job = try await submit(submission)
      jobs.append(job)
      // Both times are the daemon's, on one clock.
      if submission.uniqueKey != nil, job.submittedAt < asked.addingTimeInterval(-Self.rounding) {
        old.insert(job.id)
      }
    }
    guard wait else { return try report(jobs, old, isList: isList) }
    try await Waiter(session, for: .jobs(jobs.map(\.id))).run(timeout: nil)
  }

  /// Submits as many jobs per request as allowed.
  private func runMany(_ submissions: [JobSubmission], wait: Bool) async throws {
    var receipts: [JobReceipt] = []
    do {
      for start in stride(from: 0, to: submissions.count, by: JobsSubmission.maximumJobs) {
        let some = submissions[start..<min(start + JobsSubmission.maximumJobs, submissions.count)]
        let first = receipts.count
        receipts += try await session.client.submit(Array(some))
        for (place, submission) in zip(first..., some)
        where receipts[place].problem?.code == Problem.unreachableSource {
          if let job = try await submitCopy(of: submission) { receipts[place] = JobReceipt(id: job.id) }
        }
      }
    } catch {
      try await report(receipts)
      throw error
    }
    let problems = receipts.compactMap(\.problem)
    if !wait || !problems.isEmpty { try await report(receipts) }
    if let last = problems.last {
      for problem in problems.dropLast() { Failure.write(problem, asJSON: session.json) }
      throw ControlClientError.refused(last)
    }
    if wait { try await Waiter(session, for: .jobs(receipts.compactMap(\.id))).run(timeout: nil) }
  }

  private func report(_ receipts: [JobReceipt]) async throws {
    var jobs: [Job] = []
    for receipt in receipts {
      guard let id = receipt.id else { continue }
      var job = try await session.client.job(id)
      job.transitions = nil
      jobs.append(job)
    }
    guard !jobs.isEmpty else { return }
    try report(jobs, Set(receipts.filter { $0.isOld == true }.compactMap(\.id)), isList: true)
  }

  /// Submits one job. If the daemon can't open the file, submits a copy of it in the spool.
  private func submit(_ submission: JobSubmission) async throws -> Job {
    do {
      return try await session.client.submit(submission)
    } catch ControlClientError.refused(let problem) where problem.code == Problem.unreachableSource {
      guard let job = try await submitCopy(of: submission) else { throw ControlClientError.refused(problem) }
      return job
    }
  }

  /// - Returns: nil if there is no file to copy.
  private func submitCopy(of submission: JobSubmission) async throws -> Job? {
    guard let source = submission.source,
      let copy = SpoolCopy(of: source, inSpool: try await session.client.status().spool)
    else { return nil }
    // The daemon has taken its own copy by the time it answers.
    defer { copy.remove() }
    var submission = submission
    submission.source = copy.path
    return try await session.client.submit(submission)
  }

  private func report(_ jobs: [Job], _ old: Set<Int64>, isList: Bool) throws {
    let text = jobs.map { job in
      "job \(job.id) \(job.state.rawValue)" + (job.isHeld ? ", held" : "")
        + (job.waitsFor.map { ", waits for \($0.namingUsers.printable)" } ?? "")
        + (old.contains(job.id) ? "; it was there before, with the same unique key" : "") + "\n"
    }.joined()
    if !isList, let job = jobs.first { return try session.report(job) { text } }
    try session.report(JobList(jobs: jobs)) { text }
  }
}
