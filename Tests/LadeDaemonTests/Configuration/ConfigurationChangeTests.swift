@testable import LadeDaemon
import Testing

@Suite("What is different in a configuration")
struct ConfigurationChangeTests {
  private static let text = """
    stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
    lanes: {bulk: {concurrency: 2}}
    recipes:
      a: {store: main, entity: A}
      b: {store: main, entity: B}
    schedules:
      nightly: {calendar: daily, job: {kind: check}}

    """

  private func changes(_ more: String, _ change: (String) -> String = { $0 }) throws -> DaemonConfiguration.Changes {
    try ConfigurationFile(Self.text).load().changes(to: ConfigurationFile(change(Self.text) + more).load())
  }

  @Test("is nothing where it says the same in another order or other words")
  func same() throws {
    #expect(try changes("") == .init())
    #expect(
      try changes("drain_timeout: 30s\nkeep: {jobs: 100000}\n") {
        $0.replacing("{store: main, entity: A}", with: "{entity: A, store: main}")
      }
        == .init())
  }

  @Test("is reported by key, and by name where something has one")
  func keys() throws {
    #expect(
      try changes(
        """
        allowed_folders: [/x]
        operators: [root]
        log_level: debug
        drain_timeout: 31s
        rescan_interval: 2s
        intake: {quiet: 1s}
        time_zone: Pacific/Kiritimati
        retry: {first: 1s}
        keep: {jobs: 7}
        """
      ).now == [
        "allowed_folders", "operators", "log_level", "drain_timeout", "rescan_interval", "intake", "time_zone", "retry",
        "keep", "schedules.nightly",
      ])
    let parts = try changes("") {
      $0.replacing("bulk: {concurrency: 2}", with: "night: {}").replacing("  a: {store: main, entity: A}\n", with: "")
        .replacing("entity: B", with: "entity: C").replacing("calendar: daily", with: "calendar: hourly")
    }
    #expect(parts.now == ["lanes.night", "recipes.b", "schedules.nightly"])
    #expect(parts.removed == ["lanes.bulk", "recipes.a"])
    #expect(parts.atStart.isEmpty)
  }

  @Test("needs a restart where something is open under it, and is as it was until then")
  func atStart() throws {
    let more = "spool: /x\nsocket: /y\nstate: /z\nlog_level: debug\n"
    let changed = try changes(more) { $0.replacing("/s/m.sqlite", with: "/s/n.sqlite") }
    #expect(changed == .init(now: ["log_level"], atStart: ["spool", "state", "socket", "stores.main"]))
    #expect(try changes("exports: /e\n").atStart == ["exports"])
    let metrics = "metrics: { address: 127.0.0.1:9464, token: abc }\n"
    #expect(try changes(metrics).atStart == ["metrics"])
    #expect(try changes(metrics).now.isEmpty)
    let started = try ConfigurationFile(Self.text).load()
    let new = try ConfigurationFile(Self.text + more + metrics).load().inForce(since: started)
    #expect(new.metrics == started.metrics)
    #expect(new.logLevel == .debug)
    #expect(
      (new.spool, new.socket, new.state, new.exports) == (started.spool, started.socket, started.state, started.exports)
    )
    #expect(new.stores == started.stores)
  }
}
