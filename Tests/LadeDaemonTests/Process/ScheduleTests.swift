import ControlAPI
import Foundation
import Testing

@Suite("A daemon's schedules", .startsDaemons)
struct ScheduleTests {
  @Test(
    "import their file at each of their times, once, through kills, and say so when the file isn't there",
    .timeLimit(.minutes(20)))
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
    #expect(nextAt > lastAt && nextAt.timeIntervalSince1970.truncatingRemainder(dividingBy: 1) == 0)
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

  private static func jobs(of folder: DaemonFolder, _ state: JobState) async throws -> [Job] {
    try await folder.jobs().filter { $0.state == state && $0.submittedBy == "schedule places" }
  }
}
