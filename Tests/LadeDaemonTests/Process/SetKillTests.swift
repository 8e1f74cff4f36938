import ControlAPI
import Foundation
import Glibc
import Testing

/// Rule 5 (ARCHITECTURE.md) for several files: a set is taken whole, or stays whole, and taking it twice makes one job.
@Suite("A daemon that takes sets of files", .startsDaemons, .serialized)
struct SetKillTests {
  private static let everywhere = "/spool/incoming:/spool/active:/spool/done:/spool/corrupt"

  @Test(
    "and is killed between any two steps of that makes one job of each set, and loses no file")
  func oneFileSystem() async throws {
    let folder = try DaemonFolder(model: Timetable.model, recipes: Timetable.recipe())
    let rounds = try await killedEverywhere(folder, prefix: []) { text, name, place in
      try folder.drop(text, as: name, into: place)
    }
    #expect(KillPoint.changes(in: rounds) >= 19, "so many changes are met")
    #expect(try folder.names(in: "spool/incoming") == ["timetable"])
    #expect(try folder.names(in: "spool/incoming/timetable") == [])
  }

  @Test(
    "from another file system, and is killed between any two steps of that, makes one job of each set, and loses no file",
    .enabled(if: PrivateMounts.arePossible, "it takes root, for it mounts"))
  func anotherFileSystem() async throws {
    let folder = try DaemonFolder(model: Timetable.model, recipes: Timetable.recipe())
    let mounts = try await PrivateMounts(
      in: folder, "mkdir -p spool/incoming; mount -t tmpfs lade spool/incoming; mkdir spool/incoming/timetable")
    let rounds = try await killedEverywhere(folder, prefix: mounts.prefix) { text, name, place in
      try mounts.drop(text, as: name, into: place)
    }
    #expect(KillPoint.changes(in: rounds) >= 24, "so many changes are met")
    #expect(try mounts.names(in: "spool/incoming") == ["timetable"])
    #expect(try mounts.names(in: "spool/incoming/timetable") == [])
  }

  /// Hands over a set for a hot folder and one by a ticket, once each round, to a daemon that is killed at another
  /// change in its spool each time, until one comes to the end; then expects one job of each.
  private func killedEverywhere(
    _ folder: DaemonFolder, prefix: [String], drop: (String, String, String) throws -> Void
  ) async throws -> Int {
    try await folder.start(by: prefix).stop()
    let point = try KillPoint(in: folder, watch: Self.everywhere)
    let rounds = try await folder.killed(at: point, by: prefix) { rounds in
      try drop("code,name\nH\(rounds),Hot\n", "stops-\(rounds).csv", "timetable")
      try drop("number,stop\n\(rounds * 2),H\(rounds)\n", "trips-\(rounds).csv", "timetable")
      // Not empty: such a file would have to settle before it counts as finished.
      try drop("done\n", "\(rounds).done", "timetable")
      try drop("code,name\nC\(rounds),Cold\n", "stops\(rounds).csv", "")
      try drop("number,stop\n\(rounds * 2 + 1),C\(rounds)\n", "trips\(rounds).csv", "")
      let set = "{of: {Stop: \"stops*\", Trip: \"trips*\"}}"
      try drop(
        "{store: main, mode: insert, files: [stops\(rounds).csv, trips\(rounds).csv], options: {set: \(set)}}",
        "cold-\(rounds).job", "")
    }
    try await check(folder, rounds: rounds, prefix)
    return rounds
  }

  private func check(_ folder: DaemonFolder, rounds: Int, _ prefix: [String]) async throws {
    let daemon = try await folder.start(by: prefix)
    try await folder.scanned()
    let jobs = try await folder.listedJobs()
    let expected = (1...rounds).flatMap { ["timetable-\($0)", "cold-\($0)"] }
    #expect(jobs.compactMap(\.source).sorted() == expected.sorted())
    for job in jobs {
      #expect(job.state == .completed, "\(job.source ?? ""): \(job.reason ?? "")")
      #expect((job.progress.inserted, job.progress.rejected) == (2, 0), "\(job.source ?? "")")
    }
    #expect(try await folder.count("Stop") == rounds * 2)
    #expect(try await folder.count("Trip", where: "stop != nil") == rounds * 2)
    try await daemon.stop()
    #expect(try folder.names(in: "spool/done") == jobs.map { "\($0.id)-\($0.source ?? "")" }.sorted())
    for job in jobs {
      let files = try folder.names(in: "spool/done/\(job.id)-\(job.source ?? "")").filter { $0 != ".ticket" }
      #expect(files.count == (job.source?.hasPrefix("cold") == true ? 2 : 3), "\(files)")
    }
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/corrupt") == [])
  }
}
