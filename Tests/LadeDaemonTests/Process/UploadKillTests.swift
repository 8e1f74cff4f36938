import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

/// The files are put where uploads are by the test itself: a folder whose name says all is an upload.
@Suite("A daemon with uploads", .startsDaemons)
struct UploadKillTests {
  private static let recipes = "  members: { store: main, entity: Member, mode: insert }\n"
  private static let everywhere = "/queue.sqlite:/spool/active:/uploads/"

  private let folder: DaemonFolder

  init() throws {
    folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
  }

  /// - Returns: what names it in a submission.
  private func upload(_ number: Int, _ text: String) throws -> String {
    let place = folder.file(place(number, text))
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try folder.write(text, to: self.place(number, text) + "/members.csv")
    return "upload:\(number)"
  }

  private func place(_ number: Int, _ text: String) -> String {
    "state/uploads/\(geteuid())/\(number)-\(text.utf8.count)-5"
  }

  private func csv(_ number: Int) -> String { "number,name\n\(number),Ada\n" }

  private func submit(_ source: String) async throws -> HTTPAnswer {
    let body = try WireFormat.encode(JobSubmission(source: source, recipe: "members"))
    return try await folder.http("POST", "/v1/jobs", String(decoding: body, as: UTF8.self))
  }

  private func job(of source: String) async throws -> Job {
    let answer = try await submit(source)
    guard answer.status == 201 else {
      throw ProgramFailure(program: "laded", arguments: [source], what: "\(answer.status)", error: answer.text)
    }
    return try answer.decoded()
  }

  private func uploads() throws -> [String] { try folder.names(in: "state/uploads/\(geteuid())") }

  @Test(
    "that is killed between any two steps of importing one has its rows once, however often it is imported",
    .timeLimit(.minutes(20)))
  func kills() async throws {
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: Self.everywhere)
    var round = 0
    var isKilled = true
    while isKilled {
      round += 1
      try #require(round < 100, "there is no end")
      let source = try upload(round, csv(round))
      try point.arm(nil)
      let daemon = try folder.launch(point.environment)
      try await daemon.ready()
      try point.arm(round)
      // No answer is one, too.
      _ = try? await job(of: source)
      _ = try await folder.haveAllEnded()
      daemon.terminate()
      isKilled = try await daemon.ended() == .signal(SIGKILL)
      let next = try await folder.start()
      // It is gone where the job has its file, and is found by its number all the same.
      let again = try await folder.ended(try await job(of: source).id)
      #expect(again.state == .completed, "round \(round): \(again.reason ?? "")")
      #expect(try uploads() == [], "round \(round)")
      #expect(try await folder.sqlite("SELECT count(*) FROM Member WHERE number = \(round)") == "1", "round \(round)")
      try await next.stop()
    }
    #expect(round > 5, "so many changes are met")
    #expect(try folder.names(in: "spool/active") == [])
  }

  @Test("imports one that is submitted many times at once by one job", .timeLimit(.minutes(20)))
  func atOnce() async throws {
    let daemon = try await folder.start()
    let source = try upload(1, csv(1))
    let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
      for _ in 0..<8 { group.addTask { try await job(of: source).id } }
      return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try await folder.ended(try #require(ids.first)).state == .completed)
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "1")
    #expect(try uploads() == [])
    try await daemon.stop()
  }

  @Test("removes what is left of an imported one, when it is asked for again or starts", .timeLimit(.minutes(20)))
  func leftovers() async throws {
    let daemon = try await folder.start()
    let first = try await folder.ended(try await job(of: try upload(1, csv(1))).id)
    // As if it hadn't been removed.
    let again = try await job(of: try upload(1, csv(1)))
    #expect(again.id == first.id && again.state == .completed)
    #expect(try uploads() == [])
    _ = try upload(1, csv(1))
    _ = try upload(2, csv(2))
    try await daemon.stop()
    let next = try await folder.start()
    #expect(try uploads() == ["2-\(csv(2).utf8.count)-5"], "the other one wasn't imported")
    #expect(try await job(of: "upload:2").id != first.id)
    try await next.stop()
  }

  @Test("imports one again whose job was cancelled before it had the file", .timeLimit(.minutes(20)))
  func withoutFile() async throws {
    try await folder.start().stop()
    let source = try upload(1, csv(1))
    let point = try KillPoint(in: folder, watch: "/spool/active")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    // The first change there is that of the copy.
    try point.arm(1)
    let answer = try? await submit(source)
    #expect(answer == nil)
    #expect(try await daemon.ended() == .signal(SIGKILL))
    let next = try await folder.start()
    let lost = try #require(try await folder.listedJobs().first)
    #expect(lost.state == .cancelled)
    let second = try await folder.ended(try await job(of: source).id)
    #expect(second.id != lost.id && second.state == .completed)
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "1")
    try await next.stop()
  }

  @Test("has one after a loss of power when its last part has been taken", .timeLimit(.minutes(20)))
  func power() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: Self.recipes, more: "web: { address: \"127.0.0.1:0\" }")
    try await folder.start().stop()
    var start = CrashDisk.Tree()
    var inodes: [UInt64: DiskJournal.FileID] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      var status = stat()
      try #require(lstat(folder.file(path), &status) == 0)
      guard status.st_mode & S_IFMT != S_IFDIR else {
        start.nodes[path] = .folder
        continue
      }
      inodes[UInt64(status.st_ino)] = inodes.count + 1
      start.nodes[path] = .file(inodes.count)
    }
    let shim = try FaultShim(in: folder, watch: [])
    let daemon = try folder.launch(shim.recording)
    try await daemon.ready()

    let made: WebLink = try await folder.got("POST", .webSession)
    let parts = try #require(made.url.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/sign-in\?token=[0-9a-f]+)/))
    let port = try #require(UInt16(parts.1))
    let signedIn = try await tcp(String(parts.2), port: port)
    let cookie = String(try #require(signedIn.headers["set-cookie"]).prefix { $0 != ";" })
    let headers = ["Cookie": cookie, "Sec-Fetch-Site": "same-origin"]
    let begun = try await tcp("POST", "/upload", port: port, headers: headers, body: "name=a.csv&size=6&modified=5")
    let id = try #require(begun.text.firstMatch(of: /"id":"(\d+)"/)?.1)
    for offset in [0, 3] {
      let part = try await tcp(
        "POST", "/upload/\(id)/part?offset=\(offset)", port: port, headers: headers, body: "abc")
      #expect(part.status == 200, "\(part.text)")
    }
    let journal = try DiskJournal(
      Data(contentsOf: URL(fileURLWithPath: shim.journal)), root: folder.path, files: inodes)
    try await daemon.stop()

    let disk = CrashDisk(start, journal)
    var random = SeededGenerator(seed: 1)
    let left = disk.state(before: disk.count, .nothing, &random, tears: false)
    guard case .file(let file)? = left.nodes["state/uploads/\(geteuid())/\(id)-6-5/a.csv"] else {
      Issue.record("it isn't there: \(left.nodes.keys.sorted())")
      return
    }
    #expect(left.contents[file] == Data("abcabc".utf8))
  }
}
