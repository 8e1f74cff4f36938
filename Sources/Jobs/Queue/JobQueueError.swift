/// Why the queue refuses a request.
package enum JobQueueError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No operation is known for the kind of job.
  case unknownKind(String, known: [String])
  /// No lane of that name is configured.
  case unknownLane(String, known: [String])
  /// The submission isn't valid.
  case invalidSubmission(String)
  /// There is no job of that number (any more).
  case noSuchJob(Int64)
  /// There is no batch of that number (any more).
  case noSuchBatch(Int64)
  /// The request can't be carried out now, for a reason other than the job's state.
  case refused(id: Int64, why: String)
  /// The request isn't possible in the job's state.
  case notPossible(id: Int64, IllegalTransition)
  /// Another has claimed the job since this claim.
  case superseded(id: Int64, claim: Int64, by: Int64)
  /// The lanes can't be set up as configured.
  case invalidLanes(String)
  /// Lanes that can't be removed, with the number of their jobs that haven't ended.
  case lanesInUse([String: Int])
  /// The configuration has no schedule of that name.
  case noSuchSchedule(String, known: [String])
  /// The schedule of that name isn't valid.
  case invalidSchedule(String, String)
  /// A queue is started once.
  case startedBefore
  /// The queue's store holds a value that this version doesn't write.
  case unreadable(id: Int64, what: String)

  package var description: String {
    switch self {
    case .unknownKind(let kind, let known):
      return "no job is of the kind \(kind): it must be one of \(known.sorted().joined(separator: ", "))"
    case .unknownLane(let lane, let known):
      return "there is no lane \(lane): it must be one of \(known.sorted().joined(separator: ", "))"
    case .invalidSubmission(let why): return "the job can't be taken: \(why)"
    case .noSuchJob(let id): return "there is no job \(id)"
    case .noSuchBatch(let id): return "there is no batch \(id)"
    case .noSuchSchedule(let name, let known):
      return "there is no schedule \(name): it must be one of \(known.sorted().joined(separator: ", "))"
    case .refused(let id, let why): return "job \(id) \(why)"
    case .notPossible(let id, let transition):
      return
        "job \(id) is \(transition.state?.rawValue ?? "new") and can't be \(transition.participle): \(transition.why)"
    case .superseded(let id, let claim, let latest):
      return "claim \(claim) of job \(id) is over: the job has been taken over since, under claim \(latest)"
    case .invalidLanes(let why): return "the lanes can't be set up: \(why)"
    case .lanesInUse(let lanes):
      return lanes.sorted { $0.key < $1.key }.map { name, jobs in
        "lane \(name) can't be taken away: \(jobs) of its jobs \(jobs == 1 ? "hasn't" : "haven't") ended"
      }.joined(separator: "\n")
    case .invalidSchedule(let name, let why): return "schedule \(name) can't run: \(why)"
    case .startedBefore: return "the queue was started before: make a new one"
    case .unreadable(let id, let what):
      return "job \(id) has a \(what) that this version doesn't know: was the queue written by a newer one?"
    }
  }
}
