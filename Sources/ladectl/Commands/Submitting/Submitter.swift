import ControlAPI
import FoundationEssentials
import Glibc
import Importing

/// Submits jobs, prints their numbers, and waits for them if requested.
struct Submitter: Sendable {
  /// The precision of times on the wire, in seconds.
  private static let rounding = 0.001

  /// The most jobs that a terminal gets a line each of.
  private static let listed = 10

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
          do {
            if let job = try await submitCopy(of: submission) { receipts[place] = JobReceipt(id: job.id) }
          } catch let error as LocalFailure {
            receipts[place] = JobReceipt(problem: error.problem)
          }
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
    let numbers = receipts.compactMap(\.id)
    guard let first = numbers.min(), let last = numbers.max() else { return }
    // Jobs that were submitted together have numbers that are close together, except those that were there before.
    var jobs: [Job] = []
    if last - first < Int64(2 * numbers.count + JobQuery.maximumLimit) {
      let found = try await session.client.allJobs(JobQuery(before: last + 1, after: first - 1)).jobs
      let byNumber = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
      jobs = numbers.compactMap { byNumber[$0] }
    } else {
      for id in numbers { jobs.append(try await session.client.job(id)) }
      for place in jobs.indices { jobs[place].transitions = nil }
    }
    try report(jobs, Set(receipts.filter { $0.isOld == true }.compactMap(\.id)), isList: true)
  }

  /// Submits one job. If the daemon can't open the file, or values of a Core Data store are in files beside it, submits a copy of it in the spool.
  private func submit(_ submission: JobSubmission) async throws -> Job {
    // The daemon takes a file alone.
    if let source = submission.source, CoreDataCopy.hasFiles(besideStore: source),
      let job = try await submitCopy(of: submission)
    {
      return job
    }
    do {
      return try await session.client.submit(submission)
    } catch ControlClientError.refused(let problem) where problem.code == Problem.unreachableSource {
      guard let job = try await submitCopy(of: submission) else { throw ControlClientError.refused(problem) }
      return job
    }
  }

  /// - Returns: nil if there is no file to copy.
  private func submitCopy(of submission: JobSubmission) async throws -> Job? {
    if !submission.files.isEmpty { return try await submitCopies(of: submission) }
    guard let source = submission.source else { return nil }
    return try await session.client.withCopy(of: source) { path in
      var submission = submission
      submission.source = path
      return try await session.client.submit(submission)
    }
  }

  /// The same with the files of a set, each under its own name.
  private func submitCopies(of submission: JobSubmission) async throws -> Job? {
    let spool = try await session.client.status().spool
    var copies: [SpoolCopy] = []
    defer { for copy in copies { copy.remove() } }
    for file in submission.files {
      if access(file, F_OK) != 0, errno == ENOENT { throw LocalFailure.noSuchFile(path: file) }
      guard let copy = try SpoolCopy(of: file, inSpool: spool) else { return nil }
      copies.append(copy)
    }
    var submission = submission
    submission.files = copies.map(\.path)
    return try await session.client.submit(submission)
  }

  /// The jobs by state, with their numbers as ranges.
  static func summary(of jobs: [Job]) -> String {
    Dictionary(grouping: jobs, by: \.state).sorted { $0.key.rawValue < $1.key.rawValue }.map { state, jobs in
      var ranges: [ClosedRange<Int64>] = []
      for id in Set(jobs.map(\.id)).sorted() {
        if let last = ranges.last, last.upperBound + 1 == id {
          ranges[ranges.count - 1] = last.lowerBound...id
        } else {
          ranges.append(id...id)
        }
      }
      let shown = ranges.prefix(listed).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      let more = ranges.count > shown.count ? " and others" : ""
      return "\(Quantity.count(jobs.count, "job")) \(state.rawValue): \(shown.joined(separator: ","))\(more)\n"
    }.joined()
  }

  private func report(_ jobs: [Job], _ old: Set<Int64>, isList: Bool) throws {
    if session.terminal.isInteractive, !session.json, jobs.count > Self.listed {
      return session.terminal.write(Self.summary(of: jobs))
    }
    let text = jobs.map { job in
      "job \(job.id) \(job.state.rawValue)" + (job.isHeld ? ", held" : "")
        + (job.waitsFor.map { ", waits for \($0.namingUsers.printable)" } ?? "")
        + (old.contains(job.id) ? "; it was there before, with the same unique key" : "") + "\n"
    }.joined()
    if !isList, let job = jobs.first { return try session.report(job) { text } }
    try session.report(JobList(jobs: jobs)) { text }
  }
}
