import Foundation
import TestSupport
import Testing

/// A `laded` that runs. It is killed, if need be, when this object is released.
final class DaemonProcess: Sendable {
  enum Start: Sendable, Hashable {
    case ready
    case ended(ChildProcess.Ending)
  }

  private let child: ChildProcess
  private let notify: NotifySocket
  /// Whether it came up, as it reported to its service manager.
  let started: Once<Start>
  /// Each line that it tells its service manager, for one who listens.
  private let told: AsyncStream<String>

  /// Starts it, and doesn't wait.
  /// - Parameter prefix: a program that becomes the daemon, and its arguments.
  init(
    configuration: String, files: String, environment: [String: String] = [:], by prefix: [String] = []
  ) throws {
    let started = Once<Start>()
    self.started = started
    let (told, teller) = AsyncStream<String>.makeStream()
    self.told = told
    notify = try NotifySocket(path: files + ".n") {
      if $0 == "READY=1" { started.set(.ready) }
      teller.yield($0)
    }
    let words = prefix + [Products.laded.path, "--config", configuration]
    child = try ChildProcess(
      URL(fileURLWithPath: words[0]), Array(words.dropFirst()),
      environment: Products.environment(environment.merging(["NOTIFY_SOCKET": notify.path]) { $1 }), files: files,
      whenEnded: {
        started.set(.ended($0))
        teller.finish()
      })
  }

  var pid: Int32 { child.pid }
  /// What it has reported to its service manager so far.
  var notices: [String] { notify.lines }
  /// What it wrote to standard error so far.
  var log: String { get throws { try String(contentsOfFile: child.error, encoding: .utf8) } }

  /// Waits until it has sent its service manager a line that begins so, `times` times; only one may wait.
  /// - Throws: ``ProgramFailure`` if it ended before.
  func tells(_ beginning: String, times: Int = 1) async throws {
    var left = times
    for await line in told where line.hasPrefix(beginning) {
      left -= 1
      if left == 0 { return }
    }
    throw ProgramFailure(program: "laded", arguments: [], what: "ended without \(beginning)", error: try log)
  }

  /// Sends it a signal.
  func send(_ signal: Int32) { child.send(signal) }

  /// Waits until it is up.
  func ready() async throws {
    let start = try await started.value()
    guard start == .ready else {
      throw ProgramFailure(program: "laded", arguments: [], what: "didn't start: \(start)", error: try log)
    }
  }

  /// Waits until it has written these words to standard error.
  func logs(_ words: String) async throws {
    let growth = try FileGrowth(of: child.error)
    if try log.contains(words) { return }
    for await _ in growth.changes where try log.contains(words) { return }
  }

  /// How it has ended; nil while it runs.
  var ending: ChildProcess.Ending? { child.ending.current }

  /// Waits until it has ended.
  func ended() async throws -> ChildProcess.Ending { try await child.ending.value() }

  /// SIGKILL; returns when it is gone.
  func kill() async throws {
    child.send(SIGKILL)
    let ending = try await child.ending.value()
    let log = try log
    #expect(ending == .signal(SIGKILL), "it ended before it was killed:\n\(log)")
  }

  /// SIGTERM; returns when it has ended, and expects exit status 0.
  func stop() async throws {
    terminate()
    let ending = try await child.ending.value()
    let log = try log
    #expect(ending == .exit(0), "\(log)")
  }

  /// SIGHUP; doesn't wait.
  func hangUp() { child.send(SIGHUP) }

  /// SIGTERM; doesn't wait.
  func terminate() { child.send(SIGTERM) }
}
