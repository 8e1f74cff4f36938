package import FoundationEssentials

/// How the daemon fares, in numbers: the answer of `GET /v1/stats`.
package struct Stats: Codable, Sendable, Hashable {
  /// What ended within some time.
  package struct Rate: Codable, Sendable, Hashable {
    /// How long that time is: what the daemon has been up, if that is shorter.
    package var seconds: Double
    package var completed: Int
    package var cancelled: Int
    package var discarded: Int
    /// Records that the jobs which ended had worked through.
    package var records: Int64

    package init(seconds: Double, completed: Int, cancelled: Int, discarded: Int, records: Int64) {
      self.seconds = seconds
      self.completed = completed
      self.cancelled = cancelled
      self.discarded = discarded
      self.records = records
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case seconds, completed, cancelled, discarded, records }
  }

  /// How long something took, in seconds.
  package struct Spread: Codable, Sendable, Hashable {
    /// Of how many.
    package var count: Int
    package var median: Double
    package var p99: Double
    package var longest: Double

    package init(count: Int, median: Double, p99: Double, longest: Double) {
      self.count = count
      self.median = median
      self.p99 = p99
      self.longest = longest
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case count, median, p99, longest }
  }

  package var version: String
  package var startedAt: Date
  /// Seconds since then.
  package var uptime: Double
  /// How many jobs are in each state.
  package var counts: [String: Int]
  /// The same by lane; jobs of lanes that aren't configured any more are in none.
  package var lanes: [String: [String: Int]]
  /// The last minute, the last five and the last fifteen.
  package var rates: [Rate]
  /// How long the last attempts of the latest jobs took, by kind.
  package var durations: [String: Spread]
  /// How long the main queue let others wait while jobs ran, lately.
  package var mainQueue: Spread?
  /// Seconds that contexts of the main queue have worked there since the daemon's start.
  package var mainQueueBusy: Double
  /// How far the main contexts have merged saves, by store; `queue.sqlite` is the queue.
  package var mainContexts: [String: MainContextStatus]
  /// How long requests took to be answered, lately; streams of events and submissions left out.
  package var requests: Spread?
  /// Clients that listen to a stream of events or to a standing query.
  package var listeners: Int

  /// Numbers at one moment.
  package init(
    version: String, startedAt: Date, uptime: Double, counts: [String: Int] = [:], lanes: [String: [String: Int]] = [:],
    rates: [Rate] = [], durations: [String: Spread] = [:], mainQueue: Spread? = nil, mainQueueBusy: Double = 0,
    mainContexts: [String: MainContextStatus] = [:], requests: Spread? = nil, listeners: Int = 0
  ) {
    self.version = version
    self.startedAt = startedAt
    self.uptime = uptime
    self.counts = counts
    self.lanes = lanes
    self.rates = rates
    self.durations = durations
    self.mainQueue = mainQueue
    self.mainQueueBusy = mainQueueBusy
    self.mainContexts = mainContexts
    self.requests = requests
    self.listeners = listeners
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case version
    case startedAt = "started_at"
    case uptime, counts, lanes, rates, durations
    case mainQueue = "main_queue"
    case mainQueueBusy = "main_queue_busy"
    case mainContexts = "main_contexts"
    case requests, listeners
  }
}

/// The latest of many measurements, in seconds: a ring.
package struct LatestSamples: Sendable {
  private var samples: [Double] = []
  private var next = 0
  private let capacity: Int

  /// A ring of fixed capacity that drops the oldest.
  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Adds one.
  package mutating func add(_ sample: Double) {
    if samples.count < capacity { samples.append(sample) } else { samples[next] = sample }
    next = (next + 1) % capacity
  }

  /// Median, 99th percentile and longest; nil while there are none.
  package var spread: Stats.Spread? {
    guard !samples.isEmpty else { return nil }
    let sorted = samples.sorted()
    func quantile(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] }
    return Stats.Spread(
      count: sorted.count, median: quantile(0.5), p99: quantile(0.99), longest: sorted[sorted.count - 1])
  }
}
