import ControlAPI
import Foundation
import Testing

// One daemon after the other: a user of the system has 128 inotify instances (inotify(7)) for all of them.
@Suite("Mistakes on ladectl's command line", .startsDaemons, .serialized)
struct MistakeTests {
  @Test("each is reported with what happened, what to do next, and its status")
  func mistakes() async throws {
    let house = try await MembersHouse()
    let file = try house.folder.write("number,name\n1,A\n", to: "a.csv")
    func expect(_ status: Int32, _ words: String..., from arguments: [String]) async throws {
      let run = try await house.folder.ladectl(arguments)
      #expect(run.status == status, "\(arguments): \(run.error)")
      for words in words { #expect(run.error.contains(words), "\(arguments): \(run.error)") }
    }
    try await expect(1, "There is no job 99.", "'ladectl list' shows the jobs.", from: ["show", "99"])
    try await expect(1, "There is no job 99.", from: ["log", "99"])
    try await expect(1, "job 1 is completed and can't be cancelled: it has succeeded already", from: ["cancel", "1"])
    try await expect(1, "can't be retried: it succeeded: submit it again", from: ["retry", "1"])
    try await expect(1, "There is no lane 'nope'.", "There are import, maintenance.", from: ["pause", "nope"])
    try await expect(1, "There is no lane 'Import'.", "Did you mean import?", from: ["pause", "Import"])
    try await expect(1, "no store nope", "There is only main.", from: ["store", "vacuum", "nope"])
    try await expect(1, "ladectl: there is no store man\n", "Did you mean main?", from: ["store", "vacuum", "man"])
    try await expect(1, "no kind of job vacum", "vacuum", from: ["submit", "--kind", "vacum"])
    try await expect(
      1, "--recipe: there is no recipe member\n", "Did you mean members?",
      from: ["import", file, "--recipe", "member"])
    try await expect(
      1, "no recipe nope", "There is only members.", from: ["import", file, "--recipe", "nope"])
    try await expect(1, "no lane nope", "import", from: ["import", file, "--entity", "Member", "--lane", "nope"])
    try await expect(
      1, "There is no file \(house.folder.file("none.csv")).",
      from: ["import", house.folder.file("none.csv"), "--entity", "Member"])
    try await expect(
      1, "--priority: it is 1000001, and can be from -1000000 to 1000000",
      from: ["import", file, "--entity", "Member", "--priority", "1000001"])
    try await expect(1, "--to: it is 1000001", from: ["priority", "--to", "1000001", "1"])
    try await expect(
      1, "--to: it is -1000001", from: ["priority", "--to", "-1000001", "--all", "--state", "completed", "--yes"])
    try await expect(
      1, "--sort: Member has no property nmae", "It has number, name", from: ["fetch", "Member", "--sort", "nmae"])
    try await expect(
      1, "--where: Member has no property nmae; did you mean name?",
      from: ["count", "Member", "--where", "nmae == 'A'"])
    try await expect(1, "--where:", "column 9", "^", from: ["fetch", "Member", "--where", "number <<"])
    try await expect(1, "--columns: Member has no property nmae", from: ["fetch", "Member", "--columns", "nmae"])
    try await expect(1, "There is no entity 'Membre'.", "Did you mean Member?", from: ["fetch", "Membre"])
    try await expect(1, "There is no entity 'member'.", "Did you mean Member?", from: ["fetch", "member"])
    try await expect(
      1, "ladectl: there is no option delimitr", "delimiter",
      from: ["import", file, "--entity", "Member", "--option", "delimitr=;"])
    try await expect(
      1, "ladectl: there is no option foo; there are incremental, pages",
      from: ["store", "vacuum", "--option", "foo=1"])
    try await expect(1, "ladectl: --keep is 0: it can be from 1 to 10000", from: ["store", "backup", "--keep", "0"])
    try await expect(1, "main has no entity Membre; it has Member\n", from: ["store", "reindex", "--entity", "Membre"])
    try await expect(
      1, "ladectl: Member has no property nmae; did you mean name?",
      from: ["prune", "Member", "--where", "nmae == 'A'", "--yes"])
    try await expect(
      1, "ladectl: Member has no property nmae; did you mean name?", from: ["export", "Member", "--sort", "nmae"])
    try await expect(1, "ladectl: Member has no property nmae", from: ["export", "Member", "--columns", "nmae"])
    try await expect(
      1, "ladectl: Member has no attribute nmae: did you mean name?",
      from: ["update", "Member", "--set", "nmae=A", "--all", "--yes"])
    try await expect(1, "ladectl: --set: ", "age", from: ["update", "Member", "--set", "age=old", "--all", "--yes"])
    #expect(try await house.folder.jobs().count == 1, "nothing was submitted")
    try await expect(1, "there is no such file", from: ["model", "show", house.folder.file("none.xcdatamodeld")])
    try await expect(
      1, "none.yaml: the file can't be read: No such file or directory",
      from: ["config", "check", house.folder.file("none.yaml")])
    try await expect(64, "'ladectl store' has no verb 'vacum'; did you mean 'vacuum'?", from: ["store", "vacum"])
    try await expect(64, "nope' isn't a state of a job", "retryable", from: ["list", "--state", "nope"])
    try await expect(5, "isn't a socket", "--socket", from: ["status", "--socket", file])
    try await expect(
      5, "laded isn't running", "systemctl start laded", from: ["status", "--socket", house.folder.file("none")])
    try await house.daemon.stop()
  }

  @Test("a configuration with impossible schedules or recipes is reported before the daemon is restarted with it")
  func configuration() async throws {
    let house = try await MembersHouse()
    #expect(try await house.folder.ladectl("config", "check").text.hasSuffix("lade.yaml: good\n"))
    let good = try house.folder.text("lade.yaml")
    func told(_ more: String) async throws -> String {
      try house.folder.write(good + more, to: "lade.yaml")
      let run = try await house.folder.ladectl("config", "check")
      #expect(run.status == 1)
      return run.text
    }
    let options = try await told("\nschedules: {nightly: {calendar: daily, job: {kind: check, options: {foo: 1}}}}\n")
    #expect(options.contains("schedule nightly: options: there is no option foo; there are depth"), "\(options)")
    let kind = try await told("\nschedules: {nightly: {calendar: daily, job: {kind: chek}}}\n")
    #expect(kind.contains("no kind of job chek"), "\(kind)")
    let calendar = try await told("\nschedules: {nightly: {calendar: dayly, job: {kind: check}}}\n")
    #expect(calendar.contains("lade.yaml:") && calendar.contains("dayly"), "\(calendar)")
    try await house.daemon.stop()
  }

  @Test("the log tells which job a line is about, and a daemon that doesn't start is reported with where to look")
  func log() async throws {
    let house = try await MembersHouse()
    let job = try await house.done("import", try house.folder.write("", to: "empty.csv"), "--entity", "Member")
    #expect(job.state == .discarded)
    let lines = try await house.folder.ladectl("log", "\(job.id)").text
    #expect(lines.contains("error    job \(job.id): discarded: the file is empty"), "\(lines)")
    try house.folder.write(try house.folder.text("lade.yaml") + "\nlog_level: error\n", to: "lade.yaml")
    #expect(try await house.folder.ladectl("reload").status == 0)
    let quiet = try await house.done("store", "checkpoint")
    let none = try await house.folder.ladectl("log", "\(quiet.id)").text
    #expect(
      none
        == "Of job \(quiet.id) no line is kept that was logged; see 'ladectl show \(quiet.id)', or 'journalctl -u laded "
        + "JOB_ID=\(quiet.id)'.\n")
    let late = try await house.folder.ladectl(
      "status", "--wait", "--timeout", "0.1", "--socket", house.folder.file("none"))
    #expect(late.status == 4 && late.error.contains("journalctl -u laded"), "\(late.error)")
    try await house.daemon.stop()
  }

  @Test("in JSON each is a problem document, a wrong command line, too")
  func json() async throws {
    let house = try await MembersHouse()
    func problem(_ arguments: String...) async throws -> (Int32, Problem) {
      let run = try await house.folder.ladectl(arguments + ["--json"])
      return (run.status, try WireFormat.decode(Problem.self, from: Data(run.error.utf8)))
    }
    let job = try await problem("show", "99")
    #expect(job.0 == 1 && job.1.code == "no_such_job" && job.1.status == 404)
    let usage = try await problem("list", "--limit", "0")
    #expect(usage.0 == 64 && usage.1.code == "usage" && usage.1.detail == "--limit is a number from 1 to 1000.")
    let verb = try await problem("lsit")
    #expect(verb.0 == 64 && verb.1.code == "no_such_verb")
    let away = try await problem("status", "--socket", house.folder.file("none"))
    #expect(away.0 == 5 && away.1.code == "no_daemon")
    try await house.daemon.stop()
  }

  @Test("a job that waits says for what, and a key that is taken is reported")
  func waiting() async throws {
    let house = try await MembersHouse()
    let file = try house.folder.write("number,name\n1,A\n", to: "a.csv")
    #expect(try await house.folder.ladectl("pause", "import").status == 0)
    let me = try #require(getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) })
    let first = try await house.folder.ladectl("import", file, "--entity", "Member", "--unique-key", "k").text
    #expect(first == "job 2 available, waits for lane import, which \(me) paused\n")
    let second = try await house.folder.ladectl("import", file, "--entity", "Member", "--unique-key", "k").text
    #expect(
      second.hasPrefix("job 2 available") && second.contains("it was there before, with the same unique key"),
      "\(second)")
    let sheet = try await house.folder.ladectl("show", "2").text
    #expect(sheet.contains("waits for   lane import, which \(me) paused"), "\(sheet)")
    #expect(try await house.folder.ladectl("resume").status == 0)
    #expect(try await house.folder.ladectl("wait", "2").status == 0)
    try await house.daemon.stop()
  }
}
