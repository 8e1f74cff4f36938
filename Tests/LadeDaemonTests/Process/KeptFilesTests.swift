import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("Files of jobs that have ended", .startsDaemons)
struct KeptFilesTests {
  private static let csv = "number,name\n1,Ada\n"

  private func kept(_ folder: DaemonFolder) async throws -> Int {
    let text = try PrometheusText(try await folder.http("GET", "/metrics").text)
    return Int(text.value("lade_spool_kept_files", ["directory": "done"]) ?? -1)
  }

  @Test("are removed with the job, and counted by the metrics until then")
  func withJob() async throws {
    let folder = try DaemonFolder.withMembers()
    let daemon = try await folder.start()
    let good = try await folder.imported(Self.csv, as: "a.csv", into: "members")
    let bad = try await folder.imported("", as: "b.csv", into: "members")
    #expect(good.state == .completed && bad.state == .discarded)
    #expect(try folder.names(in: "spool/done") == ["\(good.id)-a.csv"])
    #expect(try folder.names(in: "spool/corrupt") == ["\(bad.id)-b.csv", "\(bad.id)-b.csv.reason"])
    // They are counted in the background.
    while try await kept(folder) != 1 {}
    #expect(try await folder.ladectl("remove", "\(good.id)", "\(bad.id)").status == 0)
    // The files follow the jobs.
    while try folder.names(in: "spool/done") + folder.names(in: "spool/corrupt") != [] {
      _ = try await folder.asked(Status.self, "status")
    }
    #expect(try await folder.count("Member") == 1)
    try await daemon.stop()
  }

  @Test("stay for ever where the configuration says so")
  func forever() async throws {
    let folder = try DaemonFolder.withMembers("keep: { files: forever }")
    let daemon = try await folder.start()
    let job = try await folder.imported(Self.csv, as: "a.csv", into: "members")
    #expect(try await folder.ladectl("remove", "\(job.id)").status == 0)
    try await daemon.stop()
    #expect(try folder.names(in: "spool/done") == ["\(job.id)-a.csv"])
  }
}
