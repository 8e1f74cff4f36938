import ControlAPI
import Foundation
import Testing

@Suite("Queries of the control interface")
struct QueryTests {
  @Test("a list's query is read as it is written, with every filter")
  func jobs() throws {
    let query = JobQuery(
      JobSelection(
        states: [.running, .retryable], kind: "import", lane: "import", store: "main", entity: "Große/Entität",
        recipe: "people", tag: "a&b", submittedBy: "ada", uniqueKey: "k=1", batch: 4, isHeld: false,
        error: "unique*", file: "*.csv", since: Date(timeIntervalSince1970: 1_772_000_000.25)),
      limit: 7, before: 9, after: 2, order: .oldest)
    #expect(try JobQuery(QueryString(parsing: query.queryString.text)) == query)
    #expect(try JobQuery(QueryString(parsing: "")) == JobQuery())
    #expect(Set(query.queryString.names) == Set(JobQuery.parameters))
  }

  @Test("log, store and standing queries are read as they are written")
  func others() throws {
    let log = LogQuery(job: 3, level: .warning, after: 12, limit: 5, follows: true)
    #expect(try LogQuery(QueryString(parsing: log.queryString.text)) == log)
    let watch = WatchQuery(
      entity: "Stop", store: "main", predicate: "name == 'a+b'", sort: [SortKey(keyPath: "name", ascending: false)],
      limit: 10, columns: ["name", "route.name"])
    #expect(try WatchQuery(QueryString(parsing: watch.queryString.text)) == watch)
    for counts in [nil, true, false] {
      let store = StoreCountQuery(counts: counts)
      #expect(try StoreCountQuery(QueryString(parsing: store.queryString.text)) == store)
    }
  }

  @Test(
    "a value that a parameter can't have is reported with those it can",
    arguments: [
      ("held=maybe", "true or false"), ("order=oldst", "newest, oldest"), ("state=walking", "scheduled"),
      ("limit=0", "1 to 1000"), ("lnae=x", "lane"), ("batch=-1", "from 0"), ("state=running&state=available", "twice"),
    ])
  func refused(_ text: String, _ says: String) throws {
    let error = try #require(throws: QueryError.self) { _ = try JobQuery(QueryString(parsing: text)) }
    #expect(error.description.contains(says), "\(error)")
  }

  @Test("a standing query names its entity")
  func entity() {
    #expect(throws: QueryError.missing(name: "entity")) { try WatchQuery(QueryString(parsing: "sort=name")) }
  }

  @Test("a change of many jobs is read as it is written, and a misspelt filter is refused")
  func change() throws {
    let change = JobChange(
      .priority, JobSelection(jobs: [1, 2], states: [.available], isHeld: true), priority: 4, isForAll: true)
    #expect(try WireFormat.decode(JobChange.self, from: WireFormat.encode(change)) == change)
    #expect(JobSelection().isEverything)
    #expect(!change.filter.isEverything)
    let body = Data(#"{"action": "cancel", "filter": {"lnae": "import"}}"#.utf8)
    let error = try #require(throws: DecodingError.self) { try WireFormat.decode(JobChange.self, from: body) }
    #expect("\(error)".contains("lnae"))
  }

  @Test("a concurrency of null is that of the configuration, and none at all is a mistake")
  func concurrency() throws {
    let configured = ConcurrencyChange(concurrency: nil)
    #expect(try WireFormat.decode(ConcurrencyChange.self, from: WireFormat.encode(configured)) == configured)
    #expect(throws: DecodingError.self) { try WireFormat.decode(ConcurrencyChange.self, from: Data("{}".utf8)) }
  }

  @Test("changes of a standing query lead from the rows before to the rows after")
  func changes() {
    func row(_ id: Int64, _ value: Int64) -> WatchRow { WatchRow(id: id, values: [.int(value)]) }
    let before = [row(1, 10), row(2, 20), row(3, 30), row(4, 40)]
    // 2 left, 5 came in front, 1 moved to the end, 4 changed in its place.
    let changes = WatchChanges(changes: [
      .init(kind: .delete, from: 1, to: nil, id: 2, values: nil),
      .init(kind: .insert, from: nil, to: 0, id: 5, values: [.int(5)]),
      .init(kind: .move, from: 0, to: 3, id: 1, values: [.int(50)]),
      .init(kind: .update, from: 3, to: 2, id: 4, values: [.int(41)]),
    ])
    #expect(changes.applied(to: before) == [row(5, 5), row(3, 30), row(4, 41), row(1, 50)])
  }
}
