import ControlAPI
import FoundationEssentials

/// Hands in jobs, tells their numbers, and waits for them where that was asked for.
struct Submitter: Sendable {
  /// Seconds that a time loses on the wire.
  private static let rounding = 0.001

  let session: Session

  /// Hands them in, one after the other. Those before one that is refused are made, and told.
  /// - Parameter isList: whether the result is a list, though there be one.
  /// - Throws: ``ControlClientError``; with `wait` an exit status when one didn't complete.
  func run(_ submissions: [JobSubmission], isList: Bool = false, wait: Bool) async throws {
    var jobs: [Job] = []
    var old: Set<Int64> = []
    do {
      for submission in submissions {
        let asked = Date()
        let job = try await session.client.submit(submission)
        jobs.append(job)
        // It is the daemon's word on the same clock.
        if submission.uniqueKey != nil, job.submittedAt < asked.addingTimeInterval(-Self.rounding) {
          old.insert(job.id)
        }
      }
    } catch {
      if !jobs.isEmpty { try report(jobs, old, isList: true) }
      throw error
    }
    guard wait else { return try report(jobs, old, isList: isList) }
    try await Waiter(session, for: .jobs(jobs.map(\.id))).run(timeout: nil)
  }

  private func report(_ jobs: [Job], _ old: Set<Int64>, isList: Bool) throws {
    let text = jobs.map { job in
      "job \(job.id) \(job.state.rawValue)" + (job.isHeld == true ? ", held" : "")
        + (job.waitsFor.map { ", waits for \($0.printable)" } ?? "")
        + (old.contains(job.id) ? "; it was there before, with the same unique key" : "") + "\n"
    }.joined()
    if !isList, let job = jobs.first { return try session.report(job) { text } }
    try session.report(JobList(jobs: jobs)) { text }
  }
}
