import Synchronization

/// A bounded queue of events for one client, in order. When events don't fit, the queue ends, and ``isOverfull`` is true.
///
/// An event that replaces an older one of the same key keeps its place: so a slow client gets fewer events, not older ones.
/// Not an `AsyncChannel` or a buffered sequence of swift-async-algorithms: those either block the producer or drop events
/// silently, and hand over one event at a time.
package final class EventQueue<Event: Sendable>: Sendable {
  private struct State {
    var waiting: [Event] = []
    /// The places in `waiting` of events with a key.
    var places: [Int64: Int] = [:]
    var size = 0
    var isFinished = false
    var isOverfull = false

    mutating func removeAll() {
      waiting = []
      places.removeAll(keepingCapacity: true)
      size = 0
    }
  }

  private let state = Mutex(State())
  private let capacity: Int
  /// Wakes the reader. It buffers one signal, so that none is lost and none accumulates.
  private let bell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation

  /// An empty queue with room for events of this total size.
  package init(capacity: Int) {
    self.capacity = capacity
    (bell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Whether more events came than the queue has room for.
  package var isOverfull: Bool { state.withLock { $0.isOverfull } }

  /// Adds an event. An event larger than the whole queue is accepted if nothing else waits.
  /// - Parameter key: if an event with this key waits, the new one replaces it.
  /// - Returns: whether the client keeps up.
  @discardableResult
  package func put(_ event: Event, size: Int = 1, replacing key: Int64? = nil) -> Bool {
    let isFull = state.withLock { state in
      guard !state.isFinished else { return state.isOverfull }
      if let key, let place = state.places[key] {
        state.waiting[place] = event
        return false
      }
      state.isOverfull = !state.waiting.isEmpty && state.size + size > capacity
      if state.isOverfull {
        state.isFinished = true
        state.removeAll()
      } else {
        if let key { state.places[key] = state.waiting.count }
        state.waiting.append(event)
        state.size += size
      }
      return state.isOverfull
    }
    if isFull { ring.finish() } else { ring.yield() }
    return !isFull
  }

  /// Ends the queue. The reader still gets the waiting events.
  package func finish() {
    state.withLock { $0.isFinished = true }
    ring.finish()
  }

  /// Ends the queue and discards the waiting events.
  package func close() {
    state.withLock { state in
      state.isFinished = true
      state.removeAll()
    }
    ring.finish()
  }

  /// Waits for events and returns all that wait. Nil at the end, or when the task is cancelled. For one reader.
  package func take() async -> [Event]? {
    while true {
      let (events, isFinished) = state.withLock { state in
        defer { state.removeAll() }
        return (state.waiting, state.isFinished)
      }
      if Task.isCancelled { return nil }
      if !events.isEmpty { return events }
      if isFinished { return nil }
      var bells = bell.makeAsyncIterator()
      _ = await bells.next()
    }
  }
}
