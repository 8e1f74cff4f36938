import Dispatch
import Glibc

/// Signals as values, for a program that has something to put in order before it obeys them.
///
/// A handler may do next to nothing, so it writes the signal's number into a pipe, and a dispatch source reads it: the
/// self-pipe of old, for dispatch's own signal sources miss signals that another thread takes.
final class SignalPipe: Sendable {
  /// The write end. Set once, before the first handler is installed, and only read by handlers.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// Set once; a dispatch source's own queue guards it.
  private nonisolated(unsafe) let source: any DispatchSourceRead

  /// Hands over these signals from now on, for as long as the process lives; nil where there is no pipe to be had. One a
  /// process.
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

  /// Takes a signal over, again after it was left to its default.
  static func install(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in
      let kept = errno
      var byte = UInt8(truncatingIfNeeded: number)
      // A pipe that is full has enough to tell.
      _ = write(SignalPipe.writeEnd, &byte, 1)
      errno = kept
    }
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }

  /// Does to this process what the signal does by default; returns when the process goes on after a stop.
  static func obey(_ number: Int32) {
    signal(number, SIG_DFL)
    // Dispatch's threads have signals blocked; this one has to take it before `raise` returns.
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, number)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    raise(number)
  }
}
