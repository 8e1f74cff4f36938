import ControlAPI
import Foundation
import Testing

@Suite("A daemon's schedules", .startsDaemons)
struct ScheduleTests {
  @Test(
    "import their file at each of their times, once, through kills, and say so when the file isn't there")
  func everySecond() async throws {
    let folder = try DaemonFolder(
      model: Places.model, recipes: Places.recipes,
      more: """
        allowed_folders: [exports]
        time_zone: Europe/Berlin
        schedules:
          places:
            calendar: "*:*:*"
            job: { recipe: countries, source: exports/countries.json }
        """)
    try FileManager.default.createDirectory(atPath: folder.file("exports"), withIntermediateDirectories: true)
    try folder.write(Places.countries, to: "exports/countries.json")
    var daemon = try await folder.start()
    var completed = 0
    for _ in 0..<4 {
      let before = completed
      while completed == before { completed = try await Self.jobs(of: folder, .completed).count }
      try await daemon.kill()
      daemon = try await folder.start()
    }
    #expect(try await folder.count("Country") == 3)
    let schedule = try #require(try await folder.got(ScheduleList.self, "GET", .schedules).schedules.first)
    #expect(schedule.name == "places" && schedule.kind == "import" && schedule.calendar == ["*-*-* *:*:*"])
    #expect(schedule.timeZones == ["Europe/Berlin"] && schedule.catchUp == .once && schedule.isEnabled)
    let last = try #require(schedule.lastJob)
    #expect(try await folder.jobs().contains { $0.id == last && $0.submittedBy == "schedule places" })
    let (lastAt, nextAt) = (try #require(schedule.lastAt), try #require(schedule.nextAt))
    // The next one may have begun while the answer was made.
    #expect(nextAt >= lastAt && nextAt.timeIntervalSince1970.truncatingRemainder(dividingBy: 1) == 0)
    try FileManager.default.removeItem(atPath: folder.file("exports/countries.json"))
    while try await Self.jobs(of: folder, .cancelled).isEmpty {}
    let without = try #require(try await Self.jobs(of: folder, .cancelled).first)
    #expect(without.reason?.contains("schedule places: the daemon can't open ") == true, "\(without.reason ?? "")")
    try await daemon.stop()

    let jobs = try await folder.sqlite(
      "SELECT count(*), count(DISTINCT origin), sum(state NOT IN ('completed', 'cancelled')) <= 1 FROM Job",
      in: "state/queue.sqlite")
    let columns = jobs.split(separator: ",")
    #expect(columns.count == 3 && columns[0] == columns[1] && columns[2] == "1", "\(jobs)")
    // The file of each, and no part of one.
    #expect(try folder.names(in: "spool/done").count >= completed)
    #expect(try folder.names(in: "spool/active").filter { $0.hasPrefix(".") }.count <= 1)
  }

  @Test("are run by hand, their file included, and not while the job before waits")
  func byHand() async throws {
    let folder = try DaemonFolder(
      model: Places.model, recipes: Places.recipes,
      more: """
        allowed_folders: [exports]
        schedules:
          places:
            calendar: yearly
            job: { recipe: countries, source: exports/countries.json }
        """)
    try FileManager.default.createDirectory(atPath: folder.file("exports"), withIntermediateDirectories: true)
    try folder.write(Places.countries, to: "exports/countries.json")
    let daemon = try await folder.start()
    let run = try await folder.ladectl("schedule", "run", "places", "--wait")
    #expect(run.status == 0, "\(run.error)")
    #expect(try await folder.count("Country") == 3)
    let schedule = try #require(try await folder.got(ScheduleList.self, "GET", .schedules).schedules.first)
    #expect(schedule.lastJob == 1 && schedule.lastState == .completed)
    #expect(try await folder.ladectl("pause", "import").status == 0)
    #expect(try await folder.asked(Job.self, "schedule", "run", "places").id == 2)
    let again = try await folder.ladectl("schedule", "run", "places")
    #expect(again.status == 1 && again.error.contains("job 2 of schedule places is"), "\(again.error)")
    let none = try await folder.ladectl("schedule", "run", "place")
    #expect(none.status == 1 && none.error.contains("Did you mean places?"), "\(none.error)")
    try await daemon.stop()
  }

  private static func jobs(of folder: DaemonFolder, _ state: JobState) async throws -> [Job] {
    try await folder.jobs().filter { $0.state == state && $0.submittedBy == "schedule places" }
  }
}
