import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Jobs

@Suite(
  "Files in the store of a shared queue",
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"), .timeLimit(.minutes(30)))
struct FilePartsTests {
  private func text(_ parts: FileParts, _ job: Int64, _ name: String, to length: Int64 = .max) throws -> String {
    var text = ""
    try parts.read(job, name, to: length) { bytes, closing in
      text += String(decoding: bytes, as: UTF8.self) + (closing.map { "[" + String(decoding: $0, as: UTF8.self) } ?? "")
    }
    return text
  }

  @Test("are read as they were last written, piece by piece, and each by itself")
  func pieces() async throws {
    let member = try await QueueMember(PostgresCluster.newSchema())
    let parts = FileParts(member.coordinator, try #require(member.queue.membership))
    for (start, piece) in [(0, "one"), (3, "two"), (6, "three")] {
      try parts.write(Data(piece.utf8), of: 7, FileParts.source, at: Int64(start), isOfRun: false)
    }
    try parts.write(Data("bad".utf8), of: 7, "7.rejects.csv", at: 0, closing: Data("]".utf8), isOfRun: true)
    try parts.write(Data("other".utf8), of: 8, FileParts.source, at: 0, isOfRun: false)
    #expect(try text(parts, 7, FileParts.source) == "onetwothree")
    #expect(try text(parts, 7, FileParts.source, to: 6) == "onetwo")
    // What an attempt had written past its last commit.
    try parts.write(Data("TWO".utf8), of: 7, FileParts.source, at: 3, isOfRun: false)
    #expect(try text(parts, 7, FileParts.source) == "oneTWO")
    try parts.cut(7, FileParts.source, to: 3, isOfRun: false)
    #expect(try text(parts, 7, FileParts.source) == "one" && text(parts, 7, "7.rejects.csv") == "bad[]")
    #expect(try parts.rejectFiles(of: 7) == ["7.rejects.csv"] && parts.rejectFiles(of: 8) == [])
    #expect(try text(parts, 8, FileParts.source) == "other")
    #expect(try await member.stop().isEmpty)
  }

  @Test("aren't changed by a daemon any more whose lease another has found over")
  func superseded() async throws {
    let schema = PostgresCluster.newSchema()
    var settings = QueueMember.Settings()
    settings.host = "one"
    let stopped = try await QueueMember(schema, settings)
    let parts = FileParts(stopped.coordinator, try #require(stopped.queue.membership))
    try parts.write(Data("one".utf8), of: 7, "7.rejects.csv", at: 0, isOfRun: true)
    stopped.queue.sharing?.end()
    try await PostgresCluster.shared().sql(#"UPDATE "\#(schema)"."QueueLease" SET until = '2000-01-01'"#)
    settings.host = "two"
    let other = try await QueueMember(schema, settings)
    #expect(throws: SupersededSave.self) {
      try parts.write(Data("two".utf8), of: 7, "7.rejects.csv", at: 3, isOfRun: true)
    }
    #expect(throws: SupersededSave.self) { try parts.cut(7, "7.rejects.csv", to: 0, isOfRun: true) }
    // One that hadn't written anything before doesn't begin to.
    let late = FileParts(stopped.coordinator, try #require(stopped.queue.membership))
    #expect(throws: (any Error).self) {
      try late.write(Data("two".utf8), of: 7, "7.rejects.csv", at: 0, isOfRun: true)
    }
    let theirs = FileParts(other.coordinator, try #require(other.queue.membership))
    #expect(try text(theirs, 7, "7.rejects.csv") == "one")
    #expect(try await other.stop().isEmpty)
    _ = await stopped.queue.drain(timeout: .seconds(60))
  }

  @Test("are refused when they aren't what was written")
  func damaged() async throws {
    let schema = PostgresCluster.newSchema()
    let member = try await QueueMember(schema)
    let parts = FileParts(member.coordinator, try #require(member.queue.membership))
    let folder = try ScratchDirectory()
    try Data("number\n1\n".utf8).write(to: folder.url.appendingPathComponent("7-a.csv"))
    let received = Shared<String>()
    var environment = JobEnvironment(
      dataStores: [:], activeDirectory: folder.url, rejectsDirectory: folder.url, logger: member.queue.logger)
    environment.sharedFileLimit = 9
    environment.sharesFile = { _ in true }
    environment.receiveFile = { name, _, copy in
      let path = folder.url.appendingPathComponent("copy-" + name).path
      try Data().write(to: URL(fileURLWithPath: path))
      let handle = try #require(FileHandle(forWritingAtPath: path))
      try copy(handle.fileDescriptor)
      received.append(try String(contentsOfFile: path, encoding: .utf8))
    }
    let files = SharedFiles(parts, environment)
    var job = Job(
      id: 7, kind: ImportOperation.kind, lane: "import", state: .scheduled, submittedAt: Date(), submittedBy: "anna",
      maxAttempts: 1)
    job.isAwaitingFile = true
    job.activeName = "7-a.csv"
    let file = try #require(try files.send(job, "7-a.csv"))
    #expect(file.size == 9 && SharedFile(rawValue: file.rawValue) == file)
    job.sharedFile = file
    try files.fetch(job)
    #expect(received.all == ["number\n1\n"])
    for damage in [
      #"UPDATE "\#(schema)"."JobFilePart" SET bytes = 'number 22'"#, #"DELETE FROM "\#(schema)"."JobFilePart""#,
    ] {
      try await PostgresCluster.shared().sql(damage)
      #expect(throws: JobFailure.self) { try files.fetch(job) }
    }
    #expect(received.all == ["number\n1\n"])
    // Longer than the limit, a replay's, or not to leave: it stays.
    job.id = 8
    try Data("number\n10\n".utf8).write(to: folder.url.appendingPathComponent("8-a.csv"))
    #expect(try files.send(job, "8-a.csv") == nil)
    job.id = 9
    job.origin = .replay(id: "r", file: "1-a.csv")
    #expect(try files.send(job, "7-a.csv") == nil)
    #expect(try await member.stop().isEmpty)
  }
}
