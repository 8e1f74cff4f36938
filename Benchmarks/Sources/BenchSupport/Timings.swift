import Foundation

/// What a measured program prints: seconds (or nanoseconds, as its name says) by name.
package struct Timings: Codable, Sendable {
  package var values: [String: Double] = [:]
  /// What the work came to, so that both sides can be seen to have done the same.
  package var sums: [String: Int64] = [:]

  package init() {}

  /// Notes the seconds that `body` takes.
  package mutating func measure(_ name: String, _ body: () throws -> Int64) rethrows {
    let clock = ContinuousClock()
    let start = clock.now
    let sum = try body()
    values[name] = (clock.now - start) / .seconds(1)
    sums[name] = sum
  }

  /// Notes the nanoseconds that one of `count` rounds of `body` takes.
  package mutating func measureEach(_ name: String, count: Int, _ body: () throws -> Void) rethrows {
    let clock = ContinuousClock()
    let start = clock.now
    try body()
    values[name] = (clock.now - start) / .nanoseconds(1) / Double(count)
  }

  /// Prints itself as JSON, on one line.
  package func report() throws {
    print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
  }

  /// Reads what a program printed.
  package init(printed text: String) throws {
    self = try JSONDecoder().decode(Timings.self, from: Data(text.utf8))
  }
}
