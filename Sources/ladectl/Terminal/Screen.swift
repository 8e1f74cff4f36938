import Dispatch
import Glibc
import Synchronization

/// The full screen: the terminal's alternate screen, without echo and line editing.
///
/// Invariant: whatever ends or stops the program, the terminal is restored. The end of a verb and errors restore it with
/// ``giveBack()``; SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTSTP arrive as events and take effect only after that
/// (``SignalPipe/obey(_:)``). After a stop, or when another program has changed the terminal, it is taken over again.
final class Screen: Sendable {
  /// Alternate screen (the cursor is saved, too), hidden cursor, no wrapping at the right edge.
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
  private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  private let terminal: Terminal
  /// The saved mode of the terminal; nil while it isn't taken over.
  private let before = Mutex<termios?>(nil)
  private let signals: SignalPipe?
  /// Set once; a dispatch source's own queue guards it.
  private nonisolated(unsafe) let keys: (any DispatchSourceRead)?
  /// The events, for a single reader.
  let events: AsyncStream<ScreenEvent>

  /// Doesn't take the terminal over yet, but turns signals into events from now on.
  init(_ terminal: Terminal) {
    self.terminal = terminal
    let (events, continuation) = AsyncStream<ScreenEvent>.makeStream()
    self.events = events
    signals = SignalPipe([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]) { number in
      switch number {
      case SIGWINCH, SIGCONT: continuation.yield(.redraw)
      case SIGTSTP: continuation.yield(.stop)
      default: continuation.yield(.ending(signal: number))
      }
    }
    keys = isatty(STDIN_FILENO) == 1 ? Self.keys(to: continuation) : nil
  }

  deinit { keys?.cancel() }

  /// The current size of the terminal.
  var size: (columns: Int, rows: Int) { Terminal.size() ?? (80, 24) }

  /// Takes the terminal over. May be called again to undo changes by another program.
  func take() {
    before.withLock { before in
      var mode = termios()
      if tcgetattr(STDIN_FILENO, &mode) == 0 {
        if before == nil { before = mode }
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        Self.setMode(mode)
      } else if before == nil {
        before = mode
      }
      terminal.write(Self.enter)
    }
  }

  /// Restores the terminal. Does nothing if it isn't taken over.
  func giveBack() {
    before.withLock { before in
      guard let mode = before else { return }
      before = nil
      terminal.write(Self.leave)
      if isatty(STDIN_FILENO) == 1 { Self.setMode(mode) }
    }
  }

  /// Stops the program as Ctrl-Z does, and takes the terminal over again when it continues.
  func stop() {
    giveBack()
    SignalPipe.obey(SIGTSTP)
    SignalPipe.install(SIGTSTP)
    take()
  }

  private static func setMode(_ mode: termios) {
    var mode = mode
    // In the background this stops the program, as it should; setting the mode of a closed terminal fails, which doesn't matter.
    while tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) != 0, errno == EINTR {}
  }

  private static func keys(to continuation: AsyncStream<ScreenEvent>.Continuation) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      guard count > 0 else {
        guard count == 0 || errno != EINTR && errno != EAGAIN else { return }
        source.cancel()
        continuation.yield(.hangUp)
        return
      }
      // ESC begins the code of an arrow or function key, whose remaining bytes aren't letters typed.
      for byte in bytes.prefix(count).prefix(while: { $0 != 0x1B }) where byte < 0x80 { continuation.yield(.key(byte)) }
    }
    source.activate()
    return source
  }
}

/// A user's action on a full-screen view.
enum ScreenEvent: Sendable, Hashable {
  /// An ASCII key; keys of several bytes, such as arrows, are ignored.
  case key(UInt8)
  /// The terminal's size or content may have changed: redraw everything.
  case redraw
  /// End by this signal.
  case ending(signal: Int32)
  /// Ctrl-Z.
  case stop
  /// The terminal is gone.
  case hangUp
}

/// Computes the terminal output (ECMA-48) that turns one screen into the next: only the lines that changed. Only produces text.
struct ScreenPainter: Sendable {
  private var shown: [String] = []

  /// The text that replaces the current screen with these lines.
  /// - Parameter lines: no wider and no more than the screen.
  mutating func paint(_ lines: [String]) -> String {
    var text = ""
    for row in 0..<max(lines.count, shown.count) {
      let line = lines.indices.contains(row) ? lines[row] : ""
      guard !shown.indices.contains(row) || shown[row] != line else { continue }
      // Erase first: after a line as wide as the screen, erasing to its end would remove its last character.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line
    }
    shown = lines
    return text
  }

  /// Forgets the current screen, which may have been overwritten.
  mutating func startAnew() -> String {
    shown = []
    return "\u{1B}[2J"
  }
}
