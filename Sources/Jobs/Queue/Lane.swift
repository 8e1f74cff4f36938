import Dispatch
import Foundation

/// A lane as configured.
package struct LaneConfiguration: Sendable, Equatable {
  package var name: String
  /// How many of its jobs run at a time, at most.
  package var concurrency: Int
  /// How many of its jobs may begin in how long; nil for any number.
  package var rate: RateLimit?

  /// A lane.
  package init(name: String, concurrency: Int, rate: RateLimit? = nil) {
    self.name = name
    self.concurrency = concurrency
    self.rate = rate
  }
}

/// Where a lane's operations run. It holds only what runs: the rest of the work stays in the store.
final class Lane: Sendable {
  let name: String
  let operations: OperationQueue
  /// `underlyingQueue` doesn't keep it.
  private let queue: DispatchQueue

  init(_ configuration: LaneConfiguration) {
    name = configuration.name
    // Serial: operations only begin here, and run on queues of their own.
    queue = DispatchQueue(label: "lane.\(configuration.name)")
    operations = OperationQueue()
    operations.name = configuration.name
    operations.maxConcurrentOperationCount = configuration.concurrency
    operations.underlyingQueue = queue
  }
}
