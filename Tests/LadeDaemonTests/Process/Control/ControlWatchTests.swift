import ControlAPI
import Foundation
import Testing

/// Standing queries of a daemon that imports.
@Suite("Control: standing queries", .startsDaemons)
struct ControlWatchTests {
  private static let recipes = "  members: { store: main, entity: Member, batch_size: 500 }\n"

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    return (folder, try await folder.start())
  }

  private func uri(_ query: WatchQuery) -> String { Endpoint.watch.path + "?" + query.queryString.text }

  /// What the query finds when it is asked.
  private func found(_ query: WatchQuery, in folder: DaemonFolder) async throws -> [[JSONValue]] {
    let page: ObjectPage = try await folder.got(
      "GET", .objects(entity: query.entity),
      ObjectQuery(
        entity: query.entity, predicate: query.predicate, sort: query.sort, limit: query.limit ?? 1000,
        columns: query.columns
      ).queryString)
    return page.rows
  }

  @Test(
    "the result and its changes lead to what a query finds, whatever imports insert, change and move",
    arguments: [nil, 25] as [Int?])
  func follows(_ limit: Int?) async throws {
    let (folder, daemon) = try await started()
    let query = WatchQuery(
      entity: "Member", predicate: "age == 18", sort: [SortKey(keyPath: "score", ascending: false)], limit: limit,
      columns: ["number", "score", "manager.number"])
    _ = try await folder.imported(Members(rows: 700).csv, as: "first.csv", into: "members")
    var events = try folder.events(uri(query)).makeAsyncIterator()
    let begin = await events.next()
    let first = try #require(begin)
    guard case .result(let result) = try WatchEvent(first) else {
      Issue.record("\(first)")
      return
    }
    #expect(result.columns == query.columns)
    #expect(result.rows.map(\.values) == (try await found(query, in: folder)))
    var rows = result.rows
    var kinds: Set<WatchChanges.Kind> = []
    let jobs = [
      try await folder.imported(Members(rows: 20_000).csv, as: "all.csv", into: "members"),
      try await folder.imported(Members(rows: 20_000, version: 9).csv, as: "changed.csv", into: "members"),
    ]
    #expect(jobs.map(\.state) == [.completed, .completed])
    let last = try await found(query, in: folder)
    while rows.map(\.values) != last {
      guard let event = await events.next(), case .changes(let changes) = try WatchEvent(event) else {
        Issue.record("the stream ended, or said something else, before the result was the same")
        break
      }
      kinds.formUnion(changes.changes.map(\.kind))
      rows = changes.applied(to: rows)
    }
    #expect(Set(rows.map(\.id)).count == rows.count)
    #expect(kinds.isSuperset(of: limit == nil ? [.insert, .move] : [.insert, .delete]), "\(kinds)")
    try await daemon.stop()
  }

  @Test("what can't be followed is refused with the reason")
  func refusals() async throws {
    let (folder, daemon) = try await started()
    func code(_ query: WatchQuery) async throws -> (Int, String, String) {
      let answer = try await folder.http("GET", uri(query))
      let problem: Problem = try answer.decoded()
      return (answer.status, problem.code, problem.detail)
    }
    let matches = try await code(WatchQuery(entity: "Member", predicate: "name MATCHES '(a+)+$'"))
    #expect((matches.0, matches.1) == (422, "invalid_request") && matches.2.contains("MATCHES"))
    let unknown = try await code(WatchQuery(entity: "Member", predicate: "nmae == 'a'"))
    #expect((unknown.0, unknown.1) == (422, "invalid_request") && unknown.2.contains("nmae"))
    let broken = try await code(WatchQuery(entity: "Member", predicate: "age >"))
    #expect((broken.0, broken.1) == (422, "invalid_request"))
    #expect(try await code(WatchQuery(entity: "Membre")).1 == "no_such_entity")
    #expect(try await code(WatchQuery(entity: "Member", store: "other")).1 == "no_such_store")
    #expect(try await code(WatchQuery(entity: "Member", columns: ["team"])).1 == "invalid_request")
    try await daemon.stop()
  }

  @Test("a result that has outgrown what may be followed ends with advice, and isn't begun")
  func tooMany() async throws {
    let (folder, daemon) = try await started()
    let query = WatchQuery(entity: "Member", columns: ["number"])
    var events = try folder.events(uri(query)).makeAsyncIterator()
    let first = await events.next()
    #expect(first?.name == "result")
    _ = try await folder.imported(Members(rows: 3_000).csv, as: "many.csv", into: "members")
    var last: ServerSentEvent?
    while let event = await events.next() { last = event }
    guard let last, case .problem(let problem) = try WatchEvent(last) else {
      Issue.record("\(String(describing: last))")
      return
    }
    #expect(problem.code == "too_many_results" && problem.hint?.contains("limit") == true)
    let again = try await folder.http("GET", uri(query))
    #expect(again.status == 422)
    #expect(try again.decoded(as: Problem.self).code == "too_many_results")
    try await daemon.stop()
  }

  @Test("a watcher that goes away is forgotten, and a stop ends the others")
  func departure() async throws {
    let (folder, daemon) = try await started()
    let query = WatchQuery(entity: "Member", limit: 5)
    var staying = try folder.events(uri(query)).makeAsyncIterator()
    let begin = await staying.next()
    #expect(begin?.name == "result")
    do {
      var leaving = try folder.events(uri(query)).makeAsyncIterator()
      let first = await leaving.next()
      #expect(first?.name == "result")
    }
    // The daemon learns of it when the connection ends: each answer says how many there are.
    while try await folder.got(Stats.self, "GET", .stats).listeners != 1 {}
    try await daemon.stop()
    while await staying.next() != nil {}
  }
}
