import Dispatch
import Glibc
import Synchronization

/// The whole terminal, for a view that fills it: the alternate screen, without echo and line editing.
///
/// Invariant: whatever ends or stops the program, the terminal is given back as it was. The end of a verb and errors do it
/// by ``giveBack()``; SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTSTP come as events, and are obeyed only after it
/// (``SignalPipe/obey(_:)``). After a stop, and when others have meddled with it meanwhile, it is taken again.
final class Screen: Sendable {
  /// Alternate screen (the cursor is saved, too), hidden cursor, no wrapping at the right edge.
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
  private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  private let terminal: Terminal
  /// How the terminal was; nil while it isn't ours.
  private let before = Mutex<termios?>(nil)
  private let signals: SignalPipe?
  /// Set once; a dispatch source's own queue guards it.
  private nonisolated(unsafe) let keys: (any DispatchSourceRead)?
  /// What happens to it. For one reader.
  let events: AsyncStream<ScreenEvent>

  /// Takes nothing yet, but signals come as events from now on.
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

  /// How large the terminal is now.
  var size: (columns: Int, rows: Int) { Terminal.size() ?? (80, 24) }

  /// Makes the terminal ours. May be called again, to mend what others did to it.
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

  /// Makes it again what it was. Nothing where it isn't ours.
  func giveBack() {
    before.withLock { before in
      guard let mode = before else { return }
      before = nil
      terminal.write(Self.leave)
      if isatty(STDIN_FILENO) == 1 { Self.setMode(mode) }
    }
  }

  /// Stops the program as Ctrl-Z does, and takes the terminal again when it goes on.
  func stop() {
    giveBack()
    SignalPipe.obey(SIGTSTP)
    SignalPipe.install(SIGTSTP)
    take()
  }

  private static func setMode(_ mode: termios) {
    var mode = mode
    // In the background this stops the program, as it should; a terminal that is gone has no mode to set.
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
      // ESC begins the code of an arrow or function key, the rest of which isn't meant as letters.
      for byte in bytes.prefix(count).prefix(while: { $0 != 0x1B }) where byte < 0x80 { continuation.yield(.key(byte)) }
    }
    source.activate()
    return source
  }
}
