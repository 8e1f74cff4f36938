import ControlAPI
import Foundation
import Glibc
import Testing

extension DaemonFolder {
  /// Hands over what `drop` drops, once each round, to a daemon that is killed at another change each time, until one comes to
  /// the end. After each kill another daemon finishes what is left.
  /// - Returns: how many rounds that took.
  func killed(at point: KillPoint, by prefix: [String] = [], drop: (Int) throws -> Void) async throws -> Int {
    var rounds = 0
    var isKilled = true
    while isKilled {
      rounds += 1
      try #require(rounds < 200, "there is no end")
      try drop(rounds)
      try point.arm(round: rounds)
      let daemon = try launch(point.environment, by: prefix)
      if try await daemon.started.value() == .ready, try await haveAllEnded() { daemon.terminate() }
      let ending = try await daemon.ended()
      isKilled = ending == .signal(SIGKILL)
      let log = try daemon.log
      #expect(isKilled || ending == .exit(0), "round \(rounds): \(ending)\n\(log)")
      let next = try await start(by: prefix)
      #expect(try await haveAllEnded(), "round \(rounds)")
      try await next.stop()
    }
    return rounds
  }

  /// Whether all that was handed over has become jobs that have ended; false when the daemon is gone.
  func haveAllEnded() async throws -> Bool { try await obstacle() == nil }

  /// Why it isn't known that all jobs have ended; nil when they have.
  func obstacle() async throws -> String? {
    guard try await scanned() else { return "the spool wasn't looked through" }
    let list = try await ladectl("list", "--limit", "1000", "--json")
    guard list.status == 0 else { return "list: \(list.status) \(list.error)" }
    for job in try WireFormat.decode(JobList.self, from: list.output).jobs where !job.state.isEnded {
      let wait = try await ladectl("wait", "\(job.id)")
      guard [0, 2, 3].contains(wait.status) else { return "wait \(job.id): \(wait.status) \(wait.error)" }
    }
    return nil
  }
}
