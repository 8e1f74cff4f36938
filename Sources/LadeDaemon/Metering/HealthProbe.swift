import ControlAPI
import Jobs
import Synchronization

/// Says whether everything that a job passes answers. Who asks while a round is under way waits for that one.
final class HealthProbe: Sendable {
  /// One round, for all who wait for it.
  private final class Turn: Sendable {
    struct State {
      var listeners: [AsyncStream<Void>.Continuation] = []
      var passed: [String] = []
      var isOver = false
      var trouble: String?
    }

    let begun = ContinuousClock.now
    let state = Mutex(State())

    /// Ends when the round is over.
    func end() -> AsyncStream<Void> {
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      let isOver = state.withLock { state in
        if !state.isOver { state.listeners.append(continuation) }
        return state.isOver
      }
      if isOver { continuation.finish() }
      return stream
    }

    func finish(passed: [String], trouble: String?) {
      let listeners = state.withLock { state in
        defer { state.listeners = [] }
        (state.isOver, state.passed, state.trouble) = (true, passed, trouble)
        return state.listeners
      }
      for listener in listeners { listener.finish() }
    }
  }

  private let rounds: LivenessProbe
  private let limit: Duration
  private let turn = Mutex<Turn?>(nil)

  /// - Parameter limit: how long a round may take.
  init(_ rounds: LivenessProbe, limit: Duration = .seconds(5)) {
    self.rounds = rounds
    self.limit = limit
  }

  /// Makes a round, and says what came of it when it is over, or its time is.
  func check() async -> Health {
    let (turn, isNew) = turn.withLock { turn in
      if let turn { return (turn, false) }
      let new = Turn()
      turn = new
      return (new, true)
    }
    if isNew { begin(turn) }
    let (end, limit) = (turn.end(), turn.begun + limit)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in end {} }
      group.addTask {
        do { try await Task.sleep(until: limit) } catch { return }
      }
      await group.next()
      group.cancelAll()
    }
    return health(after: turn)
  }

  private func begin(_ new: Turn) {
    rounds.begin { passed, error in
      self.turn.withLock { $0 = nil }
      new.finish(passed: passed, trouble: error.map { "it can't be read: \($0)" })
    }
  }

  private func health(after turn: Turn) -> Health {
    let (isOver, passed, trouble) = turn.state.withLock { ($0.isOver, $0.passed, $0.trouble) }
    let standing = isOver ? nil : rounds.underWay
    var checks: [String: Health.Check] = [:]
    for station in standing?.passed ?? passed { checks[station] = .init(.pass) }
    if let standing {
      let seconds = standing.since.duration(to: .now).components.seconds
      checks[standing.station] = .init(.fail, "no answer for \(seconds) s")
    }
    if let trouble { checks["\(ProbeStation.store)"] = .init(.fail, trouble) }
    return Health(version: LadeVersion.current, checks: checks)
  }
}
