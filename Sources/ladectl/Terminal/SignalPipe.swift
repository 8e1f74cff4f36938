import Dispatch
import Glibc

/// Signals as values, for a program that has to clean up before it obeys them.
///
/// A signal handler may do very little, so it writes the signal's number to a pipe that a dispatch source reads: the classic
/// self-pipe. Dispatch's own signal sources miss signals delivered to another thread.
final class SignalPipe: Sendable {
  /// The write end. Set once, before the first handler is installed, and only read by handlers.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// Set once; a dispatch source's own queue guards it.
  private nonisolated(unsafe) let source: any DispatchSourceRead

  /// Delivers these signals from now on, for the life of the process; nil if no pipe can be created. At most one per process.
  init?(_ signals: [Int32], _ body: @escaping @Sendable (Int32) -> Void) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    let readEnd = ends[0]
    Self.writeEnd = ends[1]
    source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: .global())
    source.setEventHandler {
      var numbers = [UInt8](repeating: 0, count: 64)
      let count = read(readEnd, &numbers, numbers.count)
      for number in numbers.prefix(max(count, 0)) { body(Int32(number)) }
    }
    source.activate()
    for signal in signals { Self.install(signal) }
  }

  /// Handles a signal, also again after its default action was restored.
  static func install(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      let kept = errno
      var byte = UInt8(truncatingIfNeeded: number)
      // If the pipe is full, enough signals are pending.
      _ = write(SignalPipe.writeEnd, &byte, 1)
      errno = kept
    }
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }

  /// Performs the signal's default action on this process; returns when the process continues after a stop.
  static func obey(_ number: Int32) {
    signal(number, SIG_DFL)
    // Dispatch's threads block signals; unblock it, so that it is delivered before `raise` returns.
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, number)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    raise(number)
  }
}
