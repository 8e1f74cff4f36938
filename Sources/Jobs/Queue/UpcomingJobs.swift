/// The jobs that are next in lanes with short jobs, in the order of claims: see `JobQueue+Run`. A value, kept by the queue.
struct UpcomingJobs {
  struct Next {
    let job: Job
    let access: StoreAccess
  }

  /// How many jobs of a lane are kept, and below how many they are looked up again.
  static let most = 256
  private static let few = 128

  private var lanes: [String: ArraySlice<Next>] = [:]

  func first(in lane: String) -> Next? { lanes[lane]?.first }
  func count(in lane: String) -> Int { lanes[lane]?.count ?? 0 }
  func areFew(in lane: String) -> Bool { count(in: lane) < Self.few }

  mutating func set(_ jobs: [Next], in lane: String) { lanes[lane] = jobs.prefix(Self.most) }

  mutating func removeFirst(in lane: String) { lanes[lane]?.removeFirst() }

  mutating func remove(_ id: Int64, from lane: String) {
    if let place = lanes[lane]?.firstIndex(where: { $0.job.id == id }) { lanes[lane]?.remove(at: place) }
  }

  /// A job was changed. If it now stands before the jobs that are next in its lane, these aren't next any more.
  mutating func putInOrder(_ job: Job) {
    guard job.state == .available, let last = lanes[job.lane]?.last?.job else { return }
    if job.priority > last.priority || (job.priority == last.priority && job.id < last.id) { lanes[job.lane] = nil }
  }
}
