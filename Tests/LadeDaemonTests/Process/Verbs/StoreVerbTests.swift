import ControlAPI
import Foundation
import TestSupport
import Testing

// One daemon after the other: a user of the system has 128 inotify instances (inotify(7)) for all of them.
@Suite("Work on a store, by ladectl", .startsDaemons, .serialized)
struct StoreVerbTests {
  @Test("vacuum gives the pages of what was deleted back to the disk")
  func vacuum() async throws {
    let house = try await MembersHouse()
    #expect(try await house.done("prune", "Member", "--all", "--yes").state == .completed)
    #expect(try await house.number("PRAGMA freelist_count") > 10)
    let pages = try await house.number("PRAGMA page_count")
    let job = try await house.done("store", "vacuum")
    #expect(job.state == .completed && job.kind == "vacuum" && job.lane == "maintenance")
    #expect(try await house.number("PRAGMA freelist_count") == 0)
    #expect(try await house.number("PRAGMA page_count") < pages)
    try await house.daemon.stop()
  }

  @Test("an incremental vacuum says that the file isn't ready for it, and does its work once it is")
  func incremental() async throws {
    let house = try await MembersHouse()
    let early = try await house.done("store", "vacuum", "--incremental")
    #expect(early.state == .discarded && early.reason?.contains("prepare_incremental") == true)
    #expect(try await house.done("store", "vacuum", "--prepare-incremental").state == .completed)
    #expect(try await house.number("PRAGMA auto_vacuum") == 2)
    #expect(try await house.done("prune", "Member", "--all", "--yes").state == .completed)
    let free = try await house.number("PRAGMA freelist_count")
    #expect(free > 10)
    #expect(try await house.done("store", "vacuum", "--incremental", "--pages", "4").state == .completed)
    #expect(try await house.number("PRAGMA freelist_count") == free - 4)
    #expect(try await house.done("store", "vacuum", "main", "--incremental").state == .completed)
    #expect(try await house.number("PRAGMA freelist_count") == 0)
    try await house.daemon.stop()
  }

  @Test("optimise looks at the tables again")
  func optimise() async throws {
    let house = try await MembersHouse()
    _ = try await house.folder.sqlite("ANALYZE; DELETE FROM sqlite_stat1")
    #expect(try await house.done("store", "optimise", "--sample", "0").state == .completed)
    #expect(try await house.number("SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'Member'") > 0)
    try await house.daemon.stop()
  }

  @Test("checkpoint empties the log into the file, which is then all that there is to copy")
  func checkpoint() async throws {
    let house = try await MembersHouse()
    _ = try await house.folder.sqlite("UPDATE Member SET note = 'late'")
    #expect(try house.size("main.sqlite-wal") > 0)
    #expect(try await house.done("store", "checkpoint", "--mode", "truncate").state == .completed)
    #expect(try house.size("main.sqlite-wal") == 0)
    try house.folder.write(try house.folder.data("main.sqlite"), to: "copy.sqlite")
    let late = "SELECT count(*) FROM Member WHERE note = 'late'"
    #expect(try await house.folder.sqlite(late, in: "copy.sqlite") == "\(MembersHouse.rows)")
    try await house.daemon.stop()
  }

  @Test("reindex makes an index that was lost, of which check says so")
  func reindex() async throws {
    let house = try await MembersHouse()
    let indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Member' ORDER BY 1"
    let before = try await house.folder.sqlite(indexes)
    let one = try #require(before.split(separator: "\n").first).replacing("'", with: "")
    _ = try await house.folder.sqlite("DROP INDEX \"\(one)\"")
    let check = try await house.done("store", "check")
    #expect(check.state == .discarded)
    #expect(check.reason?.contains("the index \(one) doesn't exist: reindex makes it") == true, "\(check.reason ?? "")")
    #expect(try await house.done("store", "reindex", "--entity", "Member").state == .completed)
    #expect(try await house.folder.sqlite(indexes) == before)
    #expect(try await house.done("store", "check").note == "nothing is wrong")
    try await house.daemon.stop()
  }

  @Test("check finds a reference that leads nowhere, and repairs it when it is told to")
  func check() async throws {
    let house = try await MembersHouse()
    #expect(try await house.done("store", "check", "--depth", "quick").note == "nothing is wrong")
    _ = try await house.folder.sqlite("UPDATE Member SET manager_id = 987654 WHERE number = 7")
    let found = try await house.done("store", "check")
    #expect(found.state == .discarded && found.reason?.contains("main has 1 problem") == true, "\(found.reason ?? "")")
    let report = try #require(found.reason?.components(separatedBy: "All of them are in ").last)
    #expect(try String(contentsOfFile: report, encoding: .utf8).contains("manager"))
    let repaired = try await house.done("store", "check", "--repair")
    #expect(repaired.state == .completed && repaired.note?.contains("put right") == true, "\(repaired.reason ?? "")")
    #expect(try await house.folder.sqlite("SELECT manager_id FROM Member WHERE number = 7") == "NULL")
    #expect(try await house.done("store", "check").note == "nothing is wrong")
    let both = try await house.folder.ladectl("store", "check", "--repair", "--no-objects")
    #expect(both.status == 64)
    try await house.daemon.stop()
  }

  @Test(
    "backup leaves a file that any SQLite reads, and as many as are to be kept", arguments: ["none", "gzip", "zstd"])
  func backup(_ compression: String) async throws {
    let house = try await MembersHouse()
    let job = try await house.done("store", "backup", "--compress", compression)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let name = try #require(try house.folder.names(in: "state/backups/main").first)
    let path = house.folder.file("state/backups/main/\(name)")
    #expect(job.note?.hasPrefix(path + ", ") == true, "\(job.note ?? "")")
    #expect(name.hasSuffix(compression == "none" ? ".sqlite" : compression == "gzip" ? ".gz" : ".zst"))
    if compression == "none" {
      let rows = try await house.folder.sqlite("SELECT count(*) FROM Member", in: "state/backups/main/\(name)")
      #expect(rows == "\(MembersHouse.rows)")
    }
    #expect(
      try await house.done("store", "backup", "main", "--keep", "1", "--compress", compression).state == .completed)
    let left = try house.folder.names(in: "state/backups/main")
    #expect(left.count == 1 && left != [name])
    try await house.daemon.stop()
  }

  @Test("restore brings back what the store was, once it is said that it is meant")
  func restore() async throws {
    let house = try await MembersHouse()
    #expect(try await house.done("store", "backup").state == .completed)
    #expect(try await house.done("prune", "Member", "--all", "--yes").state == .completed)
    #expect(try await house.folder.count("Member") == 0)
    let unasked = try await house.folder.ladectl("store", "restore", "latest")
    #expect(unasked.status == 64 && unasked.error.contains("--yes"), "\(unasked.error)")
    let missing = try await house.folder.ladectl("store", "restore", "other.sqlite", "--yes")
    #expect(missing.status == 1 && missing.error.contains("the newest there are main-"), "\(missing.error)")
    let backups = try await house.folder.asked(BackupList.self, "store", "backups", "main")
    #expect(try backups.backups.map(\.name) == house.folder.names(in: "state/backups/main"))
    #expect(backups.backups.allSatisfy { $0.size > 0 && $0.job > 0 })
    #expect(try await house.folder.count("Member") == 0)
    #expect(try await house.done("store", "restore", "latest", "--yes").state == .completed)
    #expect(try await house.folder.count("Member") == MembersHouse.rows)
    // Imports go on in what was restored.
    let job = try await house.folder.imported("number,name\n900001,New\n", as: "new.csv", into: "members")
    #expect(job.state == .completed)
    #expect(try await house.number("SELECT count(*) FROM Member") == MembersHouse.rows + 1)
    try await house.daemon.stop()
  }

  @Test("migrate brings the store to the model that is in its file now, and objects have its properties at once")
  func migrate() async throws {
    let house = try await MembersHouse()
    #expect(try await house.done("store", "migrate").note == "the store has the model's present version")
    try house.addMail()
    let job = try await house.done("store", "migrate")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(try await house.number("SELECT count(*) FROM pragma_table_info('Member') WHERE name = 'mail'") == 1)
    let grown = try await house.done(
      "update", "Member", "--set", "mail=m@example.org", "--where", "number == 3", "--yes")
    #expect(grown.state == .completed, "\(grown.reason ?? "")")
    #expect(try await house.folder.sqlite("SELECT number FROM Member WHERE mail = 'm@example.org'") == "3")
    #expect(try await house.folder.count("Member") == MembersHouse.rows)
    try await house.daemon.stop()
  }

  @Test("a wider type is migrated to by an operator, and --check-config says beforehand what can't be")
  func widen() async throws {
    func model(_ price: String, _ note: String) -> ModelText {
      ModelText(
        ModelText.entity(
          "Article", unique: ["number"],
          [
            .attribute("number", "Integer 64"), .attribute("price", price, optional: true),
            .attribute("note", note, optional: true),
          ]))
    }
    let folder = try DaemonFolder(
      model: model("Integer 16", "String"), recipes: "  articles: { store: main, entity: Article }")
    let daemon = try await folder.start()
    let first = try await folder.imported("number,price,note\n1,10,a\n2,20,b\n", as: "1.csv", into: "articles")
    #expect(first.state == .completed, "\(first.reason ?? "")")
    func check() async throws -> ProgramOutput {
      try await ProgramOutput.of(
        Products.laded, ["--config", folder.file("lade.yaml"), "--check-config"],
        environment: Products.environment([:]),
        files: folder.file("check"))
    }
    // Beside the daemon, and of a store that no process has open.
    try model("Decimal", "Integer 64").write(to: folder.file("Model.xcdatamodeld"))
    let refused = try await check()
    #expect(refused.status == 78)
    #expect(refused.error.contains("the store main couldn't be opened at the next start"), "\(refused.error)")
    #expect(
      refused.error.contains("Article.note is Integer 64 and was String: keep the type String"), "\(refused.error)")
    #expect(!refused.error.contains("price"), "\(refused.error)")
    try model("Decimal", "String").write(to: folder.file("Model.xcdatamodeld"))
    #expect(try await check().status == 0)
    let migration = try await folder.ladectl("store", "migrate", "--wait")
    #expect(migration.status == 0, "\(migration.error)")
    let second = try await folder.imported("number,price,note\n1,10.5,a\n3,30,c\n", as: "2.csv", into: "articles")
    #expect(second.state == .completed && second.progress.rejected == 0, "\(second.reason ?? "")")
    #expect(try await folder.sqlite("SELECT count(*) FROM Article WHERE price IN (10.5, 20, 30)") == "3")
    try await daemon.stop()
    try model("Boolean", "String").write(to: folder.file("Model.xcdatamodeld"))
    let files = { (suffix: String) in FileManager.default.fileExists(atPath: folder.file("main.sqlite" + suffix)) }
    let before = ["-wal", "-shm", "-journal"].map(files)
    #expect(try await check().error.contains("Article.price is Boolean and was Decimal"))
    #expect(["-wal", "-shm", "-journal"].map(files) == before)
  }
}
