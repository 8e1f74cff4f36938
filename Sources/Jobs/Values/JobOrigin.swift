// What a job was made of by the daemon itself, so that it isn't made twice. An entry of the spool is the same until it has
// arrived: what is met under its identity afterwards was put there again. It has arrived when that it left `incoming/` is on
// the disk, which may be after its job has run. A schedule's time is the same for ever.

/// What a job was made of, where that makes one job only.
public enum JobOrigin: RawRepresentable, Sendable, Hashable, Codable {
  /// An entry of the spool, by its identity.
  case spool(String)
  /// One of a schedule's times, in words that never change.
  case schedule(name: String, time: String)

  /// As it is kept: `spool:IDENTITY`, `schedule:NAME:TIME`.
  public var rawValue: String {
    switch self {
    case .spool(let identity): "spool:\(identity)"
    case .schedule(let name, let time): "schedule:\(name):\(time)"
    }
  }

  /// Nil for a text that isn't an origin's.
  public init?(rawValue text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "spool": self = .spool(parts[1])
    case "schedule":
      // The name of a schedule has no colon.
      let rest = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard rest.count == 2 else { return nil }
      self = .schedule(name: rest[0], time: rest[1])
    default: return nil
    }
  }

  /// Whether it is over when the job has its file.
  var endsWithArrival: Bool {
    switch self {
    case .spool: true
    case .schedule: false
    }
  }
}

extension JobSnapshot {
  /// Whether it may run, or has run, though its entry of the spool may be met again after a loss of power.
  var isBeforeArrival: Bool { !isAwaitingFile && origin?.endsWithArrival == true }
}
