import ControlAPI
import Foundation
import Glibc
import Testing

/// Queries that would run for years: products of what everyone's manager manages.
@Suite("Control: queries without end", .startsDaemons)
struct QueryLimitTests {
  private static let recipes = "  members: { store: main, entity: Member, batch_size: 500 }\n"
  /// All have one manager, so that every team is of all.
  static let csv =
    "number,name,manager\n0,first,0\n" + (1..<3_000).map { "\($0),member \($0),0\n" }.joined()
  static let endless =
    "SUBQUERY(manager.team, $a, SUBQUERY(manager.team, $b, $b.number + $a.number < 0).@count > 0).@count > 0"

  private func started(_ queries: String) async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes, more: "queries: { \(queries) }")
    let daemon = try await folder.start()
    let job = try await folder.imported(Self.csv, as: "members.csv", into: "members")
    try #require(job.state == .completed, "\(job.reason ?? "")")
    return (folder, daemon)
  }

  private func uri(_ endpoint: Endpoint) -> String {
    endpoint.path + "?" + ObjectQuery(entity: "Member", predicate: Self.endless).queryString.text
  }

  @Test("are ended after their time, and named")
  func limit() async throws {
    let (folder, daemon) = try await started("operators: 200ms, members: 200ms")
    let watch = Endpoint.watch.path + "?" + WatchQuery(entity: "Member", predicate: Self.endless).queryString.text
    for uri in [uri(.count(entity: "Member")), uri(.objects(entity: "Member")), watch] {
      let answer = try await folder.http("GET", uri)
      #expect(answer.status == 422, "\(answer.text)")
      let problem: Problem = try answer.decoded()
      #expect(problem.code == "time_limit" && problem.detail.contains("200ms"))
      #expect(problem.hint?.contains("queries.operators") == true)
    }
    try await daemon.stop()
  }

  @Test("end when their clients have gone, so that others can ask")
  func gone() async throws {
    let (folder, daemon) = try await started("operators: 24h")
    // More than the connections that read.
    for _ in 0..<12 { try folder.askAndHangUp(uri(.count(entity: "Member"))) }
    #expect(try await folder.count("Member", where: "number < 10") == 10)
    try await daemon.stop()
  }

  @Test("don't hold up a shutdown")
  func shutdown() async throws {
    let (folder, daemon) = try await started("operators: 24h")
    let watch = WatchQuery(entity: "Member", predicate: Self.endless).queryString.text
    let answers = try [uri(.count(entity: "Member")), Endpoint.watch.path + "?" + watch].map {
      try folder.asking("GET", $0)
    }
    // One thread reads what comes on every connection: by these answers it has read both questions.
    for _ in 0..<2 { _ = try await folder.count("Member") }
    try await daemon.stop()
    for answer in answers {
      let problem = try await answer.value
      #expect(problem.status == 503, "\(problem.text)")
      #expect(try problem.decoded(as: Problem.self).detail.contains("stopping"))
    }
  }

  @Test("that stand are ended, and named, when what was saved takes too long to examine")
  func standing() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: Self.recipes, more: "queries: { operators: 1s, members: 1s }")
    let daemon = try await folder.start()
    let query = WatchQuery(entity: "Member", predicate: Self.endless).queryString.text
    var events = try folder.events(Endpoint.watch.path + "?" + query).makeAsyncIterator()
    // There is nothing yet.
    #expect(await events.next()?.name == "result")
    let job = try await folder.imported(Self.csv, as: "members.csv", into: "members")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    var last: ServerSentEvent?
    while let event = await events.next() { last = event }
    #expect(last?.name == "problem" && last?.data.contains("time_limit") == true, "\(last as Any)")
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "3000")
    try await daemon.stop()
  }

  @Test("of an import's filter end within a record when the job is cancelled, and when the daemon stops")
  func filters() async throws {
    // The time is a product of both lengths.
    let pattern = "*" + String(repeating: "a?", count: 50_000) + "b*"
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, filter: \"name LIKE '\(pattern)'\" }\n")
    let daemon = try await folder.start()
    let csv = "number,name\n1,\(String(repeating: "a", count: 8 << 20))\n"
    for name in ["cancelled.csv", "stopped.csv"] {
      try folder.drop(csv, as: name, into: "members")
      let job = try #require(try await folder.jobs().first { $0.source == name })
      _ = try await JobEvents(of: job.id, socket: folder.file("s")).first { $0.state == .running }
      if name == "cancelled.csv" {
        #expect(try await folder.ladectl("cancel", "\(job.id)").status == 0)
        #expect(try await folder.ended(job.id).state == .cancelled)
      }
    }
    try await daemon.stop()
    #expect(
      try await folder.sqlite("SELECT state FROM Job ORDER BY id DESC LIMIT 1", in: "state/queue.sqlite")
        == "'available'")
  }

  private func export(_ folder: DaemonFolder) async throws -> Job {
    let submission =
      #"{"kind": "export", "store": "main", "entity": "Member", "options": {"where": "\#(Self.endless)"}}"#
    return try await folder.http("POST", Endpoint.jobs.path, submission).decoded()
  }

  @Test("of an export end when the job is cancelled, and when the daemon stops")
  func exports() async throws {
    let (folder, daemon) = try await started("exports: 24h")
    let first = try await export(folder)
    _ = try await JobEvents(of: first.id, socket: folder.file("s")).first { $0.state == .running }
    #expect(try await folder.ladectl("cancel", "\(first.id)").status == 0)
    #expect(try await folder.ended(first.id).state == .cancelled)
    let second = try await export(folder)
    _ = try await JobEvents(of: second.id, socket: folder.file("s")).first { $0.state == .running }
    try await daemon.stop()
  }

  @Test("of an export end when the next record takes too long")
  func pause() async throws {
    let (folder, daemon) = try await started("exports: 300ms")
    let job = try await folder.ended(export(folder).id)
    #expect(job.state == .discarded && job.failureCode == "time_limit", "\(job.reason ?? "")")
    #expect(job.reason?.contains("300ms") == true)
    try await daemon.stop()
  }

  @Test("are refused by name where SQLite can't take them")
  func complex() async throws {
    let (folder, daemon) = try await started("operators: 1m")
    let sort = Array(repeating: SortKey(keyPath: "name", ascending: true), count: 2_100)
    let uri =
      Endpoint.objects(entity: "Member").path + "?" + ObjectQuery(entity: "Member", sort: sort).queryString.text
    let answer = try await folder.http("GET", uri)
    #expect(answer.status == 422, "\(answer.text)")
    #expect(try answer.decoded(as: Problem.self).code == "query_too_complex")
    try await daemon.stop()
  }
}

extension DaemonFolder {
  /// Asks, and closes the connection without waiting for an answer.
  fileprivate func askAndHangUp(_ uri: String) throws {
    close(try Self.connected(to: file("s"), asking: "GET \(uri) HTTP/1.1\r\nHost: laded\r\n\r\n"))
  }
}
