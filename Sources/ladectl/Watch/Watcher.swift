import ControlAPI
import FoundationEssentials

/// Shows a daemon at work on the full screen until the user quits. If the daemon goes away, it waits for it to return.
struct Watcher: Sendable {
  /// The changes to display.
  enum Change: Sendable {
    case status(Status)
    case all(running: [Job], recent: [Job])
    case job(Job)
    case lost(String)
  }

  /// The current view.
  struct Content: ScreenContent {
    var state: WatchState
    let style: Style

    mutating func take(_ change: Change, at time: Double) -> ScreenUrgency {
      switch change {
      case .status(let status): state.note(status)
      case .all(let running, let recent): state.begin(running: running, recent: recent)
      case .lost(let why): state.lost(why)
      case .job(let job):
        state.note(job, at: time)
        return .soon
      }
      return .now
    }

    func lines(columns: Int, rows: Int) -> [String] {
      WatchView(state: state, columns: columns, rows: rows, style: style).lines(at: Date())
    }
  }

  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  /// Draws until a key or a signal ends it; a signal takes effect after the terminal is restored.
  /// - Throws: ``ControlClientError`` if the first connection fails.
  func run() async throws {
    var state = WatchState()
    state.note(try await session.client.status())
    var show = ScreenShow(Content(state: state, style: session.terminal.style), on: session.terminal)
    _ = await show.run([
      { await follow($0) }, { await askNowAndThen($0) },
    ])
  }

  /// Delivers the jobs' changes, and reconnects whenever possible.
  private func follow(_ hand: @escaping @Sendable (Change) -> Void) async {
    while !Task.isCancelled {
      do {
        try await session.client.listen(to: .allJobEvents) {
          hand(try await everything())
          return true
        } each: { event in
          if case .job(let job) = event { hand(.job(job)) }
          return event != .lagged
        }
      } catch is CancellationError {
        return
      } catch {
        hand(.lost(Self.words(of: error)))
      }
      do {
        do {
          hand(.status(try await session.client.status()))
        } catch let error as ControlClientError where error.mayPass {
          hand(.lost(Self.words(of: error)))
          hand(.status(try await session.client.statusWhenUp()))
        }
      } catch is CancellationError {
        return
      } catch {
        // Waiting doesn't help, for example with another version: show it, and retry later.
        hand(.lost(Self.words(of: error)))
        do { try await Task.sleep(for: .seconds(5)) } catch { return }
      }
    }
  }

  private static func words(of error: any Error) -> String {
    (error as? ControlClientError)?.problem.detail.namingUsers ?? "\(error)"
  }

  private func everything() async throws -> Change {
    let running = try await session.client.jobs(JobQuery(states: [.running], limit: JobQuery.maximumLimit))
    let recent = try await session.client.jobs(
      JobQuery(states: [.completed, .cancelled, .discarded], limit: WatchState.remembered))
    return .all(running: running.jobs, recent: recent.jobs)
  }

  /// The lanes and their counts, once a second. ``follow(_:)`` reports a lost connection.
  private func askNowAndThen(_ hand: @escaping @Sendable (Change) -> Void) async {
    while !Task.isCancelled {
      do {
        try await Task.sleep(for: .seconds(1))
        hand(.status(try await session.client.status()))
      } catch is CancellationError {
        return
      } catch {
        continue
      }
    }
  }
}
