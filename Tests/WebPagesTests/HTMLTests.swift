import ControlAPI
import Foundation
import LadeTypes
import Testing

@testable import WebPages

@Suite("HTML")
struct HTMLTests {
  @Test("text can't become markup")
  func text() {
    #expect(HTML("<script>alert(1)</script>").text == "&lt;script&gt;alert(1)&lt;/script&gt;")
    #expect(HTML("a & \"b\" 'c'").text == "a &amp; &quot;b&quot; &#39;c&#39;")
    let paragraph = HTML.element("p") { "</p><img src=x onerror=alert(1)>" }
    #expect(paragraph.text == "<p>&lt;/p&gt;&lt;img src=x onerror=alert(1)&gt;</p>")
  }

  @Test("a value can't leave its attribute, and comes back from a form as it was")
  func attributes() {
    let field = HTML.void("input", .value("\" autofocus onfocus=\"alert(1)\u{202E}\r"))
    #expect(field.text == "<input value=\"&quot; autofocus onfocus=&quot;alert(1)\u{202E}&#13;\">")
    #expect(HTML.void("a", .label("a\u{202E}\"b")).text == "<a aria-label=\"a[U+202E]&quot;b\">")
    #expect(HTML.void("input", .value("a\u{0}b")).text == "<input value=\"a\u{FFFD}b\">")
  }

  @Test("controls of writing direction and others that can't be seen are written out")
  func controls() {
    #expect(HTML("photo\u{202E}gpj.exe").text == "photo[U+202E]gpj.exe")
    #expect(HTML("a\u{0}b\u{1B}[31m\u{200B}").text == "a[U+0000]b[U+001B][31m[U+200B]")
    #expect(HTML("eins\tzwei\n").text == "eins\tzwei\n")
    #expect(HTML("مرحبا 駅 👩‍👧").text.contains("مرحبا 駅"))
  }

  @Test("numbers keep their 64 bits")
  func numbers() {
    #expect(HTML.count(Int64.max).text == "9,223,372,036,854,775,807")
    #expect(HTML.count(Int64.min).text == "-9,223,372,036,854,775,808")
    #expect(HTML.job(.max).text == "<a href=\"/jobs/9223372036854775807\">9223372036854775807</a>")
  }

  @Test("a link leads to a page, whatever names it is made of")
  func links() throws {
    #expect(PageLink.action(.pause, "../../x?y#z").text == "/lanes/..%2F..%2Fx%3Fy%23z/pause")
    let view = JobsView(recipe: "a\" b&c=d")
    #expect(PageLink.jobs(view).text == "/jobs?q=recipe%3A%22a%5C%22%20b%26c%3Dd%22")
    #expect(try JobSearch(view.search).selection.recipe == "a\" b&c=d")
  }

  @Test("a mark is within the record, whatever the offsets say")
  func marks() {
    func marked(_ record: String, _ offset: Int, _ length: Int) -> String {
      RejectsPage.marked(record, .init(offset: offset, length: length)).text
    }
    #expect(marked("1,x,2", 2, 1) == "1,<mark>x</mark>,2")
    #expect(marked("1,<b>", 2, 3) == "1,<mark>&lt;b&gt;</mark>")
    #expect(marked("1,x", 2, .max) == "1,<mark>x</mark>")
    #expect(marked("ü,x", 3, 1) == "ü,<mark>x</mark>")
    for (offset, length) in [(-1, 1), (99, 1), (0, 0), (.max, .max), (1, 1)] {
      #expect(marked("ü,x", offset, length) == "ü,x", "\(offset), \(length)")
    }
  }
}

@Suite("The search for jobs")
struct JobSearchTests {
  @Test("has the names of the interface's query")
  func names() throws {
    let search = try JobSearch("state:retryable,running recipe:orders tag:\"two words\" held:true")
    #expect(
      search.selection
        == JobSelection(states: [.retryable, .running], recipe: "orders", tag: "two words", isHeld: true))
    #expect(try JobSearch("  ").selection.isEverything)
    #expect(try JobSearch("12").job == 12)
    #expect(try JobSearch("9223372036854775807").job == .max)
  }

  @Test("a selection that was written as a search is read as the same")
  func roundTrip() throws {
    let selections = [
      JobSelection(),
      JobSelection(states: [.running, .discarded], kind: "import", lane: "a b", store: "\"", entity: "\\"),
      JobSelection(error: "a*", file: "* b?.csv", since: Date(timeIntervalSince1970: 1_772_000_000.5)),
      JobSelection(recipe: "a:b", tag: "", submittedBy: "user 0", uniqueKey: "駅", batch: .max, isHeld: false),
    ]
    for selection in selections {
      #expect(try JobSearch(JobSearch.text(of: selection)).selection == selection, "\(selection)")
    }
  }

  @Test("a search for other states keeps its other words as they were typed")
  func otherStates() {
    let search = JobSearch.text("since:1d state:running tag:\"two words\"", in: [.retryable])
    #expect(search == "state:retryable since:1d tag:\"two words\"")
    #expect(JobSearch.text("state:running", in: []) == "")
  }

  @Test("a time is written out, or says how long ago it was")
  func times() throws {
    let date = Date(timeIntervalSince1970: 1_772_000_000)
    #expect(
      try JobSearch("since:2026-02-25T06:13:20Z file:*.csv error:unique*").selection
        == JobSelection(error: "unique*", file: "*.csv", since: date))
    let yesterday = try #require(try JobSearch("since:1d").selection.since)
    #expect(yesterday < Date() && yesterday > date)
    #expect(throws: QueryError.self) { try JobSearch("since:soon") }
  }

  @Test("what can't be searched for is said, with what can")
  func mistakes() {
    #expect(throws: JobSearchError.unknown("colour")) { try JobSearch("colour:red") }
    #expect(throws: JobSearchError.noName("orders")) { try JobSearch("orders") }
    #expect(throws: JobSearchError.unknown("limit")) { try JobSearch("limit:5") }
    #expect(throws: QueryError.repeated(name: "lane")) { try JobSearch("lane:a lane:b") }
    #expect(throws: QueryError.self) { try JobSearch("state:done") }
    #expect("\(JobSearchError.unknown("colour"))".contains("recipe"))
  }
}
