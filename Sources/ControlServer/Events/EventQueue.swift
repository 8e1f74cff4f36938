import Synchronization

/// Events on their way to one client, in order. What waits is bounded: past `capacity` the queue ends, and says so in
/// ``isOverfull``.
final class EventQueue<Event: Sendable>: Sendable {
  private struct State {
    var waiting: [Event] = []
    var size = 0
    var isFinished = false
    var isOverfull = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let bell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation

  /// An empty queue with room for events of that size together.
  init(capacity: Int) {
    self.capacity = capacity
    (bell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Whether more came than it has room for.
  var isOverfull: Bool { state.withLock { $0.isOverfull } }

  /// Leaves an event. What is larger than the whole queue passes where nothing else waits.
  /// - Returns: whether the client still keeps up.
  @discardableResult
  func put(_ event: Event, size: Int = 1) -> Bool {
    let isFull = state.withLock { state in
      guard !state.isFinished else { return state.isOverfull }
      state.isOverfull = !state.waiting.isEmpty && state.size + size > capacity
      if state.isOverfull {
        state.isFinished = true
        state.waiting = []
      } else {
        state.waiting.append(event)
        state.size += size
      }
      return state.isOverfull
    }
    if isFull { ring.finish() } else { ring.yield() }
    return !isFull
  }

  /// Nothing more comes; what waits is still given.
  func finish() {
    state.withLock { $0.isFinished = true }
    ring.finish()
  }

  /// Nothing more comes, and what waits is thrown away.
  func close() {
    state.withLock { state in
      state.isFinished = true
      state.waiting = []
    }
    ring.finish()
  }

  /// Waits for events and takes all that wait. Nil at the end, or when the task is cancelled. For one reader.
  func take() async -> [Event]? {
    while true {
      let (events, isFinished) = state.withLock { state in
        defer {
          state.waiting = []
          state.size = 0
        }
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
