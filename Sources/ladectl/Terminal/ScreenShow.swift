/// Draws content on a screen until q, Ctrl-C, another signal, or the content's own end.
struct ScreenShow<Content: ScreenContent> {
  /// Delivers changes until its task is cancelled.
  typealias Feed = @Sendable (_ hand: @escaping @Sendable (Content.Change) -> Void) async -> Void

  /// Seconds between redraws that aren't urgent.
  private static var interval: Double { 0.1 }

  private enum Step: Sendable {
    case screen(ScreenEvent)
    case change(Content.Change)
    case draw
  }

  private let terminal: Terminal
  private var content: Content
  private var painter = ScreenPainter()
  private let clock = ContinuousClock()
  private let start = ContinuousClock().now
  private var drawnAt = -Double.infinity
  private var isDrawingLater = false

  init(_ content: Content, on terminal: Terminal) {
    self.content = content
    self.terminal = terminal
  }

  /// Takes the terminal over, draws, and restores it; then obeys the signal that ended it, if any.
  /// - Returns: the final content.
  mutating func run(_ feeds: [Feed]) async -> Content {
    let screen = Screen(terminal)
    let (steps, continuation) = AsyncStream<Step>.makeStream()
    screen.take()
    var show = self
    let signal = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await event in screen.events { continuation.yield(.screen(event)) }
      }
      for feed in feeds { group.addTask { await feed { continuation.yield(.change($0)) } } }
      let signal = await show.draw(steps, on: screen) { continuation.yield(.draw) }
      screen.giveBack()
      group.cancelAll()
      return signal
    }
    self = show
    if let signal { SignalPipe.obey(signal) }
    return content
  }

  private var time: Double { start.duration(to: clock.now) / .seconds(1) }

  /// Returns at the end with the signal that caused it, if any.
  private mutating func draw(
    _ steps: AsyncStream<Step>, on screen: Screen, later: @escaping @Sendable () -> Void
  ) async -> Int32? {
    draw(on: screen)
    for await step in steps {
      var isUrgent = false
      switch step {
      // The key, and Ctrl-D.
      case .screen(.key(UInt8(ascii: "q"))), .screen(.key(UInt8(ascii: "Q"))), .screen(.key(0x04)), .screen(.hangUp):
        return nil
      case .screen(.ending(let signal)): return signal
      // Ctrl-L redraws, by convention.
      case .screen(.redraw), .screen(.key(0x0C)):
        screen.take()
        terminal.write(painter.startAnew())
        isUrgent = true
      case .screen(.key): continue
      case .screen(.stop):
        screen.stop()
        terminal.write(painter.startAnew())
        isUrgent = true
      case .change(let change):
        switch content.take(change, at: time) {
        case .now: isUrgent = true
        case .soon: break
        case .end: return nil
        }
      case .draw: isDrawingLater = false
      }
      if isUrgent || time - drawnAt >= Self.interval {
        draw(on: screen)
      } else if !isDrawingLater {
        isDrawingLater = true
        Task {
          // It is never cancelled, so the pause ends by itself.
          try? await Task.sleep(for: .seconds(Self.interval))
          later()
        }
      }
    }
    return nil
  }

  private mutating func draw(on screen: Screen) {
    let (columns, rows) = screen.size
    terminal.write(painter.paint(content.lines(columns: columns, rows: rows)))
    drawnAt = time
  }
}

/// The changing content of a screen.
protocol ScreenContent: Sendable {
  /// A change of the content.
  associatedtype Change: Sendable

  /// Applies a change, and returns when to redraw.
  /// - Parameter time: seconds since any fixed moment.
  mutating func take(_ change: Change, at time: Double) -> ScreenUrgency

  /// The lines from top to bottom, within the given columns and rows.
  func lines(columns: Int, rows: Int) -> [String]
}

/// When to redraw.
enum ScreenUrgency: Sendable {
  case now
  /// Within a tenth of a second, so that further changes are drawn together.
  case soon
  /// Never: the content has ended.
  case end
}
