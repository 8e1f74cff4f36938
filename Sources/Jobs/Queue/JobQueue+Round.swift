import Dispatch
import ManagedObjects
import Synchronization

/// Where a round through a queue is.
package enum QueueRoundStation: Sendable, Equatable, CustomStringConvertible {
  /// The queue's store, by its only writer.
  case store
  /// Where the operations of a lane begin.
  case lane(String)

  package var description: String {
    switch self {
    case .store: "the queue's store"
    case .lane(let name): "the lane \(name)"
    }
  }
}

extension JobQueue {
  /// Goes once around: reads the store on the ledger's queue, where every change of a job is written, and then has each
  /// lane begin something, however many operations run there. Whatever hangs keeps it from coming back.
  /// - Parameters:
  ///   - arrived: called at each station, before it lets the round on.
  ///   - finished: called once, after the last; with the store's error, if it can't be read.
  package func round(
    arrived: @escaping @Sendable (QueueRoundStation) -> Void, finished: @escaping @Sendable ((any Error)?) -> Void
  ) {
    arrived(.store)
    ledger.context.perform { [ledger, lanes] in
      do {
        let request = FetchRequest<Job>(entityName: "Job", fetchLimit: 1)
        _ = try ledger.context.count(for: request)
      } catch {
        return finished(error)
      }
      Self.pass(lanes.values.sorted { $0.name < $1.name }[...], arrived) { finished(nil) }
    }
  }

  private static func pass(
    _ lanes: ArraySlice<Lane>, _ arrived: @escaping @Sendable (QueueRoundStation) -> Void,
    _ finished: @escaping @Sendable () -> Void
  ) {
    guard let lane = lanes.first else { return finished() }
    arrived(.lane(lane.name))
    lane.probe { pass(lanes.dropFirst(), arrived, finished) }
  }
}
