import Foundation
import TestSupport
import Testing

/// A `laded` that runs. It is killed, if need be, when nobody holds this any more.
final class DaemonProcess: Sendable {
  enum Start: Sendable, Hashable {
    case ready
    case ended(ChildProcess.Ending)
  }

  private let child: ChildProcess
  private let notify: NotifySocket
  /// Whether it came up, as it told its service manager.
  let started: Once<Start>

  /// Starts it, and doesn't wait.
  /// - Parameter prefix: a program that becomes the daemon, and its arguments.
  init(
    configuration: String, files: String, environment: [String: String] = [:], by prefix: [String] = []
  ) throws {
    let started = Once<Start>()
    self.started = started
    notify = try NotifySocket(path: files + ".n") { if $0 == "READY=1" { started.set(.ready) } }
    let words = prefix + [Products.laded.path, "--config", configuration]
    child = try ChildProcess(
      URL(fileURLWithPath: words[0]), Array(words.dropFirst()),
      environment: Products.environment(environment.merging(["NOTIFY_SOCKET": notify.path]) { $1 }), files: files,
      whenEnded: { started.set(.ended($0)) })
  }

  var pid: Int32 { child.pid }
  /// What it told its service manager so far.
  var notices: [String] { notify.lines }
  /// What it wrote to standard error so far.
  var log: String { get throws { try String(contentsOfFile: child.error, encoding: .utf8) } }

  /// Waits until it is up.
  func ready() async throws {
    let start = try await started.value()
    guard start == .ready else {
      throw ProgramFailure(program: "laded", arguments: [], what: "didn't start: \(start)", error: try log)
    }
  }

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
