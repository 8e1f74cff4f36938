import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import TestSupport
import Testing

@testable import WebPages

@Suite("Tables as files and as streams, and counts beside them")
struct DataStreamTests {
  /// A body as it was before it was sent in chunks (RFC 9112, 7.1).
  private func whole(_ answer: TCPAnswer) throws -> String {
    #expect(answer.headers["transfer-encoding"] == "chunked")
    var rest = answer.body[...]
    var whole = Data()
    while true {
      let end = try #require(rest.firstRange(of: Data("\r\n".utf8)))
      let size = try #require(Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16))
      rest = rest[end.upperBound...]
      // The last one says that nothing is missing.
      if size == 0 { return String(decoding: whole, as: UTF8.self) }
      whole += rest.prefix(size)
      rest = rest.dropFirst(size + 2)
    }
  }

  // MARK: Files

  @Test("a table is a CSV file of all its rows, with quotes where RFC 4180 has them")
  func csv() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let view = "where=code%20%3E%201&sort=title&columns=title"
      let page = try await browser.get("/data/main/Route?\(view)&offset=50").text
      #expect(page.contains("href=\"/data/main/Route/csv?\(view.replacing("&", with: "&amp;"))\""))
      let file = try await browser.get("/data/main/Route/csv?columns=code,title,in,night")
      #expect(file.status == 200 && file.headers["content-type"] == "text/csv; charset=utf-8; header=present")
      #expect(file.headers["content-disposition"] == "attachment; filename=\"Route.csv\"")
      let lines = try whole(file).split(separator: "\r\n", omittingEmptySubsequences: false)
      #expect(lines.count == 122 && lines.last == "")
      #expect(lines[0] == "code,title,in,night")
      #expect(lines[3] == "9223372036854775804,Title 3,,false")
      #expect(lines[1].contains("<img src=x onerror=alert(1)>\u{202E}"), "a file is as it is")
    }
  }

  @Test("cells with commas, quotes and line ends are quoted, null is nothing, and a formula stays what it is")
  func cells() throws {
    let store = Store(
      name: "main", path: "", model: "", size: 0, walSize: 0,
      entities: [.init(name: "A/\u{e4}\"", attributes: [.init(name: "a,b", type: "String")])])
    let entity = try #require(DataEntity("A/\u{e4}\"", in: store))
    func text(_ values: [JSONValue], _ format: DataExport.Format) throws -> String {
      let export = DataExport(entity: entity, view: DataTableView(), format: format)
      return export.head
        + (try export.text(
          of: ObjectPage(entity: "A", columns: ["a,b", "objectID"], rows: values.map { [$0, .int(1)] })))
    }
    let values: [JSONValue] = [
      .string("a\"b"), .string("x\ny"), .string(""), .null, .string("=1+2"), .double(1.5), .string("\u{fc}"),
    ]
    #expect(
      try text(values, .csv)
        == "\"a,b\"\r\n\"a\"\"b\"\r\n\"x\ny\"\r\n\"\"\r\n\r\n=1+2\r\n1.5\r\n\u{fc}\r\n")
    let lines = try text([.string("x\ny"), .null, .int(.max)], .jsonl).split(separator: "\n")
    let objects = try lines.map { try WireFormat.decode([String: JSONValue].self, from: Data($0.utf8)) }
    #expect(objects == [["a,b": .string("x\ny")], ["a,b": .null], ["a,b": .int(.max)]])
    #expect(DataExport(entity: entity, view: DataTableView(), format: .csv).fileName == "A---.csv")
  }

  @Test("parts without an order follow each other by number, and in an order by place")
  func parts() async throws {
    let store = try await MemoryBackend().store("main", StoreCountQuery())
    let entity = try #require(DataEntity("Route", in: store))
    var view = DataTableView()
    view.predicate = "a OR b"
    let plain = DataExport(entity: entity, view: view, format: .csv).query(after: 7, done: 2000)
    #expect(plain.predicate == "(a OR b) AND objectID > 7" && plain.offset == 0 && plain.limit == DataExport.part)
    #expect(plain.sort == [SortKey(keyPath: "objectID", ascending: true)])
    view.sort = [SortKey(keyPath: "title", ascending: false)]
    let sorted = DataExport(entity: entity, view: view, format: .csv).query(after: 7, done: 2000)
    #expect(sorted.predicate == "a OR b" && sorted.offset == 2000)
    #expect(sorted.sort == view.sort + [SortKey(keyPath: "objectID", ascending: true)])
  }

  @Test("what is wrong with the query is said, and nobody who hasn't signed in gets a file")
  func refusals() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get("/data/main/Route/jsonl?where=nobody").status == 422)
      #expect(try await browser.get("/data/main/Route/csv?x=1").status == 400)
      #expect(try await site.ask("GET", "/data/main/Route/csv").status == 403)
      #expect(try await site.ask("GET", "/data/main/Route/events").status == 403)
    }
  }

  // MARK: Events

  @Test("a table follows the standing query of what it shows, and says only that something has changed")
  func events() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/data/main/Route?sort=title&columns=title,stops.@count").text
      #expect(page.contains("data-stream=\"/data/main/Route/events?sort=title&amp;columns=title%2Cstops.%40count\""))
      #expect(page.contains("id=\"objects\" data-live") && page.contains("id=\"object-3\""))
      let connection = try Connection(
        to: site.port,
        sending: "GET /data/main/Route/events?sort=title&columns=title,stops.@count HTTP/1.1\r\n"
          + "Host: 127.0.0.1\r\nCookie: \(browser.cookie)\r\n\r\n")
      var arrivals = site.backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      #expect(
        site.backend.watchQueries == [
          WatchQuery(
            entity: "Route", store: "main", sort: [SortKey(keyPath: "title", ascending: true)], limit: 51,
            columns: ["title"])
        ])
      site.backend.tell(.result(WatchResult(entity: "Route", columns: ["title"], rows: [])))
      site.backend.tell(
        .changes(WatchChanges(changes: [.init(kind: .insert, from: nil, to: 0, id: 3, values: [.null])])))
      let told = await connection.receive(until: "event: changed")
      #expect(told.contains("event: changed") && !told.contains("result"))
      // Beyond what a standing query may have, the page is fetched now and then.
      #expect(try await !browser.get("/data/main/Route?offset=1000").text.contains("data-stream"))
      #expect(try await browser.get("/data/main/Route/events?offset=1000").status == 422)
    }
  }

  // MARK: Counts

  @Test("the most frequent values are links with counts, and hostile ones are text")
  func facets() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/data/main/Route?where=code%20%3E%201&facet=night,depot").text
      for words in [
        "where=%28code%20%3E%201%29%20AND%20night%20%3D%3D%20TRUE", "aria-label=\"night: true\"", "> 70<", "> 50<",
        "depot.objectID%20%3D%3D%203", "depot%20%3D%3D%20NIL", "and others", "Count by title",
        // Why a facet isn't there that nobody has asked for.
        "queries.members",
      ] { #expect(page.contains(words), "\(words)") }
      let chosen = try await browser.get("/data/main/Route?facet=title").text
      for words in [
        "title%20%3D%3D%20%27it%5C%27s%27", "&lt;img src=x onerror=alert(1)&gt;[U+202E]",
        "name=\"facet\" value=\"title\"",
      ] { #expect(chosen.contains(words), "\(words)") }
      #expect(!chosen.contains("<img"))
      let late = try await browser.get("/data/main/Route?facet=in")
      #expect(late.status == 200 && late.text.contains("queries.members"))
      // What the script fetches with every change has none.
      let fetched = try await browser.get("/data/main/Route", ["Sec-Fetch-Dest": "empty"]).text
      #expect(!fetched.contains("night: true"))
    }
  }

  @Test("the predicate's field offers properties, with an example of each")
  func words() async throws {
    try await Site.with { site async throws in
      let page = try await site.signedIn().get("/data/main/Route").text
      for words in [
        "<datalist id=\"where-words\">", "list=\"where-words\"", "value=\"title BEGINSWITH[c] &#39;a&#39;\"",
        "value=\"depot.title BEGINSWITH[c] &#39;a&#39;\"", "value=\"stops.@count &gt; 0\"", "value=\"#in == TRUE\"",
        "<code>depot.title</code>",
      ] { #expect(page.contains(words), "\(words)") }
    }
  }

  // MARK: Rejects

  @Test("a job's rejects are one file, whose name is harmless")
  func rejects() async throws {
    var job = Job.example(1, .completed)
    job.rejectsFile = "/var/lib/lade/rejects/1.csv"
    try await Site.with(MemoryBackend(jobs: [job, .example(2, .completed)])) { site async throws in
      let browser = try await site.signedIn()
      let file = try await browser.get("/jobs/1/rejects/file")
      #expect(try file.status == 200 && whole(file) == "id,age\n1,x\n")
      #expect(file.headers["content-disposition"] == "attachment; filename=\"job-1____.csv\"")
      #expect(try await browser.get("/jobs/1/rejects").text.contains("href=\"/jobs/1/rejects/file\""))
      #expect(try await site.ask("GET", "/jobs/1/rejects/file").status == 403)
    }
  }
}
