/// What the daemon made a job from, where one origin makes one job only.
///
/// The origin of a spool entry counts until the entry has arrived, that is, until its removal from `incoming/` is durable,
/// which may be after its job has run. An entry with the same identity that appears later is a new one. The origin of an
/// upload counts unless the job ends without its file. The origins of a schedule's elapse and of a retry count for ever.
public enum JobOrigin: RawRepresentable, Sendable, Hashable, Codable {
  /// An entry of the spool, by its identity.
  case spool(String)
  /// One elapse of a schedule. The text of the time never changes.
  case schedule(name: String, time: String)
  /// A file that is kept in `done/`, by its name there, in one replay.
  case replay(id: String, file: String)
  /// One retry of the rejects of a job. The request tells it from other retries of the same rejects.
  case rejects(of: Int64, request: String)
  /// A file that a user has sent in parts, by its number among the user's.
  case upload(user: UInt32, number: Int64)

  /// The stored form: `spool:IDENTITY`, `schedule:NAME:TIME`, `replay:ID:FILE`, `rejects:JOB:REQUEST` or
  /// `upload:USER:NUMBER`.
  public var rawValue: String {
    switch self {
    case .replay(let id, let file): "replay:\(id):\(file)"
    case .spool(let identity): "spool:\(identity)"
    case .schedule(let name, let time): "schedule:\(name):\(time)"
    case .rejects(let job, let request): "rejects:\(job):\(request)"
    case .upload(let user, let number): "upload:\(user):\(number)"
    }
  }

  /// Nil for a text that is no origin.
  public init?(rawValue text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    // Neither the name of a schedule nor the ID of a replay has a colon.
    let rest = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    switch parts[0] {
    case "spool": self = .spool(parts[1])
    case "schedule":
      guard rest.count == 2 else { return nil }
      self = .schedule(name: rest[0], time: rest[1])
    case "replay":
      guard rest.count == 2 else { return nil }
      self = .replay(id: rest[0], file: rest[1])
    case "rejects":
      guard rest.count == 2, let job = Int64(rest[0]) else { return nil }
      self = .rejects(of: job, request: rest[1])
    case "upload":
      guard rest.count == 2, let user = UInt32(rest[0]), let number = Int64(rest[1]) else { return nil }
      self = .upload(user: user, number: number)
    default: return nil
    }
  }

  /// Whether it stops counting when the job has its file.
  package var endsWithArrival: Bool {
    switch self {
    case .spool: true
    case .schedule, .replay, .rejects, .upload: false
    }
  }

  /// Whether it stops counting when the job ends without its file: what it was made from is still there, and may make another.
  package var endsWithoutFile: Bool {
    switch self {
    case .upload: true
    case .spool, .schedule, .replay, .rejects: false
    }
  }

  /// The job whose rejects are retried.
  package var retriedJob: Int64? {
    if case .rejects(let job, _) = self { job } else { nil }
  }
}
