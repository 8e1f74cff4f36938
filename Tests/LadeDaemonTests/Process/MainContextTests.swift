import ControlAPI
import Foundation
import Testing

@Suite("The main context of a data store in a daemon", .startsDaemons)
struct MainContextTests {
  private static let recipes = "  members: { store: main, entity: Member, mode: insert, batch_size: 500 }\n"

  @Test("is complete after SIGKILL and restart in the middle of an import")
  func killed() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let members = Members(rows: 20_000)
    let point = try KillPoint(in: folder, watch: "/main.sqlite", waits: true)
    let first = try folder.launch(point.environment)
    try await first.ready()
    try point.arm(Members.early)
    try folder.drop(members.csv, as: "members.csv", into: "members")
    try await point.reached(Members.early)
    try await first.kill()
    let before = try #require(Int(try await folder.sqlite("SELECT count(*) FROM Member")))
    let second = try await folder.start()
    #expect(try await folder.ended(1).state == .completed)
    #expect(try await folder.count("Member") == members.good)
    #expect((500..<members.good).contains(before))
    var stats: Stats = try await folder.got("GET", .stats)
    // Every batch after the restart is merged, the last one at most a merging interval later.
    while Int(stats.mainContexts["main"]?.savesMerged ?? 0) < (members.good - before + 499) / 500 {
      stats = try await folder.got("GET", .stats)
    }
    let main = try #require(stats.mainContexts["main"])
    #expect(main.registeredObjects == 0)
    #expect(stats.mainContexts.keys.sorted() == ["main", "queue.sqlite"])
    let status: Status = try await folder.got("GET", .status)
    #expect(try #require(status.stores.first?.mainContext).savesMerged >= main.savesMerged)
    try await second.stop()
  }
}
