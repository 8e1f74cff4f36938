/// The latest of many measurements, in seconds: a ring.
package struct LatestSamples: Sendable {
  private var samples: [Double] = []
  private var next = 0
  private let capacity: Int

  /// A ring that forgets the oldest when it has so many.
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
