import Testing

@testable import LadeDaemon

@Suite("A queue in a configuration")
struct QueueConfigurationTests {
  private static let stores = "stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}\n"

  private func file(_ more: String) throws -> ConfigurationFile { try ConfigurationFile(Self.stores + more) }

  @Test("is a file unless it is said to be in PostgreSQL, where it has a schema, and the host a name")
  func loads() throws {
    #expect(try file("").load().queue == nil)
    let queue = try #require(try file("queue: { postgres: service=lade }").load().queue)
    #expect(queue.place == PostgresPlace(connection: "service=lade", schema: "lade_queue"))
    #expect(queue.host == QueueConfiguration.hostName && !queue.host.isEmpty && queue.lease == .seconds(30))
    let all = try file("queue: { postgres: service=lade, schema: work, credential: pg, host: one, lease: 1m }").load()
    #expect(all.queue?.place == PostgresPlace(connection: "service=lade", credential: "pg", schema: "work"))
    let past = try file("queue: { postgres: host=pooler, direct: host=db1 }").load()
    #expect(past.queue?.place == PostgresPlace(connection: "host=pooler", direct: "host=db1", schema: "lade_queue"))
    #expect(all.queue?.host == "one" && all.queue?.lease == .seconds(60))
    #expect(queue.fileLimit == nil)
    for (text, bytes) in [("1kB", 1_000), ("16MB", 16_000_000), ("1GB", 1_000_000_000)] {
      #expect(
        try file("queue: { postgres: service=lade, file_limit: \(text) }").load().queue?.fileLimit == Int64(bytes))
    }
    #expect(queue.incoming == nil)
    let shared = try file("queue: { postgres: service=lade, incoming: /mnt/lade }").load()
    #expect(shared.queue?.incoming == "/mnt/lade" && shared.rescanInterval == .seconds(5))
    let often = try file("queue: { postgres: service=lade, incoming: /mnt/lade }\nrescan_interval: 1s").load()
    #expect(often.rescanInterval == .seconds(1))
    let lane = try file("lanes: { import: { concurrency: 2, global_concurrency: 3 } }").load().lane(named: "import")
    #expect(lane?.concurrency == 2 && lane?.globalConcurrency == 3)
  }

  @Test("mistakes are said")
  func mistakes() throws {
    for (queue, words) in [
      ("{ schema: work }", "postgres"), ("{ postgres: service=lade, schema: pg_work }", "pg_"),
      ("{ postgres: service=lade, lease: 1s }", "3"), ("{ postgres: service=lade, hosts: one }", "`host`"),
      ("{ postgres: \"postgresql://a:secret@b/c\" }", "password"),
      ("{ postgres: service=lade, file_limit: 16 }", "16MB"),
      ("{ postgres: service=lade, file_limit: 2GB }", "at most"),
      ("{ postgres: service=lade, file_limit: 0MB }", "16MB"),
      ("{ postgres: service=lade, direct: \"postgresql://a:secret@b/c\" }", "password"),
    ] {
      let problems = try file("queue: " + queue).problems()
      #expect(problems.count == 1 && problems[0].contains(words), "\(queue): \(problems)")
      #expect(!"\(problems)".contains("secret@"))
    }
    #expect(try file("lanes: { import: { global_concurrency: 0 } }").problems().count == 1)
    let sets = try file(
      """
      queue: { postgres: service=lade, incoming: /mnt/lade }
      recipes: { pairs: { store: main, entity: A, set: { of: ["a*.csv", "b*.csv"] } } }
      """
    ).problems()
    #expect(sets.count == 1 && sets[0].contains("only single files"), "\(sets)")
    let both = """
      queue: { postgres: service=lade, schema: work }
      stores: { main: { postgres: service=lade, schema: work, model: /s/M.xcdatamodeld } }
      """
    #expect(try ConfigurationFile(both).problems().count == 1)
  }

  @Test("a change needs a restart")
  func changes() throws {
    let (old, new) = (try file("").load(), try file("queue: { postgres: service=lade }").load())
    #expect(old.changes(to: new).atStart == ["queue"] && old.changes(to: new).now.isEmpty)
    #expect(new.inForce(since: old).queue == nil)
  }
}
