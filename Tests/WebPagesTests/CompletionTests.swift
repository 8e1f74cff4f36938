import ControlAPI
import ControlTestSupport
import LadeTypes
import Testing

@testable import WebPages

@Suite("Completion of what is searched for")
struct CompletionTests {
  private static let jobs = Completion(
    jobsIn: ["import", "night"], recipes: ["orders", "two words", "o,x"], stores: ["main"], entities: ["Person"])

  @Test(
    "the last word is completed, and what stands before it stays",
    arguments: [
      ("sta", ["state:"]), ("STA", ["state:"]), ("state:ret", ["state:retryable"]),
      ("state:retryable,r", ["state:retryable,running"]),
      ("state:running re", ["state:running recipe:"]), ("recipe:ord", ["recipe:orders"]),
      ("recipe:two", ["recipe:\"two words\""]), ("recipe:\"two w", ["recipe:\"two words\""]),
      ("lane:n", ["lane:night"]), ("file:*.csv lane:i", ["file:*.csv lane:import"]), ("nothing", []), ("file:a", []),
      ("odd:a", []),
    ])
  func suggestions(_ text: String, _ expected: [String]) {
    #expect(Self.jobs.suggestions(for: text).map(\.text) == expected)
  }

  @Test("nothing written begins with the names, and every suggestion can be searched for")
  func beginning() throws {
    let names = Self.jobs.suggestions(for: "")
    #expect(names.count == Completion.most && names.allSatisfy { $0.label.hasSuffix(":") })
    for name in Self.jobs.words {
      for suggestion in Self.jobs.suggestions(for: name.name + ":") { _ = try JobSearch(suggestion.text) }
    }
    #expect(Self.jobs.suggestions(for: String(repeating: "x", count: 5_000)).isEmpty)
  }

  @Test("words of another page stand by themselves")
  func words() {
    let other = Completion(separator: nil, words: [.init("name"), .init("number", "a key"), .init("AND")])
    #expect(other.suggestions(for: "name == 'a' AND nu").map(\.text) == ["name == 'a' AND number"])
    #expect(other.suggestions(for: "a").map(\.label) == ["AND"])
  }

  @Test("the list of jobs has the words as a list, as links that narrow, and as an answer for the script")
  func page() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running)])
    try await Site.with(backend) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/jobs?q=state:running").text
      #expect(page.contains("list=\"q-list\"") && page.contains("data-complete=\"/jobs/complete\""))
      #expect(page.contains("<option value=\"state:running recipe:\">"))
      var narrowed = JobsView()
      narrowed.search = "state:running lane:"
      #expect(page.contains("href=\"\(PageLink.jobs(narrowed).text)\""))
      let answer = try await browser.get("/jobs/complete?q=state:ru")
      #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
      #expect(answer.text.contains("\"text\":\"state:running\""))
      #expect(try await browser.get("/jobs/complete?x=1").status == 400)
      #expect(try await site.ask("GET", "/jobs/complete?q=").status == 403)
    }
  }
}
