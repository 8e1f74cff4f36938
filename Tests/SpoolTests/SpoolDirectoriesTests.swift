import Foundation
import Glibc
import Testing

@testable import Spool

@Suite("The spool's directories")
struct SpoolDirectoriesTests {
  @Test("are created, two for the group to write in and three to look into")
  func modes() throws {
    let spool = try TemporarySpool()
    for (name, mode) in [("incoming", 0o3770), ("tmp", 0o3770), ("active", 0o750), ("done", 0o750), ("corrupt", 0o750)]
    {
      var status = stat()
      try #require(stat(spool.url(name), &status) == 0)
      #expect(Int(status.st_mode & 0o7777) == mode, "\(name)")
    }
  }

  @Test("keep the mode they have, and a link in the place of one is an error that names it")
  func existing() throws {
    let spool = try TemporarySpool()
    try #require(chmod(spool.url("done"), 0o700) == 0)
    _ = try SpoolDirectories(path: spool.url(""))
    var status = stat()
    try #require(stat(spool.url("done"), &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o700)
    try #require(rmdir(spool.url("done")) == 0)
    try #require(symlink(spool.path, spool.url("done")) == 0)
    #expect(throws: SpoolError.notADirectory(path: spool.url("") + "/done")) {
      try SpoolDirectories(path: spool.url(""))
    }
  }

  @Test(
    "name a job's file by its number and its own name made harmless",
    arguments: [
      ("stops.txt", "7-stops.txt"), ("a b;c\"d.csv", "7-a_b_c_d.csv"), ("Straße 1.csv", "7-Straße_1.csv"),
      (".env", "7-_env"), ("-rf", "7--rf"), ("a\u{202E}b", "7-a_b"),
    ])
  func activeName(original: String, name: String) {
    #expect(SpoolDirectories.activeName(job: 7, originalName: original) == name)
    #expect(SpoolDirectories.job(ofActiveName: name) == 7)
  }

  @Test(
    "recognise names that aren't theirs",
    arguments: ["x.csv", "7", "7-", "07-x", "-1-x", "7-a/b", "../7-x", "7.jobs", ""])
  func notActive(name: String) throws {
    let spool = try TemporarySpool()
    #expect(SpoolDirectories.job(ofActiveName: name) == nil)
    #expect(throws: SpoolError.notAnActiveName(name)) { try spool.directories.finish(activeName: name, as: .done) }
    #expect(throws: SpoolError.notAnActiveName(name)) { try spool.directories.isActive(name) }
  }

  @Test("take a finished file to done/ with its ticket, and a second time there is nothing to do")
  func done() async throws {
    let spool = try TemporarySpool()
    try spool.drop("active/7-x.csv", "data")
    try spool.drop("active/7.job", "source: x.csv")
    #expect(try await spool.directories.finish(activeName: "7-x.csv", as: .done) == "7-x.csv")
    #expect(try spool.text("done/7-x.csv") == "data")
    #expect(try spool.text("done/7.job") == "source: x.csv")
    #expect(try spool.names("active") == [])
    #expect(try await spool.directories.finish(activeName: "7-x.csv", as: .done) == nil)
  }

  @Test("take a failed file to corrupt/ with what happened and what to do")
  func corrupt() throws {
    let spool = try TemporarySpool()
    try spool.drop("active/7-x.csv", "data")
    let reason = "Line 3 is binary. Export it again."
    #expect(try spool.directories.finish(activeName: "7-x.csv", as: .corrupt(reason: reason)) == "7-x.csv")
    let text = try spool.text("corrupt/7-x.csv.reason")
    #expect(text.contains(reason))
    #expect(text.contains("time: 20"))
    #expect(text.contains("entry: active/7-x.csv"))
  }

  @Test("never overwrite: a name that is taken gets a number, and so does a taken reason")
  func collisions() throws {
    let spool = try TemporarySpool()
    for expected in ["7-x.csv", "7-x.csv.2", "7-x.csv.3"] {
      try spool.drop("active/7-x.csv", expected)
      #expect(try spool.directories.finish(activeName: "7-x.csv", as: .done) == expected)
      #expect(try spool.text("done/" + expected) == expected)
    }
    try spool.drop("corrupt/8-x.csv.reason", "somebody's")
    try spool.drop("active/8-x.csv", "data")
    #expect(try spool.directories.finish(activeName: "8-x.csv", as: .corrupt(reason: "why")) == "8-x.csv.2")
    #expect(try spool.text("corrupt/8-x.csv.reason") == "somebody's")
    #expect(try spool.text("corrupt/8-x.csv.2.reason").contains("why"))
  }

  @Test("list what is active")
  func active() throws {
    let spool = try TemporarySpool()
    for name in ["7-x.csv", "8.job", ".9-y.part", "stray"] { try spool.drop("active/" + name) }
    var jobs: [String: Int64] = [:]
    try spool.directories.forEachActive { name, job in jobs[name] = job }
    #expect(jobs == ["7-x.csv": 7, "8.job": 8])
    #expect(try spool.directories.isActive("7-x.csv"))
    #expect(try !spool.directories.isActive("9-y"))
  }
}
