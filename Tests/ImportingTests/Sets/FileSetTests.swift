import Testing

@testable import Importing

@Suite("A set of files")
struct FileSetTests {
  private static func set(_ patterns: String..., trigger: String? = nil) throws -> FileSet {
    var set = FileSet()
    set.members = try patterns.map { FileSet.Member(try #require(FilePattern($0))) }
    set.trigger = trigger.flatMap { FilePattern($0) }
    return set
  }

  @Test(
    "is told from others by what * stands for, without endings and marks",
    arguments: [
      ("stops-*.csv", "stops-2026-11-28.csv", "2026-11-28"), ("stops*", "stops-2026.11.28.csv.gz", "2026.11.28"),
      ("stops*", "stops.csv", ""), ("*.done", "2026-11-28.done", "2026-11-28"), ("*", "a_b.ndjson", "a_b"),
      ("stops.csv", "stops.csv", ""), ("stops*", "trips.csv", nil), ("stops.csv", "stops.csv.gz", nil),
      ("a*a", "a", nil), ("über-*", "über-x", "x"),
    ] as [(String, String, String?)])
  func keys(pattern: String, name: String, key: String?) throws {
    #expect(try #require(FilePattern(pattern)).key(of: name) == key)
  }

  @Test(
    "has patterns with at most one *, which are names",
    arguments: ["", "a/b", "*-*", ".x", String(repeating: "x", count: 201), "a\nb"])
  func badPatterns(text: String) { #expect(FilePattern(text) == nil) }

  @Test(
    "finds entities by the name without what distinguishes sets",
    arguments: [
      ("stops-*.csv", "stops.csv"), ("stop_times*", "stop_times"), ("*-stops.csv", "stops.csv"),
      ("feed*stops", "feed_stops"),
    ])
  func plainNames(pattern: String, name: String) throws {
    #expect(try #require(FilePattern(pattern)).plainName == name)
  }

  @Test("is complete with one file for each pattern, and says what it lacks")
  func groups() throws {
    let set = try Self.set("stops-*", "trips-*", trigger: "*.done")
    let (groups, strangers) = set.groups(of: [
      "trips-1.csv", "stops-1.csv", "stops-2.csv", "1.done", "x.txt", "stops-3.csv", "stops-3.json", "trips-3.csv",
      "3.done",
    ])
    #expect(groups.map(\.key) == ["1", "2", "3"])
    #expect(strangers == ["x.txt"])
    #expect(
      groups.map { $0.missing(of: set) } == [
        [], ["trips-*", "*.done"], ["one instead of 2 for stops-* (stops-3.csv, stops-3.json)"],
      ])
    #expect(groups[0].all == ["1.done", "stops-1.csv", "trips-1.csv"])
  }

  @Test("without a mark takes any trigger, unless that may be another one's")
  func plain() throws {
    let set = try Self.set("stops*", "trips*", trigger: "*.done")
    let alone = set.groups(of: ["stops.csv", "trips.csv", "feed.done"]).groups
    #expect(alone.map(\.key) == [""] && alone[0].missing(of: set) == [])
    let beside = set.groups(of: ["stops.csv", "trips.csv", "feed.done", "stops-2.csv"]).groups
    #expect(beside.map { $0.missing(of: set) } == [["*.done"], ["trips*", "*.done"], ["stops*", "trips*"]])
  }

  @Test("of exactly some files has parts, or says why not")
  func parts() throws {
    var set = try Self.set("stops-*", "trips-*", trigger: "*.done")
    set.control.sha256 = .sidecar
    set.control.count = .records
    let names = ["stops-1.csv", "stops-1.csv.sha256", "trips-1.csv", "trips-1.csv.sha256", "1.done"]
    let parts = try set.parts(of: names)
    #expect(parts.parts.map(\.name) == ["stops-1.csv", "trips-1.csv"])
    #expect(parts.parts.map(\.checksumFile) == ["stops-1.csv.sha256", "trips-1.csv.sha256"])
    #expect(parts.controlFile == "1.done")
    #expect(throws: FileSetProblem.missing(["trips-*.sha256"])) { try set.parts(of: names.filter { $0 != names[3] }) }
    #expect(throws: FileSetProblem.strangers(["x"], patterns: set.patterns)) { try set.parts(of: names + ["x"]) }
    #expect(throws: FileSetProblem.severalSets(["1", "2"])) { try set.parts(of: names + ["2.done"]) }
    #expect(throws: FileSetProblem.noFiles) { try set.parts(of: []) }
    #expect(throws: FileSetProblem.sameName("1.done")) { try set.parts(of: names + ["1.done"]) }
    #expect(throws: FileSetProblem.tooMany(201)) { try set.parts(of: (0...200).map { "\($0)" }) }
    #expect(try FileSet().parts(of: ["a.csv", "b.csv"]).parts.map(\.plainName) == ["a.csv", "b.csv"])
  }
}
