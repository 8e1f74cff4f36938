import Foundation
import Testing

@testable import Spool

@Suite("What the spool keeps of jobs that have ended")
struct KeptFilesTests {
  /// A spool with the file of job 7 in `done/`, that of job 8 in `corrupt/`, and those of others.
  private func filled() throws -> TemporarySpool {
    let spool = try TemporarySpool()
    for (name, outcome) in [
      ("7-a.csv", SpoolOutcome.done), ("7.job", .done), ("70-a.csv", .done), ("8-b.csv", .corrupt(reason: "so")),
    ] {
      try Data("id\n1\n".utf8).write(to: URL(fileURLWithPath: spool.url("active/" + name)))
      _ = try spool.directories.finish(activeName: name, as: outcome)
    }
    return spool
  }

  @Test("a job's file, ticket and reason are removed, those of others stay, and what isn't there is no error")
  func removal() throws {
    let spool = try filled()
    #expect(try spool.names("done") == ["7-a.csv", "7.job", "70-a.csv"])
    try spool.directories.removeKept(job: 7, activeName: "7-a.csv")
    #expect(try spool.names("done") == ["70-a.csv"])
    #expect(try spool.names("corrupt") == ["8-b.csv", "8-b.csv.reason"])
    try spool.directories.removeKept(job: 8, activeName: "8-b.csv")
    #expect(try spool.names("corrupt") == [])
    try spool.directories.removeKept(job: 8, activeName: "8-b.csv")
    try spool.directories.removeKept(job: 9, activeName: nil)
    #expect(try spool.names("done") == ["70-a.csv"])
  }

  @Test("old files are removed from done/ by the time they came there, whatever time their writers gave them")
  func age() throws {
    let spool = try filled()
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: spool.url("done/7-a.csv"))
    #expect(try spool.directories.removeDone(olderThan: .seconds(60)) == 0)
    // Everything came there longer ago than in a minute from now.
    #expect(try spool.directories.removeDone(olderThan: .seconds(-60)) == 3)
    #expect(try spool.names("done") == [])
    #expect(try spool.names("corrupt") == ["8-b.csv", "8-b.csv.reason"])
  }

  @Test("folders in done/ are removed if they are those of sets, and others stay with what is in them")
  func folders() throws {
    let spool = try filled()
    for folder in ["9-timetable-1", "2025", "2025/deeper"] {
      try FileManager.default.createDirectory(
        atPath: spool.url("done/" + folder), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
      try Data("id\n1\n".utf8).write(to: URL(fileURLWithPath: spool.url("done/\(folder)/a.csv")))
    }
    #expect(try spool.directories.removeDone(olderThan: .seconds(-60)) == 4)
    #expect(try spool.names("done") == ["2025"])
    #expect(try spool.names("done/2025") == ["a.csv", "deeper"])
  }

  @Test("a removal ends as soon as it is told to, and the rest stays for the next one")
  func ended() throws {
    let spool = try filled()
    var asked = 0
    let removed = try spool.directories.removeDone(olderThan: .seconds(-60)) {
      asked += 1
      return asked < 2
    }
    // It didn't look at any file after that.
    #expect(removed == 1 && asked == 2)
    #expect(try spool.names("done").count == 2)
    #expect(try spool.directories.removeDone(olderThan: .seconds(-60)) == 2)
  }

  @Test("files and their space are counted")
  func use() throws {
    let spool = try filled()
    let uses = try spool.directories.keptUse()
    #expect(uses["done"]?.files == 3 && uses["corrupt"]?.files == 2)
    #expect(uses.values.allSatisfy { $0.bytes > 0 })
    // Its folder goes with it.
    withExtendedLifetime(spool) {}
  }
}
