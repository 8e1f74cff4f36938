import ControlAPI

/// Hands in jobs, tells their numbers, and waits for them where that was asked for.
struct Submitter: Sendable {
  let session: Session

  /// Hands them in, one after the other. Those before one that is refused are made, and told.
  /// - Parameter isList: whether the result is a list, though there be one.
  /// - Throws: ``ControlClientError``; with `wait` an exit status when one didn't complete.
  func run(_ submissions: [JobSubmission], isList: Bool = false, wait: Bool) async throws {
    var jobs: [Job] = []
    do {
      for submission in submissions { jobs.append(try await session.client.submit(submission)) }
    } catch {
      if !jobs.isEmpty { try report(jobs, isList: true) }
      throw error
    }
    guard wait else { return try report(jobs, isList: isList) }
    try await Waiter(session, for: .jobs(jobs.map(\.id))).run(timeout: nil)
  }

  private func report(_ jobs: [Job], isList: Bool) throws {
    let text = jobs.map { job in
      "job \(job.id) \(job.state.rawValue)" + (job.isHeld == true ? ", held" : "")
        + (job.waitsFor.map { ", waits for \($0.printable)" } ?? "") + "\n"
    }.joined()
    if !isList, let job = jobs.first { return try session.report(job) { text } }
    try session.report(JobList(jobs: jobs)) { text }
  }
}
