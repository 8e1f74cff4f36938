import Foundation
import Testing

@testable import Spool

@Suite("An intake that gets new settings", .timeLimit(.minutes(20)))
struct ReconfigureTests {
  private static func settings(
    _ recipes: Set<String>, allowedFolders: [String] = [], partialSuffixes: [String] = []
  ) throws -> SpoolSettings {
    var timing = SpoolTiming()
    timing.settle = .zero
    var rules = SpoolRules()
    rules.partialSuffixes = partialSuffixes
    return try SpoolSettings(recipes: recipes, allowedFolders: allowedFolders, timing: timing, rules: rules)
  }

  @Test("makes and watches the hot folders of new recipes while it runs, and takes from those that it has")
  func newRecipe() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(recipes: ["gtfs"], ledger: ledger)
    var taken = ledger.taken.makeAsyncIterator()
    try await intake.rescan()
    let run = Task { try await intake.run() }
    try spool.drop("incoming/first.job", "store: shop\n")
    #expect(await taken.next() == 1)
    #expect(!spool.exists("incoming/people"))
    try await intake.reconfigure(Self.settings(["gtfs", "people"]))
    #expect(spool.exists("incoming/people"))
    try spool.drop("incoming/people/a.csv")
    #expect(await taken.next() == 2)
    try spool.drop("incoming/gtfs/b.csv")
    #expect(await taken.next() == 3)
    #expect(ledger.entries.map(\.originalName) == ["first.job", "a.csv", "b.csv"])
    run.cancel()
    try await run.value
  }

  @Test("takes no more from the hot folder of a recipe that is gone")
  func goneRecipe() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(recipes: ["gtfs", "people"], ledger: ledger)
    try await intake.rescan()
    try await intake.reconfigure(Self.settings(["people"]))
    try spool.drop("incoming/gtfs/a.csv")
    try spool.drop("incoming/people/b.csv")
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["b.csv"])
    #expect(try spool.text("corrupt/gtfs.reason").contains("people"))
    #expect(spool.exists("corrupt/gtfs/a.csv"))
  }

  @Test("knows other unfinished names and other allowed folders from then on")
  func rules() async throws {
    let (spool, ledger) = (try TemporarySpool(), JobLedger())
    let intake = try spool.intake(ledger: ledger)
    try await intake.reconfigure(
      Self.settings(["gtfs"], allowedFolders: [spool.path + "/exports"], partialSuffixes: [".mine"]))
    try spool.drop("incoming/gtfs/a.mine")
    try FileManager.default.createDirectory(atPath: spool.path + "/exports", withIntermediateDirectories: true)
    try Data("id\n1\n".utf8).write(to: URL(fileURLWithPath: spool.path + "/exports/x.csv"))
    try spool.drop("incoming/x.job", "source: \(spool.path)/exports/x.csv\n")
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["x.csv"])
    #expect(spool.exists("incoming/gtfs/a.mine"))
    try await intake.reconfigure(Self.settings(["gtfs"]))
    try await intake.rescan()
    #expect(ledger.entries.map(\.originalName) == ["x.csv", "a.mine"])
    #expect(throws: SpoolError.self) { try Self.settings(["a.mine"], partialSuffixes: [".mine"]) }
    #expect(throws: SpoolError.self) { try Self.settings([], allowedFolders: ["relative"]) }
  }
}
