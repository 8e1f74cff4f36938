/// How often something took how long, by bounds that don't change.
package struct Histogram: Sendable, Equatable {
  /// Upper bounds of the buckets, rising, without the last, which has none.
  package let bounds: [Double]
  /// How many fell into each bucket alone; the last has no bound.
  private var counts: [UInt64]
  /// Of all that was observed.
  package private(set) var sum = 0.0

  /// Nothing observed.
  package init(bounds: [Double]) {
    self.bounds = bounds
    counts = [UInt64](repeating: 0, count: bounds.count + 1)
  }

  package var count: UInt64 { counts.reduce(0, +) }

  /// How many were at most as large as each bound; the last of these is infinity, and its number that of all.
  package var cumulative: [(bound: Double, count: UInt64)] {
    var sum: UInt64 = 0
    return zip(bounds + [.infinity], counts).map { bound, count in
      sum += count
      return (bound, sum)
    }
  }

  package mutating func observe(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  package mutating func observe(_ time: Duration) { observe(time / .seconds(1)) }
}

extension Histogram {
  /// Of waits, in seconds: from a tenth of a millisecond to ten seconds.
  package static var ofWaits: Histogram {
    Histogram(bounds: [
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])
  }

  /// Of work, in seconds: from ten milliseconds to four hours.
  package static var ofWork: Histogram {
    Histogram(bounds: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 14_400])
  }
}
