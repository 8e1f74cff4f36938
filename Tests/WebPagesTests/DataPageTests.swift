import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import TestSupport
import Testing

@testable import WebPages

@Suite("Pages of data")
struct DataPageTests {
  private func encoded(_ text: String) -> String { QueryString.percentEncoded(text) }

  @Test("the entities of each store are links to their tables, with what they have")
  func entities() async throws {
    try await Site.with { site async throws in
      let page = try await site.signedIn().get("/data")
      #expect(page.status == 200)
      for words in [
        "href=\"/data/main/Route\"", "href=\"/data/main/Stop\"", "abstract", "code, title, night, map, opened, in",
        "to many ", "to one ", ">120<",
      ] { #expect(page.text.contains(words), "\(words)") }
      #expect(try await site.signedIn().get("/data?x=1").status == 400)
    }
  }

  @Test("a table has the usual columns, and a link to each object and to those that it refers to")
  func table() async throws {
    try await Site.with { site async throws in
      let page = try await site.signedIn().get("/data/main/Route")
      #expect(page.status == 200)
      for words in [
        "href=\"/data/main/Route/1\"", "href=\"/data/main/Route/50\"", "href=\"/data/main/Depot/2\"",
        ">9223372036854775806<", "2026-03-01T12:00:00Z", "Title 3", "<bdi>true</bdi>", "–",
        "Objects 1 to 50.", "Next page", "Count all that match", "&lt;img src=x onerror=alert(1)&gt;[U+202E]",
      ] { #expect(page.text.contains(words), "\(words)") }
      #expect(!page.text.contains("<img") && !page.text.contains("/Route/51\"") && !page.text.contains("First page"))
      #expect(!page.text.contains(String(repeating: "long ", count: 50)), "long texts are cut")
      #expect(
        site.backend.objectQueries == [
          ObjectQuery(
            entity: "Route", store: "main", limit: 51,
            columns: ["objectID", "code", "title", "night", "opened", "in", "depot", "depot.objectID"])
        ])
    }
  }

  @Test("pages follow each other, and the last one knows how many there are")
  func paging() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let second = try await browser.get("/data/main/Route?offset=50&sort=-code")
      for words in [
        "Objects 51 to 100.", "href=\"/data/main/Route?sort=-code\"", "sort=-code&amp;offset=100",
        "href=\"/data/main/Route/70\"",
      ] { #expect(second.text.contains(words), "\(words)") }
      let last = try await browser.get("/data/main/Route?offset=100").text
      #expect(last.contains("Objects 101 to 120 of 120.") && !last.contains("Next page"))
      let beyond = try await browser.get("/data/main/Route?offset=1000").text
      #expect(beyond.contains("There are no more.") && beyond.contains("First page"))
      let counted = try await browser.get("/data/main/Route?count=true").text
      #expect(counted.contains("Objects 1 to 50 of 120.") && !counted.contains("Count all"))
      #expect(try await browser.get("/data/main/Route?offset=-1").status == 400)
      #expect(try await browser.get("/data/main/Route?offset=9223372036854775807").status == 400)
    }
  }

  @Test("a column's head sorts, and then the other way round")
  func sorting() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let plain = try await browser.get("/data/main/Route?where=code%20%3E%201").text
      #expect(plain.contains("href=\"/data/main/Route?where=code%20%3E%201&amp;sort=title\""))
      #expect(!plain.contains("aria-sort"))
      #expect(!plain.contains("sort=depot"), "objects have no order")
      let up = try await browser.get("/data/main/Route?sort=title").text
      #expect(up.contains("aria-sort=\"ascending\"") && up.contains("href=\"/data/main/Route?sort=-title\""))
      let down = try await browser.get("/data/main/Route?sort=-title,code").text
      #expect(down.contains("aria-sort=\"descending\"") && down.contains("href=\"/data/main/Route?sort=title\""))
      let sort = [SortKey(keyPath: "title", ascending: false), SortKey(keyPath: "code", ascending: true)]
      #expect(site.backend.objectQueries.last?.sort == sort)
      #expect(down.contains("name=\"sort\" value=\"-title,code\""), "the form keeps it")
      #expect(try await browser.get("/data/main/Route?sort=-").status == 400)
    }
  }

  @Test("boxes choose columns, and the address names them once")
  func columns() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let chosen = try await browser.get(
        "/data/main/Route?where=night+%3D%3D+TRUE&column=map&column=stops.%40count&sort=code")
      #expect(chosen.status == 303)
      let address = "/data/main/Route?where=night%20%3D%3D%20TRUE&sort=code&columns=map%2Cstops.%40count"
      #expect(chosen.headers["location"] == address)
      let page = try await browser.get(address).text
      #expect(page.contains("4 bytes") && page.contains("stops.@count") && !page.contains("2026-03-01"))
      #expect(page.contains("value=\"map\" checked=\"checked\"") && !page.contains("value=\"code\" checked"))
      let usual = ["code", "title", "night", "opened", "in", "depot"].map { "column=" + $0 }.joined(separator: "&")
      #expect(try await browser.get("/data/main/Route?\(usual)").headers["location"] == "/data/main/Route")
      let unknown = try await browser.get("/data/main/Route?columns=nmae")
      #expect(unknown.status == 400 && unknown.text.contains("there is no property nmae"))
    }
  }

  @Test("what the daemon refuses about a predicate stands over its form, which keeps it")
  func mistakes() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let unknown = "nobody == \"<b>\""
      let refused = try await browser.get("/data/main/Route?where=\(encoded(unknown))")
      #expect(refused.status == 400)
      for words in [
        "role=\"alert\"", "Route has no property nobody", "it needs quotes",
        "value=\"nobody == &quot;&lt;b&gt;&quot;\"",
      ] { #expect(refused.text.contains(words), "\(words)") }
      #expect(!refused.text.contains("<b>") && !refused.text.contains("Objects 1"))
      let forbidden = try await browser.get("/data/main/Route?where=\(encoded("title MATCHES '.*'"))")
      #expect(forbidden.status == 403 && forbidden.text.contains("Only operators"))
      #expect(forbidden.text.contains("id=\"where\""))
      #expect(try await browser.get("/data/main/Route?where=a&where=b").status == 400)
      #expect(try await browser.get("/data/main/Route?filter=a").status == 400)
      let empty = try await browser.get("/data/main/Route?where=&sort=")
      #expect(empty.status == 200 && site.backend.objectQueries.last?.predicate == nil)
    }
  }

  @Test("Boolean attributes narrow a table, also those whose names are words of the language")
  func facets() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/data/main/Route?where=\(encoded("code > 1 OR code < 0"))").text
      for predicate in ["(code > 1 OR code < 0) AND night == TRUE", "(code > 1 OR code < 0) AND #in == NIL"] {
        #expect(page.contains("href=\"/data/main/Route?where=\(encoded(predicate))\""), "\(predicate)")
      }
      let others = try await browser.get("/data/main/Depot").text
      #expect(others.contains("Count by title") && !others.contains("title: "), "only what there is little of, unasked")
    }
  }

  @Test("an object has all its values, its relations both ways and where it comes from")
  func object() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/data/main/Route/4")
      #expect(page.status == 200)
      for words in [
        "<h1>Route 4</h1>", "9223372036854775803", "4 bytes", "href=\"/data/main/Depot/2\"",
        "href=\"/data/main/Stop?where=\(encoded("ANY routes.objectID == 4"))\"", "4 objects", "40 objects",
        "href=\"/jobs/12\"", "feed.zip", "member", "line 3", "byte 40", "record 2", "recipe <bdi>stops</bdi>",
        "undone by job <a href=\"/jobs/13\">", "to undo job <a href=\"/jobs/12\">", "abababab",
      ] { #expect(page.text.contains(words), "\(words)") }
      // Nothing leads back from a depot to the routes that have its signs.
      #expect(!page.text.contains("href=\"/data/main/Depot?where"))
      let whole = try await browser.get("/data/main/Route/2").text
      #expect(whole.contains(String(repeating: "long ", count: 100)))
      #expect(whole.contains("Nothing was recorded.") && whole.contains("<code>lineage: true</code>"))
      #expect(try await !browser.get("/data/main/Route/1").text.contains("<img"))
      let depot = try await browser.get("/data/main/Depot/3").text
      for predicate in ["depot.objectID == 3", "ANY signs.objectID == 3"] {
        #expect(depot.contains("href=\"/data/main/Route?where=\(encoded(predicate))\""), "\(predicate)")
      }
      #expect(depot.contains("href=\"/data/main/Stop?where=\(encoded("home.objectID == 3"))\""))
    }
  }

  @Test("what isn't there is a page that says so")
  func missing() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      for (uri, status, words) in [
        ("/data/main/Route/121", 404, "main has no Route with the number 121."),
        ("/data/main/Route/-3", 404, "main has no Route with the number -3."), ("/data/main/Route/x", 422, "number"),
        ("/data/main/Route/99999999999999999999", 422, "number"), ("/data/main/Nothing", 404, "no entity"),
        ("/data/other/Route", 404, "no store"), ("/data/main/\(encoded("<script>"))/1", 404, "&lt;script&gt;"),
        ("/data/main/Route/1?x=1", 400, "x"),
      ] {
        let page = try await browser.get(uri)
        #expect(page.status == status && page.text.contains(words), "\(uri): \(page.text)")
      }
      #expect(try await site.ask("GET", "/data/main/Route").status == 403, "nobody has signed in")
    }
  }
}

@Suite("What tables of data are made of")
struct DataTableTests {
  @Test("a view that was written as an address is read as the same")
  func roundTrip() throws {
    var view = DataTableView()
    #expect(try DataTableView(parsing: view.query.text) == view)
    view.predicate = "name == 'a&b=c+d' OR über < 3"
    view.sort = [SortKey(keyPath: "a.b", ascending: false), SortKey(keyPath: "c", ascending: true)]
    (view.columns, view.offset, view.isCounted) = (["a", "b.@count"], 150, true)
    #expect(try DataTableView(parsing: view.query.text) == view)
    #expect(view.with { _ in }.offset == 0)
    #expect(try DataTableView(parsing: "where=++a++&column=b&column=b").columns == ["b"])
    #expect(try DataTableView(parsing: "where=++a+b++").predicate == "a b")
  }

  @Test("a key path leads to an attribute, over relationships too, or to nothing")
  func ends() throws {
    let store = Store(
      name: "main", path: "", model: "", size: 0, walSize: 0,
      entities: [
        .init(
          name: "Person",
          attributes: [.init(name: "name", type: "String"), .init(name: "address.city", type: "String")],
          relationships: [
            .init(name: "boss", entity: "Person", inverse: "team"),
            .init(name: "team", entity: "Person", isToMany: true, inverse: "boss"),
            .init(name: "pet", entity: "Animal"),
          ])
      ])
    let person = try #require(DataEntity("Person", in: store))
    #expect(DataEntity("Animal", in: store) == nil)
    #expect(person.end(of: "boss.boss.name") == .attribute(.init(name: "name", type: "String")))
    #expect(person.end(of: "boss.address.city") == .attribute(.init(name: "address.city", type: "String")))
    #expect(person.end(of: "boss.team.@count") == .count)
    for path in ["", ".", "boss.", "pet.name", "nmae", "address", "name.name"] {
      #expect(person.end(of: path) == .unknown, "\(path)")
    }
    #expect(person.numberColumn(of: "boss.boss") == "boss.boss.objectID")
    #expect(person.numberColumn(of: "team") == nil && person.numberColumn(of: "pet") == nil)
    #expect(person.usualColumns == ["name", "address.city", "boss", "pet"])
  }

  @Test("values are shown as they are, and cut where they are long")
  func values() {
    let binary = Store.Attribute(name: "a", type: "Binary")
    for (value, attribute, shown) in [
      (.null, nil, "–"), (.int(.min), nil, "<bdi>-9223372036854775808</bdi>"), (.double(1.5), nil, "<bdi>1.5</bdi>"),
      (.bool(false), nil, "<bdi>false</bdi>"), (.string(""), nil, "<bdi></bdi>"),
      (.string(""), binary, "<bdi>0 bytes</bdi>"), (.string("AQ=="), binary, "<bdi>1 byte</bdi>"),
      (.array([.int(1), .string("<")]), nil, "<bdi>[1,&quot;&lt;&quot;]</bdi>"),
      (.string("\u{202E}<b>"), nil, "<bdi>[U+202E]&lt;b&gt;</bdi>"),
    ] as [(JSONValue, Store.Attribute?, String)] {
      #expect(DataValue(value, of: attribute).short.text == shown)
      #expect(DataValue(value, of: attribute).whole.text == shown)
    }
    let fits = String(repeating: "ü", count: DataValue.longest)
    #expect(DataValue(.string(fits)).short.text == "<bdi>\(fits)</bdi>")
    #expect(DataValue(.string(fits + "x")).short.text == "<bdi>\(fits)</bdi><span class=\"note\">…</span>")
    let marks = "e" + String(repeating: "\u{301}", count: 100_000)
    #expect(DataValue(.string(marks)).short.text.unicodeScalars.count < 1000, "one character of many marks")
    #expect(DataValue(.string(marks)).whole.text.unicodeScalars.count > 100_000)
  }
}
