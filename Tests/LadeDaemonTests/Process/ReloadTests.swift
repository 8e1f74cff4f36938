import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A daemon whose configuration is read again", .startsDaemons)
struct ReloadTests {
  private static let members = "  members: { store: main, entity: Member, mode: insert }\n"

  private func started(_ more: String = "") async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.members, more: more)
    return (folder, try await folder.start())
  }

  /// A reload that is refused; what it says.
  private func refused(_ folder: DaemonFolder) async throws -> String {
    let answer = try await folder.http("POST", Endpoint.reload.path)
    #expect(answer.status == 422, "\(answer.text)")
    let problem: Problem = try answer.decoded()
    #expect(problem.code == "bad_configuration")
    return problem.detail
  }

  @Test("works by it at once: recipes, lanes, schedules, log level; and by the one before when it is taken back")
  func good() async throws {
    let (folder, daemon) = try await started("intake: { settle: 100ms }")
    let before = try folder.text("lade.yaml")
    #expect(try await folder.asked(Reload.self, "reload") == Reload())

    let recipe = "  more: { store: main, entity: Member, lane: bulk }\n"
    try folder.write(before.replacing(Self.members, with: Self.members + recipe), to: "lade.yaml")
    try FileManager.default.createDirectory(atPath: folder.file("lade.yaml.d"), withIntermediateDirectories: true)
    try folder.write(
      """
      lanes: { bulk: { concurrency: 2 }, import: { concurrency: 3, rate: { jobs: 1000, per: 1s } } }
      schedules: { yearly: { calendar: yearly, job: { kind: check } } }
      log_level: debug
      keep: { jobs: 5000 }
      """, to: "lade.yaml.d/more.yaml")
    let reload = try await folder.asked(Reload.self, "reload")
    #expect(
      reload
        == Reload(changed: ["log_level", "keep", "lanes.bulk", "lanes.import", "recipes.more", "schedules.yearly"]))
    #expect(try await folder.asked(ConfigurationCheck.self, "config", "check").differs == false)
    let job = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "more")
    #expect(job.state == .completed && job.lane == "bulk" && job.recipe == "more")
    let lanes = try await folder.asked(LaneList.self, "lane", "list").lanes
    #expect(lanes.map(\.name) == ["bulk", "import", "maintenance"])
    #expect(lanes.map(\.concurrency) == [2, 3, 1])
    #expect(lanes[1].configuration.rate?.jobs == 1000)
    #expect(try await folder.asked(Status.self, "status").lanes.map(\.name).sorted() == lanes.map(\.name))
    #expect(try await folder.asked(ScheduleList.self, "schedule", "list").schedules.map(\.name) == ["yearly"])
    #expect(try daemon.log.contains(" debug laded"))

    try folder.write(before, to: "lade.yaml")
    try FileManager.default.removeItem(atPath: folder.file("lade.yaml.d/more.yaml"))
    #expect(
      try await folder.asked(Reload.self, "reload")
        == Reload(
          changed: ["log_level", "keep", "lanes.import"], removed: ["lanes.bulk", "recipes.more", "schedules.yearly"]))
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.map(\.concurrency) == [1, 1])
    #expect(try await folder.asked(ScheduleList.self, "schedule", "list").schedules.isEmpty)
    #expect(try await folder.asked(RecipeList.self, "recipe", "list").recipes.map(\.name) == ["members"])
    let next = try await folder.imported("number,name\n2,Bob\n", as: "b.csv", into: "members")
    #expect(next.state == .completed)
    try await daemon.stop()
  }

  @Test("tells the service manager when SIGHUP has it read, and what came of it, and goes on with others")
  func hangUp() async throws {
    let (folder, daemon) = try await started()
    let text = try folder.text("lade.yaml")
    func reloads() -> Int { daemon.notices.count { $0 == "READY=1" } - 1 }
    func reloaded(_ number: Int) async throws {
      while reloads() < number { _ = try await folder.asked(Status.self, "status") }
      let notices = daemon.notices
      #expect(notices.count { $0 == "RELOADING=1" } == number, "\(notices)")
      #expect(notices.contains { $0.hasPrefix("MONOTONIC_USEC=") })
    }
    try folder.write(text + "\nlanes: { import: { concurrency: 4 } }\n", to: "lade.yaml")
    daemon.hangUp()
    try await reloaded(1)
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.first?.concurrency == 4)
    #expect(try daemon.log.contains("applied lanes.import"))
    try folder.write(text + "\nlaens: {}\n", to: "lade.yaml")
    daemon.hangUp()
    try await reloaded(2)
    func isTold(_ notice: String) -> Bool {
      notice.hasPrefix("STATUS=the configuration was refused") && notice.contains("laens")
    }
    while !daemon.notices.contains(where: isTold) { _ = try await folder.asked(Status.self, "status") }
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.first?.concurrency == 4)
    try folder.write(text, to: "lade.yaml")
    daemon.hangUp()
    try await reloaded(3)
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.first?.concurrency == 1)
    try await daemon.stop()
  }

  @Test("fails by ladectl without the control socket, and SIGHUP still has it read, with the result in the log")
  func withoutSocket() async throws {
    let (folder, daemon) = try await started()
    let text = try folder.text("lade.yaml")
    try FileManager.default.moveItem(atPath: folder.file("s"), toPath: folder.file("elsewhere"))
    try folder.write(text + "\nlaens: {}\n", to: "lade.yaml")
    let run = try await folder.ladectl("reload")
    #expect(run.status == 5 && run.error.contains("systemctl kill --signal=HUP laded"), "\(run.error)")
    daemon.hangUp()
    try await daemon.logs("it was refused, and nothing has changed")
    #expect(try daemon.log.contains("there is no key `laens`"))
    try folder.write(text + "\nlanes: { import: { concurrency: 4 } }\n", to: "lade.yaml")
    daemon.hangUp()
    try await daemon.logs("applied lanes.import")
    try FileManager.default.moveItem(atPath: folder.file("elsewhere"), toPath: folder.file("s"))
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.first?.concurrency == 4)
    try await daemon.stop()
  }

  @Test("names a store whose model has changed, until it has been migrated")
  func migrated() async throws {
    let house = try await MembersHouse()
    try house.addMail()
    #expect(try await house.folder.asked(Reload.self, "reload") == Reload(needsMigration: ["main"]))
    let told = try await house.folder.ladectl("reload")
    #expect(told.text.contains("'ladectl store migrate main' or a restart"), "\(told.text)")
    #expect(try await house.done("store", "migrate").state == .completed)
    #expect(try await house.folder.asked(Reload.self, "reload") == Reload())
    try await house.daemon.stop()
  }

  @Test("is shown with the file and line of each key, and without its secrets")
  func settings() async throws {
    let (folder, daemon) = try await started("metrics: { token: abcdefgh }")
    try FileManager.default.createDirectory(atPath: folder.file("lade.yaml.d"), withIntermediateDirectories: true)
    try folder.write("lanes:\n  import: { concurrency: 3 }\n", to: "lade.yaml.d/a.yaml")
    let shown = try await folder.asked(ConfigurationSettings.self, "config", "show")
    #expect(shown.layers == [folder.file("lade.yaml"), folder.file("lade.yaml.d/a.yaml")] && shown.differs)
    let lanes = shown.settings.filter { $0.key.hasPrefix("lanes") }
    #expect(
      lanes == [
        .init(key: "lanes.import.concurrency", value: "3", file: folder.file("lade.yaml.d/a.yaml"), line: 2)
      ])
    #expect(shown.settings.first { $0.key == "metrics.token" }?.value == "(a secret)")
    #expect(shown.settings.contains { $0.key == "recipes.members.mode" && $0.value == "insert" && $0.line != nil })
    try folder.write("lanes: { import: { concurency: 3 } }\n", to: "lade.yaml.d/a.yaml")
    let wrong = try await folder.ladectl("config", "show")
    #expect(wrong.status == 1 && wrong.error.contains("a.yaml:1:20"), "\(wrong.error)")
    try await daemon.stop()
  }

  @Test("changes nothing where anything is wrong, and tells all of it")
  func bad() async throws {
    let (folder, daemon) = try await started()
    let text = try folder.text("lade.yaml")
    let more = "  more: { store: main, entity: Member, lnae: import }\n"
    try folder.write(text.replacing(Self.members, with: Self.members + more) + "\nlog_level: debug\n", to: "lade.yaml")
    try FileManager.default.createDirectory(atPath: folder.file("lade.yaml.d"), withIntermediateDirectories: true)
    try folder.write("lanes: { import: { concurrency: 4 } }\nkeep: { jbos: 3 }\n", to: "lade.yaml.d/a.yaml")
    let mistakes = [
      "lade.yaml:7:40: there is no key `recipes.more.lnae`; did you mean `lane`?",
      "lade.yaml.d/a.yaml:2:9: there is no key `keep.jbos`; did you mean `jobs`?",
    ]
    let told = try await refused(folder)
    for mistake in mistakes { #expect(told.contains(folder.path + "/" + mistake), "\(told)") }
    let run = try await folder.ladectl("reload")
    #expect(run.status == 1)
    let log = try daemon.log
    for mistake in mistakes {
      #expect(run.error.contains(mistake), "\(run.error)")
      #expect(log.split(separator: "\n").contains { $0.contains(" error laded") && $0.contains(mistake) }, "\(log)")
    }
    let check = try await folder.got(ConfigurationCheck.self, "GET", .checkConfiguration)
    #expect(check.mistakes.map(\.file) == ["lade.yaml", "lade.yaml.d/a.yaml"].map(folder.file))

    // What only shows when it is held against the model.
    try FileManager.default.removeItem(atPath: folder.file("lade.yaml.d/a.yaml"))
    try folder.write(
      text.replacing(Self.members, with: Self.members + "  more: { store: main, entity: Membre }\n")
        + "\nschedules: { n: { calendar: daily, job: { kind: chekc } } }\n", to: "lade.yaml")
    let misfits = try await refused(folder)
    #expect(misfits.contains("lade.yaml:7:24: recipe more: entity: store main has no entity Membre"), "\(misfits)")
    #expect(misfits.contains("schedule n: kind: there is no kind of job chekc"), "\(misfits)")

    #expect(try await folder.asked(RecipeList.self, "recipe", "list").recipes.map(\.name) == ["members"])
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.map(\.concurrency) == [1, 1])
    #expect(try await folder.asked(ScheduleList.self, "schedule", "list").schedules.isEmpty)
    #expect(try folder.names(in: "spool/incoming") == ["members"])
    let job = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members")
    #expect(job.state == .completed)
    #expect(try !daemon.log.contains(" debug laded"))
    try await daemon.stop()
  }

  @Test("keeps a lane that has work, and lets go of it when that has ended")
  func lane() async throws {
    let (folder, daemon) = try await started("lanes: { bulk: {} }")
    let file = try folder.write("number,name\n1,Ada\n", to: "a.csv")
    let job = try await folder.got(
      Job.self, "POST", .jobs, body: JobSubmission(source: file, recipe: "members", lane: "bulk", isHeld: true))
    let text = try folder.text("lade.yaml").replacing("lanes: { bulk: {} }", with: "keep: { jobs: 70 }")
    try folder.write(text, to: "lade.yaml")
    let told = try await refused(folder)
    #expect(told.contains("lane bulk can't be taken away: 1 of its jobs hasn't ended"), "\(told)")
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.map(\.name).contains("bulk"))
    _ = try await folder.got(Job.self, "POST", .releaseJob(job.id))
    #expect(try await folder.ended(job.id).state == .completed)
    #expect(try await folder.asked(Reload.self, "reload") == Reload(changed: ["keep"], removed: ["lanes.bulk"]))
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.map(\.name) == ["import", "maintenance"])
    try await daemon.stop()
  }

  @Test("leaves an import alone that runs")
  func running() async throws {
    let members = Members(rows: 40_000, faults: 50)
    let (folder, daemon) = try await started()
    try folder.drop(members.csv, as: "members.csv", into: "members")
    let job = try #require(try await folder.jobs().first)
    _ = try await JobEvents(of: job.id, socket: folder.file("s")).first { $0.progress.records > 0 }
    // The recipe by which it is done is gone, and its lane is another one.
    let text = try folder.text("lade.yaml")
    try folder.write(
      text.replacing("  members:", with: "  others:") + "\nlanes: { import: { concurrency: 2 } }\n", to: "lade.yaml")
    #expect(
      try await folder.asked(Reload.self, "reload")
        == Reload(changed: ["lanes.import", "recipes.others"], removed: ["recipes.members"]))
    let ended = try await folder.ended(job.id)
    #expect(ended.state == .completed && ended.attempt == 1)
    #expect(ended.progress.inserted == Int64(members.good))
    #expect(ended.progress.rejected == Int64(members.rejects.count))
    #expect(try await folder.count("Member") == members.good)
    try await daemon.stop()
  }

  @Test("says what needs a restart, applies the rest, and sets aside the recipes and schedules of a new store")
  func restart() async throws {
    let (folder, daemon) = try await started()
    let text = try folder.text("lade.yaml")
    let store = "second: { path: second.sqlite, model: Model.xcdatamodeld }"
    let moved = text.replacing("socket: s", with: "socket: t").replacing(
      "stores: { main", with: "stores: { \(store), main")
    try folder.write(moved + "\nkeep: { jobs: 70 }\n", to: "lade.yaml")
    let run = try await folder.ladectl("reload")
    #expect(run.text == "applied: keep\nneeds a restart: socket, stores.second\n", "\(run.text)\(run.error)")
    #expect(try await folder.asked(Reload.self, "reload") == Reload(needsRestart: ["socket", "stores.second"]))
    #expect(try daemon.log.contains("a restart is needed for socket, stores.second"))
    #expect(try await folder.asked(StoreList.self, "store", "list").stores.map(\.name) == ["main"])
    let more = Self.members + "  more: { store: second, entity: Member }\n"
    try folder.write(moved.replacing(Self.members, with: more), to: "lade.yaml")
    let apart = "schedules: { checks: { calendar: yearly, job: { kind: check, store: second } } }"
    try folder.write(
      try folder.text("lade.yaml") + "\nkeep: { jobs: 80 }\n\(apart)\n", to: "lade.yaml")
    let waiting = ["socket", "stores.second", "recipes.more", "schedules.checks"]
    let check = try await folder.asked(ConfigurationCheck.self, "config", "check")
    #expect(check.isGood && check.differs && check.changed == ["keep"] && check.needsRestart == waiting, "\(check)")
    let words = try await folder.ladectl("config", "check").text
    #expect(words.contains("'ladectl reload' applies: keep\nneeds a restart: \(waiting.joined(separator: ", "))\n"))
    #expect(
      try await folder.asked(Reload.self, "reload") == Reload(changed: ["keep"], needsRestart: waiting))
    #expect(try await folder.asked(RecipeList.self, "recipe", "list").recipes.map(\.name) == ["members"])
    #expect(try await folder.asked(ScheduleList.self, "schedule", "list").schedules.isEmpty)
    let job = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members")
    #expect(job.state == .completed)
    try await daemon.stop()
  }

  @Test("names a model that has changed, and keeps a recipe as it was until the store has the new model")
  func aside() async throws {
    let (folder, daemon) = try await started()
    try Members.model(with: .attribute("nick", optional: true)).write(to: folder.file("Model.xcdatamodeld"))
    #expect(try await folder.asked(ConfigurationCheck.self, "config", "check").needsMigration == ["main"])
    let text = try folder.text("lade.yaml")
    let nick = "  members: { store: main, entity: Member, mode: insert, properties: { nick: Nick } }\n"
    try folder.write(text.replacing(Self.members, with: nick) + "\nkeep: { jobs: 70 }\n", to: "lade.yaml")
    #expect(
      try await folder.asked(Reload.self, "reload")
        == Reload(changed: ["keep"], needsRestart: ["recipes.members"], needsMigration: ["main"]))
    let before = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members")
    #expect(before.state == .completed)
    try await daemon.stop()
    let again = try await folder.start()
    #expect(try await folder.asked(Reload.self, "reload") == Reload())
    let after = try await folder.imported("number,name,Nick\n2,Bob,B\n", as: "b.csv", into: "members")
    #expect(after.state == .completed && after.note == nil, "\(after)")
    try await again.stop()
  }

  @Test("keeps the lane and the recipe that it takes away while a part needs them that waits for a restart")
  func needed() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, lane: bulk }\n",
      more: """
        lanes: { bulk: {} }
        schedules: { nightly: { calendar: yearly, job: { source: exports/a.csv, recipe: members } } }
        allowed_folders: [exports]
        """)
    let daemon = try await folder.start()
    let old = try folder.text("lade.yaml")
    let second = old.replacing(
      "stores: { main", with: "stores: { second: { path: second.sqlite, model: Model.xcdatamodeld }, main")
    // The recipe goes into a store that isn't open, and no longer uses the lane.
    try folder.write(
      second.replacing("store: main, entity: Member, lane: bulk", with: "store: second, entity: Member").replacing(
        "lanes: { bulk: {} }", with: ""), to: "lade.yaml")
    let waiting = ["stores.second", "lanes.bulk", "recipes.members"]
    #expect(try await folder.asked(ConfigurationCheck.self, "config", "check").needsRestart == waiting)
    #expect(try await folder.asked(Reload.self, "reload") == Reload(needsRestart: waiting))
    // The same again: nothing was lost by the first time.
    #expect(try await folder.asked(Reload.self, "reload") == Reload(needsRestart: waiting))
    #expect(try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members").lane == "bulk")

    // A schedule of a recipe that is taken away.
    try folder.write(
      second.replacing(
        "  members: { store: main, entity: Member, lane: bulk }", with: "  others: { store: second, entity: Member }"
      )
      .replacing("recipe: members", with: "recipe: others").replacing("lanes: { bulk: {} }", with: ""), to: "lade.yaml")
    let all = ["stores.second", "lanes.bulk", "recipes.members", "recipes.others", "schedules.nightly"]
    #expect(try await folder.asked(Reload.self, "reload") == Reload(needsRestart: all))
    #expect(try await folder.asked(RecipeList.self, "recipe", "list").recipes.map(\.name) == ["members"])
    try await daemon.stop()
    let again = try await folder.start()
    #expect(try await folder.asked(Reload.self, "reload") == Reload())
    #expect(try await folder.asked(LaneList.self, "lane", "list").lanes.map(\.name) == ["import", "maintenance"])
    #expect(try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "others").state == .completed)
    try await again.stop()
  }

  @Test("variables count as its last layer, and one that isn't known keeps it from starting")
  func variables() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.members)
    let wrong = try folder.launch(["LADE_LOGLEVEL": "debug", "LADE_KEEP__JOBS": "few"])
    #expect(try await wrong.ended() == .exit(78))
    let log = try wrong.log
    #expect(log.contains("LADE_LOGLEVEL: there is no key `loglevel`; did you mean `log_level`?"), "\(log)")
    #expect(log.contains("LADE_KEEP__JOBS: `keep.jobs` must be a whole number"), "\(log)")
    let daemon = try folder.launch([
      "LADE_RECIPES__MEMBERS__MAX_ATTEMPTS": "3", "LADE_COMPLETION_PATIENCE": "2", "LADE_SOCKET": folder.file("s"),
      "LADE_STATE": folder.file("elsewhere"),
    ])
    try await daemon.ready()
    let job = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members")
    #expect(job.maxAttempts == 3)
    #expect(FileManager.default.fileExists(atPath: folder.file("elsewhere/queue.sqlite")))
    #expect(try await folder.asked(Reload.self, "reload") == Reload())
    try await daemon.stop()
  }
}
