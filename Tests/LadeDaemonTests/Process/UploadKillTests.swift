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
    folder = try DaemonFolder(
      model: Members.model, recipes: Self.recipes, more: "web: { address: \"127.0.0.1:0\" }")
  }

  private func upload(_ number: Int, _ text: String) throws {
    let place = folder.file(place(number, text))
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try folder.write(text, to: self.place(number, text) + "/members.csv")
  }

  private func place(_ number: Int, _ text: String) -> String {
    "state/uploads/\(geteuid())/\(number)-\(text.utf8.count)-5"
  }

  private func csv(_ number: Int) -> String { "number,name\n\(number),Ada\n" }

  /// A browser that has signed in.
  private struct Visitor: Sendable {
    let port: UInt16
    let cookie: String

    func post(_ uri: String, body: String) async throws -> TCPAnswer {
      try await tcp("POST", uri, port: port, headers: ["Cookie": cookie, "Sec-Fetch-Site": "same-origin"], body: body)
    }

    /// Has an upload imported by its page.
    /// - Returns: the job's number; nil if there is no such upload, or another request has it.
    func importUpload(_ number: Int) async throws -> Int64? {
      let answer = try await post("/upload/\(number)/import", body: "recipe=members")
      if answer.status == 404 || answer.status == 409 { return nil }
      guard answer.status == 303,
        let job = answer.headers["location"]?.split(separator: "/").last.flatMap({ Int64($0) })
      else {
        throw ProgramFailure(program: "laded", arguments: ["\(number)"], what: "\(answer.status)", error: answer.text)
      }
      return job
    }
  }

  private func visitor() async throws -> Visitor {
    let made: WebLink = try await folder.got("POST", .webSession)
    let parts = try #require(made.url.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/sign-in\?token=[0-9a-f]+)/))
    let port = try #require(UInt16(parts.1))
    let signedIn = try await tcp(String(parts.2), port: port)
    let cookie = try #require(signedIn.headers["set-cookie"]).prefix { $0 != ";" }
    return Visitor(port: port, cookie: String(cookie))
  }

  private func uploads() throws -> [String] { try folder.names(in: "state/uploads/\(geteuid())") }

  @Test(
    "that is killed between any two steps of importing one has its rows once, however often it is imported")
  func kills() async throws {
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: Self.everywhere)
    var round = 0
    var isKilled = true
    while isKilled {
      round += 1
      try #require(round < 200, "there is no end")
      try upload(round, csv(round))
      try point.arm(nil)
      let daemon = try folder.launch(point.environment)
      try await daemon.ready()
      let browser = try await visitor()
      try point.arm(round: round)
      // No answer is one, too.
      _ = try? await browser.importUpload(round)
      _ = try await folder.haveAllEnded()
      daemon.terminate()
      isKilled = try await daemon.ended() == .signal(SIGKILL)
      let next = try await folder.start()
      // It is gone where a job has its file.
      _ = try await visitor().importUpload(round)
      #expect(try await folder.haveAllEnded())
      #expect(try uploads() == [], "round \(round)")
      #expect(try await folder.sqlite("SELECT count(*) FROM Member WHERE number = \(round)") == "1", "round \(round)")
      try await next.stop()
    }
    #expect(KillPoint.changes(in: round) >= 5, "so many changes are met")
    #expect(try folder.names(in: "spool/active") == [])
  }

  @Test("imports one that is submitted many times at once by one job")
  func atOnce() async throws {
    let daemon = try await folder.start()
    try upload(1, csv(1))
    let browser = try await visitor()
    let ids = try await withThrowingTaskGroup(of: Int64?.self) { group in
      for _ in 0..<8 { group.addTask { try await browser.importUpload(1) } }
      return try await group.reduce(into: Set<Int64>()) { if let id = $1 { $0.insert(id) } }
    }
    #expect(ids.count == 1)
    #expect(try await folder.ended(try #require(ids.first)).state == .completed)
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "1")
    #expect(try uploads() == [])
    try await daemon.stop()
  }

  @Test("removes what is left of an imported one, when it is asked for again or starts")
  func leftovers() async throws {
    let daemon = try await folder.start()
    let browser = try await visitor()
    try upload(1, csv(1))
    let first = try #require(try await browser.importUpload(1))
    #expect(try await folder.ended(first).state == .completed)
    // As if it hadn't been removed.
    try upload(1, csv(1))
    #expect(try await browser.importUpload(1) == first)
    #expect(try uploads() == [])
    try upload(1, csv(1))
    try upload(2, csv(2))
    try await daemon.stop()
    let next = try await folder.start()
    #expect(try uploads() == ["2-\(csv(2).utf8.count)-5"], "the other one wasn't imported")
    let second = try #require(try await visitor().importUpload(2))
    #expect(second != first)
    try await next.stop()
  }

  @Test("imports one again whose job was cancelled before it had the file")
  func withoutFile() async throws {
    try await folder.start().stop()
    try upload(1, csv(1))
    let point = try KillPoint(in: folder, watch: "/spool/active")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    let browser = try await visitor()
    // The first change there is that of the copy.
    try point.arm(1)
    let answer = try? await browser.importUpload(1)
    #expect(answer == nil)
    #expect(try await daemon.ended() == .signal(SIGKILL))
    let next = try await folder.start()
    let lost = try #require(try await folder.listedJobs().first)
    #expect(lost.state == .cancelled)
    let second = try await folder.ended(try #require(try await visitor().importUpload(1)))
    #expect(second.id != lost.id && second.state == .completed)
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "1")
    try await next.stop()
  }

  @Test("has one after a loss of power when its last part has been taken")
  func power() async throws {
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

    let browser = try await visitor()
    let begun = try await browser.post("/upload", body: "name=a.csv&size=6&modified=5")
    let id = try #require(begun.text.firstMatch(of: /"id":"(\d+)"/)?.1)
    for offset in [0, 3] {
      let part = try await browser.post("/upload/\(id)/part?offset=\(offset)", body: "abc")
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
