import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite(
  "A folder that several daemons take files from", .startsDaemons, .serialized,
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
struct SharedFolderTests {
  /// The folder that the hosts see.
  private final class Shared {
    let path: String

    /// - Parameter isElsewhere: whether it is on another file system than the spools.
    init(isElsewhere: Bool = false) throws {
      let parent = isElsewhere ? "/dev/shm/" : FileManager.default.temporaryDirectory.path + "/"
      path = parent + "lade-shared-" + UUID().uuidString
      try FileManager.default.createDirectory(atPath: path + "/members", withIntermediateDirectories: true)
      for folder in [path, path + "/members"] { try #require(chmod(folder, 0o3770) == 0) }
    }

    deinit {
      do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path): \(error)") }
    }

    /// Hands a file over: under a dot name, then renamed.
    func drop(_ text: String, as name: String, into place: String = "members") throws {
      let folder = path + "/" + place
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/." + name))
      try #require(rename(folder + "/." + name, folder + "/" + name) == 0)
    }

    func names(_ place: String = "members") throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path + "/" + place).sorted()
    }
  }

  /// A daemon with a host's name, whose queue and store are in a server.
  private func folder(
    _ server: PostgresCluster, host: String, _ shared: Shared, settle: String = "0s", more: String = ""
  ) throws -> DaemonFolder {
    let folder = try DaemonFolder.withMembers(
      """
      intake: { settle: \(settle) }
      rescan_interval: 1s
      queue: { postgres: "\(server.address())", schema: work, host: \(host), lease: 3s, incoming: \(shared.path)\(more) }
      """)
    let text = try folder.text("lade.yaml")
      .replacing("path: main.sqlite", with: "postgres: \"\(server.address())\", schema: club")
    try folder.write(text, to: "lade.yaml")
    return folder
  }

  private func members(_ server: PostgresCluster) async throws -> String {
    try await server.sql("SELECT count(*) || ' ' || count(DISTINCT number) FROM club.\"Member\"")
  }

  @Test("has each file imported once, each ticket done once, and what is refused in one place")
  func together() async throws {
    let server = try PostgresCluster()
    let shared = try Shared()
    let (one, two) = (try folder(server, host: "one", shared), try folder(server, host: "two", shared))
    let (first, second) = (try await one.start(), try await two.start())
    for number in 0..<120 { try shared.drop("number,name\n\(number),hot\n", as: "hot-\(number).csv") }
    for number in 120..<140 {
      try shared.drop("number,name\n\(number),cold\n", as: "cold-\(number).csv", into: "")
      try shared.drop("{entity: Member, mode: insert, source: cold-\(number).csv}", as: "\(number).job", into: "")
      try shared.drop("nonsense", as: "bad-\(number).job", into: "")
    }
    while try await members(server) != "140 140" || !shared.names().isEmpty {}
    let isAtRest = #"SELECT count(*) FROM work."Job" WHERE state <> 'completed' OR origin IS NOT NULL"#
    while try await server.sql(isAtRest) != "0" {}
    #expect(try await server.sql(#"SELECT count(*) FROM work."Job""#) == "140")
    while try shared.names("") != ["members"] {}
    let refused = try (one.names(in: "spool/corrupt") + two.names(in: "spool/corrupt")).filter { $0.hasSuffix(".job") }
    #expect(refused.sorted() == (120..<140).map { "bad-\($0).job" })
    while try !(one.names(in: "spool/active") + two.names(in: "spool/active")).isEmpty {}
    let done = try one.names(in: "spool/done") + two.names(in: "spool/done")
    #expect(done.count == 160 && Set(done).count == 160)
    try await first.stop()
    try await second.stop()
  }

  /// Gives a daemon's host another name.
  private func call(_ folder: DaemonFolder, _ name: String, instead former: String) throws {
    let text = try folder.text("lade.yaml")
    try folder.write(text.replacing("host: \(former),", with: "host: \(name),"), to: "lade.yaml")
  }

  @Test(
    """
    loses no file and imports none twice when a daemon is killed at any step of taking it, whether it comes back or not, also \
    under another name
    """,
    arguments: [(isElsewhere: false, isRenamed: false), (true, false), (false, true)])
  func killed(_ how: (isElsewhere: Bool, isRenamed: Bool)) async throws {
    let isElsewhere = how.isElsewhere
    let server = try PostgresCluster()
    let shared = try Shared(isElsewhere: isElsewhere)
    let (one, two) = (try folder(server, host: "one", shared), try folder(server, host: "two", shared))
    try await one.start().stop()
    let name = URL(fileURLWithPath: shared.path).lastPathComponent
    let point = try KillPoint(in: one, watch: "/\(name):/spool/active:/spool/done:/spool/corrupt")
    var round = 0
    var wasKilled = true
    var takenOver = 0
    while wasKilled {
      round += 1
      try point.arm(round: round)
      try shared.drop("number,name\n\(round * 2),hot\n", as: "hot-\(round).csv")
      try shared.drop("number,name\n\(round * 2 + 1),cold\n", as: "cold-\(round).csv", into: "")
      try shared.drop("{entity: Member, mode: insert, source: cold-\(round).csv}", as: "\(round).job", into: "")
      if how.isRenamed {
        let former = round == 1 ? "one" : "one-\(round - 1)"
        try call(one, "one-\(round)", instead: former)
        // The one that was killed in the round before counts as there until its lease ends.
        let isHeld = #"SELECT FROM work."QueueDaemon" JOIN work."QueueLease" USING (incarnation) WHERE until > now()"#
        while try await server.sql("SELECT EXISTS (\(isHeld) AND host = '\(former)')") == "t" {}
      }
      let daemon = try one.launch(point.environment)
      let areImported = "SELECT count(*) = 2 FROM club.\"Member\" WHERE number / 2 = \(round)"
      if try await daemon.started.value() == .ready {
        while daemon.ending == nil, try await server.sql(areImported) != "t" || !one.names(in: "spool/active").isEmpty {
        }
        daemon.terminate()
      }
      wasKilled = try await daemon.ended() == .signal(SIGKILL)
      // What is still there is taken over, and what has been begun with waits for its host.
      let second = try await two.start()
      while try !shared.names().isEmpty || shared.names("").contains(where: { $0.hasSuffix(".job") }) {}
      let again = try await one.start()
      while try await server.sql(areImported) != "t" || !one.names(in: "spool/active").isEmpty {}
      let takeOvers = #"SELECT count(*) FROM work."JobTransition" WHERE reason LIKE 'taken over%'"#
      takenOver = Int(try await server.sql(takeOvers)) ?? 0
      try await again.stop()
      try await second.stop()
    }
    #expect(KillPoint.changes(in: round) >= (isElsewhere ? 16 : 8), "so many changes are met")
    #expect(takenOver > 0)
    #expect(try await members(server) == "\(round * 2) \(round * 2)")
    #expect(try await server.sql(#"SELECT count(*) FROM work."Job" WHERE state = 'completed'"#) == "\(round * 2)")
    #expect(try await server.sql(#"SELECT count(*) FROM work."Job""#) == "\(round * 2)")
    for folder in [one, two] {
      #expect(try folder.names(in: "spool/active") == [])
      #expect(try folder.names(in: "spool/corrupt") == [])
    }
    let done = try one.names(in: "spool/done") + two.names(in: "spool/done")
    #expect(Set(done).count == round * 3, "\(done.sorted())")
  }

  @Test("leaves its files to the host that has them, and to it under its next name")
  func renamed() async throws {
    let server = try PostgresCluster()
    let shared = try Shared()
    let (one, two) = (try folder(server, host: "one", shared), try folder(server, host: "two", shared))
    let daemon = try await one.start()
    #expect(try await one.ladectl("pause", "import").status == 0)
    try shared.drop("number,name\n1,Ada\n", as: "a.csv")
    while try one.names(in: "spool/active").isEmpty {}
    try await daemon.stop()
    try call(one, "three", instead: "one")
    let second = try await two.start()
    let again = try await one.start()
    #expect(try await one.ladectl("resume", "import").status == 0)
    let job = try await one.job(of: "a.csv")
    #expect(job.state == .completed && job.host == "three")
    #expect(try one.names(in: "spool/done").count == 1)
    try await again.stop()
    try await second.stop()
  }

  @Test("isn't taken from by a second daemon under the same name, which starts as soon as it has another")
  func sameName() async throws {
    let server = try PostgresCluster()
    let shared = try Shared()
    let (one, other) = (try folder(server, host: "one", shared), try folder(server, host: "one", shared))
    let first = try await one.start()
    let refused = try other.launch()
    #expect(try await refused.ended() == .exit(78))
    #expect(try refused.log.contains("host one is that of another state folder"))
    try call(other, "two", instead: "one")
    let second = try await other.start()
    try shared.drop("number,name\n1,Ada\n", as: "a.csv")
    while try await members(server) != "1 1" {}
    try await first.stop()
    try await second.stop()
    // What isn't an identifier is refused, and never replaced.
    try one.write("nonsense\n", to: "state/folder-id")
    let damaged = try one.launch()
    #expect(try await damaged.ended() == .exit(65))
    #expect(try one.text("state/folder-id") == "nonsense\n")
  }

  @Test("is found when it comes, and isn't made")
  func missing() async throws {
    let server = try PostgresCluster()
    let shared = try Shared()
    let aside = shared.path + "-aside"
    try #require(rename(shared.path, aside) == 0)
    let one = try folder(server, host: "one", shared)
    let daemon = try await one.start()
    let words = "\(shared.path) isn't there. Is it mounted?"
    while try await !one.http("GET", "/v1/ready").text.contains(words) {}
    #expect(!FileManager.default.fileExists(atPath: shared.path))
    #expect(try daemon.log.contains(words))
    #expect(try await one.ladectl("status").text.contains(words))
    try #require(rename(aside, shared.path) == 0)
    try shared.drop("number,name\n1,Ada\n", as: "a.csv")
    #expect(try await one.job(of: "a.csv").state == .completed)
    try await daemon.stop()
  }
}
