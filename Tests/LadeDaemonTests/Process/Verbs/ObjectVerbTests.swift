import ControlAPI
import Foundation
import Testing

// One daemon after the other: a user of the system has 128 inotify instances (inotify(7)) for all of them.
@Suite("Work on objects, by ladectl", .startsDaemons, .serialized)
struct ObjectVerbTests {
  @Test("prune deletes what matches and nothing else, and nothing points to it afterwards")
  func prune() async throws {
    let house = try await MembersHouse()
    let unasked = try await house.folder.ladectl("prune", "Member", "--where", "number < 100")
    #expect(unasked.status == 64 && unasked.error.contains("Delete 100 objects of Member?"), "\(unasked.error)")
    #expect(try await house.folder.count("Member") == MembersHouse.rows)
    let job = try await house.done("prune", "Member", "--where", "number < 100", "--yes")
    #expect(job.state == .completed && job.progress.deleted == 100, "\(job.reason ?? "")")
    #expect(try await house.number("SELECT count(*) FROM Member") == MembersHouse.rows - 100)
    #expect(try await house.number("SELECT min(number) FROM Member") == 100)
    #expect(try await house.folder.sqlite("PRAGMA foreign_key_check") == "")
    try await house.daemon.stop()
  }

  @Test("update gives what matches its new values, as the model takes them")
  func update() async throws {
    let house = try await MembersHouse()
    let unasked = try await house.folder.ladectl("update", "Member", "--set", "note=x", "--where", "number < 10")
    #expect(unasked.status == 64 && unasked.error.contains("Change 10 objects of Member?"), "\(unasked.error)")
    let job = try await house.done(
      "update", "Member", "--set", "note=x", "--set", "score=1.5", "--set", "joined=2026-02-03T00:00:00Z", "--where",
      "number < 10", "--yes")
    #expect(job.state == .completed && job.progress.updated == 10, "\(job.reason ?? "")")
    let found =
      "SELECT count(*), max(number) FROM Member WHERE note = 'x' AND score = 1.5 AND joined LIKE '2026-02-03%'"
    #expect(try await house.folder.sqlite(found) == "10,9")
    try await house.daemon.stop()
  }

  @Test("export writes a whole file, which an import takes")
  func export() async throws {
    let house = try await MembersHouse()
    let job = try await house.done(
      "export", "Member", "--where", "number < 5", "--sort", "-number", "--columns", "number,name", "--file", "few.csv")
    #expect(job.state == .completed && job.progress.records == 5, "\(job.reason ?? "")")
    #expect(job.note?.hasPrefix("5 Member in \(house.folder.file("state/exports/few.csv")), ") == true)
    let text = try house.folder.text("state/exports/few.csv")
    #expect(text == "number,name\n" + (0..<5).reversed().map { "\($0),Member \($0)\n" }.joined())
    #expect(try await house.done("prune", "Member", "--where", "number < 5", "--yes").state == .completed)
    let back = try await house.folder.imported(text, as: "few.csv", into: "members")
    #expect(back.progress.inserted == 5)
    #expect(try await house.folder.count("Member") == MembersHouse.rows)
    try await house.daemon.stop()
  }

  @Test("export knows four forms and two packings", arguments: ["json", "ndjson", "sqlite"])
  func forms(_ format: String) async throws {
    let house = try await MembersHouse()
    let job = try await house.done(
      "export", "Member", "--format", format, "--file", "all", "--columns", "number,name", "--limit", "3", "--sort",
      "number")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    switch format {
    case "json":
      let rows = try JSONSerialization.jsonObject(with: house.folder.data("state/exports/all")) as? [[String: Any]]
      #expect(rows?.map { $0["name"] as? String } == ["Member 0", "Member 1", "Member 2"])
    case "ndjson":
      let lines = try house.folder.text("state/exports/all").split(separator: "\n")
      #expect(lines.count == 3 && lines[0] == #"{"number":0,"name":"Member 0"}"#, "\(lines)")
    default:
      #expect(
        try await house.folder.sqlite("SELECT name FROM Member WHERE number = 2", in: "state/exports/all")
          == "'Member 2'")
    }
    let packed = try await house.done("export", "Member", "--file", "all.csv.gz", "--compression", "gzip")
    #expect(packed.state == .completed)
    #expect(try house.folder.data("state/exports/all.csv.gz").prefix(2) == Data([0x1F, 0x8B]))
    try await house.daemon.stop()
  }

  @Test("fetch writes every object as CSV and as JSON, and a table says how to see more")
  func fetch() async throws {
    let house = try await MembersHouse()
    let csv = try await house.folder.ladectl("fetch", "Member", "--format", "csv", "--columns", "number")
    #expect(csv.text.split(separator: "\n").count == MembersHouse.rows + 1 && csv.error == "")
    let few = try await house.folder.ladectl("fetch", "Member", "--format", "csv", "--limit", "5", "--offset", "10")
    #expect(few.text.split(separator: "\n").count == 6 && few.error == "more: --offset 15\n")
    let json = try await house.folder.ladectl("fetch", "Member", "--format", "json", "--columns", "number,name")
    let objects = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
    #expect(objects.count == MembersHouse.rows && objects[7]["name"] as? String == "Member 7")
    let table = try await house.folder.ladectl("fetch", "Member", "--columns", "number")
    #expect(table.text.split(separator: "\n").count == 101)
    #expect(table.error == "the first 100 objects; more: --offset 100\n")
    let last = try await house.folder.ladectl("fetch", "Member", "--offset", "\(MembersHouse.rows - 2)")
    #expect(last.error == "objects 2,999 to 3,000\n")
    // What fetch writes, an import takes.
    let file = try house.folder.write(json.text, to: "back.json")
    let back = try await house.done("import", file, "--entity", "Member")
    #expect(back.progress.unchanged == Int64(MembersHouse.rows), "\(back.reason ?? "")")
    try await house.daemon.stop()
  }

  @Test("fetch counts the objects of a to-many relationship, in a column and to sort by")
  func counts() async throws {
    let house = try await MembersHouse()
    let most = try await house.folder.asked(
      ObjectPage.self, "fetch", "Member", "--columns", "number,team.@count", "--sort=-team.@count,number", "--limit",
      "1")
    #expect(most.columns == ["number", "team.@count"])
    guard case .int(let number) = most.rows.first?[0], case .int(let count) = most.rows.first?[1] else {
      return #expect(Bool(false), "\(most)")
    }
    #expect(count > 0)
    #expect(try await house.folder.count("Member", where: "manager.number == \(number)") == Int(count))
    #expect(try await house.folder.count("Member", where: "team.@count > \(count)") == 0)
    let names = try await house.folder.ladectl(
      "fetch", "Member", "--columns", "name,manager", "--sort", "team.@count,number", "--limit", "1")
    #expect(names.status == 0, "\(names.error)")
    let wrong = try await house.folder.ladectl("fetch", "Member", "--columns", "team")
    #expect(wrong.error.contains("team.@count is the number of its objects"), "\(wrong.error)")
    let followed = try await house.folder.ladectl("fetch", "Member", "--columns", "team.@count", "--watch")
    #expect(followed.status == 1 && followed.error.contains("doesn't follow counts"), "\(followed.error)")
    let quoted = try await house.folder.ladectl("fetch", "Member", "--where", "name == Wanda")
    #expect(quoted.error.contains("If Wanda is a text, it needs quotes: 'Wanda'."), "\(quoted.error)")
    try await house.daemon.stop()
  }
}
