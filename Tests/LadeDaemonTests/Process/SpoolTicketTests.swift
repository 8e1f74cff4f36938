import ControlAPI
import Foundation
import Glibc
import Testing

@Suite("A spool and its daemon", .startsDaemons)
struct SpoolTicketTests {
  @Test("may be removed while the daemon runs, which says so once, answers, and goes on when it is there again")
  func removed() async throws {
    let folder = try DaemonFolder.withMembers()
    let daemon = try await folder.start()
    try FileManager.default.removeItem(atPath: folder.file("spool"))
    try await folder.expectToldOnce("spool failed: No such file", by: daemon)
    try FileManager.default.createDirectory(atPath: folder.file("spool"), withIntermediateDirectories: false)
    let job = try await folder.imported("number,name\n1,Ada\n", as: "x.csv", into: "members")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    try await daemon.stop()
  }

  @Test("refuses a ticket whose unique key a job has that hasn't ended, and loses neither")
  func uniqueKey() async throws {
    let folder = try DaemonFolder.withMembers()
    let daemon = try await folder.start()
    for number in 1...2 {
      try folder.drop("number,name\n\(number),Ada\n", as: "\(number).csv", into: "")
      try folder.drop(
        "{entity: Member, source: \(number).csv, unique_key: daily, not_before: \"2126-01-01T00:00:00Z\"}",
        as: "\(number).job", into: "")
      _ = try await folder.jobs()
    }
    #expect(try await folder.jobs().map(\.source) == ["1.csv"])
    #expect(try folder.text("spool/corrupt/2.job.reason").contains("unique_key: job 1 has the same one"))
    #expect(try folder.names(in: "spool/active") == ["1-1.csv", "1.job"])
    #expect(try folder.text("spool/incoming/2.csv") == "number,name\n2,Ada\n")
    try await daemon.stop()
  }

  @Test("takes a ticket for other work from an operator, and refuses one from another user")
  func otherKinds() async throws {
    let folder = try DaemonFolder.withMembers()
    let daemon = try await folder.start()
    _ = try await folder.imported("number,name\n1,Ada\n", as: "x.csv", into: "members")
    try folder.drop("{kind: vacuum, store: main, tags: [tidy]}", as: "v.job", into: "")
    let job = try #require(try await folder.jobs().last)
    #expect((job.kind, job.tags) == ("vacuum", ["tidy"]))
    let ended = try await folder.ended(job.id)
    #expect(ended.state == .completed, "\(ended.reason ?? "")")
    #expect(try folder.names(in: "spool/done").contains("\(job.id).job"))
    try folder.drop("data", as: "y.csv", into: "")
    try folder.drop("{kind: vacuum, store: main, source: y.csv}", as: "w.job", into: "")
    _ = try await folder.jobs()
    #expect(try folder.text("spool/corrupt/w.job.reason").contains("only imports have one"))
    #expect(try folder.names(in: "spool/active") == [])
    if geteuid() == 0 {
      try folder.write("{kind: vacuum, store: main}", to: "spool/tmp/u.job")
      try #require(chown(folder.file("spool/tmp/u.job"), 12_345, gid_t.max) == 0)
      try #require(rename(folder.file("spool/tmp/u.job"), folder.file("spool/incoming/u.job")) == 0)
      _ = try await folder.jobs()
      #expect(
        try folder.text("spool/corrupt/u.job.reason").contains("only operators may submit jobs of the kind vacuum"))
    }
    #expect(try await folder.jobs().count == 2)
    try await daemon.stop()
  }

  @Test("says in a ticket after what its job runs, and that it is held")
  func conditions() async throws {
    let folder = try DaemonFolder.withMembers()
    let daemon = try await folder.start()
    for (number, conditions) in [
      (1, "held: true"), (2, "after: [{job: 1, condition: ended}], timeout: 1h, tags: [late]"),
    ] {
      try folder.drop("number,name\n\(number),Ada\n", as: "\(number).csv", into: "")
      try folder.drop("{entity: Member, source: \(number).csv, \(conditions)}", as: "\(number).job", into: "")
      _ = try await folder.jobs()
    }
    let waiting = try await folder.jobs()
    #expect(waiting.map(\.state.isEnded) == [false, false])
    #expect(try await folder.http("POST", Endpoint.releaseJob(1).path).status == 200)
    #expect(try await folder.ended(2).state == .completed)
    #expect(try await folder.ended(1).state == .completed)
    #expect(try await folder.count("Member") == 2)
    try await daemon.stop()
  }
}
