/// How fast a running job is now: over its last ten seconds, as far as it has reported by then.
public struct CurrentRate: Codable, Sendable, Hashable {
  /// The seconds that it was measured over.
  public var seconds: Double
  /// Records a second.
  public var records: Double
  /// Bytes of the input a second.
  public var bytes: Double
  /// Seconds until its end if it goes on like this; nil where that can't be said.
  public var secondsLeft: Double?

  package init(seconds: Double, records: Double, bytes: Double, secondsLeft: Double? = nil) {
    self.seconds = seconds
    self.records = records
    self.bytes = bytes
    self.secondsLeft = secondsLeft
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case seconds
    case records = "records_per_second"
    case bytes = "bytes_per_second"
    case secondsLeft = "seconds_left"
  }
}
