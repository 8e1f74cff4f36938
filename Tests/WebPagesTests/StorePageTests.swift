import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("Pages of a store's backups and of its model's versions")
struct StorePageTests {
  private static let backup = "main-2026-02-25T061320Z-job7.sqlite.zst"

  @Test("a store is restored after a question that says what is lost, and with its name typed")
  func restore() async throws {
    var later = Job.example(8, .completed, source: "<i>later</i>.csv")
    // It was submitted before the backup, and has run since.
    later.submittedAt = Date(timeIntervalSince1970: 1_700_000_000)
    (later.startedAt, later.endedAt) = (.now, .now)
    var earlier = Job.example(9, .completed, source: "earlier.csv")
    (earlier.submittedAt, earlier.startedAt, earlier.endedAt) = (
      later.submittedAt, later.submittedAt, later.submittedAt
    )
    var waiting = Job.example(10, .scheduled, source: "waiting.csv")
    waiting.submittedAt = .now
    try await Site.with(MemoryBackend(jobs: [later, earlier, waiting])) { site async throws in
      let browser = try await site.signedIn()
      let link = "/stores/main/restore?backup=\(Self.backup)"
      #expect(try await browser.get("/stores").text.contains("href=\"\(link)\""))
      let question = try await browser.get(link).text
      for words in ["is lost", "2026-02-25", "&lt;i&gt;later&lt;/i&gt;.csv", "name=\"confirmation\"", Self.backup] {
        #expect(question.contains(words), "\(words): \(question)")
      }
      #expect(!question.contains("earlier.csv") && !question.contains("waiting.csv"))
      #expect(site.backend.jobQueries.last?.selection.store == "main")
      for typed in ["", "mian", "Main"] {
        let refused = try await browser.send(
          "/stores/main/restore", form: ["backup": Self.backup, "confirmation": typed])
        #expect(refused.status == 422 && refused.text.contains("nothing was done"), "\(typed)")
      }
      #expect(site.backend.submissions.isEmpty)
      let done = try await browser.send(
        "/stores/main/restore", form: ["backup": Self.backup, "confirmation": " main "])
      #expect(done.status == 303)
      let submission = try #require(site.backend.submissions.last)
      #expect(submission.kind == "restore" && submission.store == "main")
      #expect(submission.options == ["backup": .string(Self.backup)])
      #expect(site.backend.peers.last == Site.peer)
    }
  }

  @Test("what isn't a backup of the store, another site's form and a read-only page restore nothing")
  func refused() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      for backup in ["", "latest", "../main.sqlite", "<b>"] {
        let form = ["backup": backup, "confirmation": "main"]
        #expect(try await browser.send("/stores/main/restore", form: form).status == 422, "\(backup)")
      }
      #expect(try await browser.get("/stores/other/restore?backup=\(Self.backup)").status == 404)
      #expect(try await browser.post("/stores/main/restore", ["Sec-Fetch-Site": "cross-site"]).status == 403)
      #expect(site.backend.submissions.isEmpty)
    }
    try await Site.with(settings: WebSettings(isReadOnly: true)) { site async throws in
      let browser = try await site.signedIn()
      #expect(try await !browser.get("/stores").text.contains("Restore…"))
      for page in ["/data/main/Route", "/data/main/Route/3"] {
        let text = try await browser.get(page).text
        #expect(!text.contains("/new\"") && !text.contains("/edit\"") && !text.contains("/delete\""), "\(page)")
      }
      let form = ["backup": Self.backup, "confirmation": "main"]
      #expect(try await browser.send("/stores/main/restore", form: form).status == 403)
      #expect(site.backend.submissions.isEmpty)
    }
  }

  @Test("two versions of a model are compared by address")
  func versions() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get("/model/main").text.contains("href=\"/model/main/versions\""))
      let page = try await browser.get("/model/main/versions").text
      for words in [
        "Main 10 (current)", "without a mapping model when", "none yet", "&lt;b&gt;Ghost", "wouldn&#39;t be opened",
      ] {
        #expect(page.contains(words), "\(words): \(page)")
      }
      let first = try await browser.get("/model/main/versions?from=Main&to=Main+2").text
      #expect(first.contains("can&#39;t be migrated without") && first.contains("give it a default value"))
      let same = try await browser.get("/model/main/versions?from=Main&to=Main").text
      #expect(same.contains("None that a store would notice"))
      #expect(try await browser.get("/model/main/versions?from=nope").status == 422)
      #expect(try await browser.get("/model/other/versions").status == 404)
      #expect(try await browser.get("/model/main/versions?form=Main").status == 400)
    }
  }

  @Test("a trial shows what would be inserted, and what would be changed to what")
  func examples() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let begun = try await browser.send("/upload", form: ["name": "people.csv", "size": "2"]).text
      let id = try #require(begun.firstMatch(of: /"id":"(\d+)"/)?.1)
      _ = try await browser.send("/upload/\(id)/part?offset=0", body: "a\n")
      let page = try await browser.get("/upload/\(id)?recipe=people").text
      for words in ["would be inserted", "&lt;i&gt;Quai&lt;/i&gt;", "would be changed", "<bdi>Gare</bdi>"] {
        #expect(page.contains(words), "\(words)")
      }
    }
  }

  @Test("the keys of the pages are listed, and marked on the links that they follow")
  func keys() async throws {
    try await Site.with(MemoryBackend(sharesQueue: true)) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/help").text
      let keys = Page.Section.allCases.map(\.key)
      #expect(Set(keys).count == keys.count && !keys.contains("g"))
      for key in keys + ["?"] { #expect(page.contains("data-key=\"\(key)\""), "\(key)") }
      #expect(page.contains("keys.js"))
      #expect(try await !site.ask("GET", "/help").text.contains("data-key"))
    }
  }

  @Test("who isn't an operator is offered nothing that only operators may do")
  func others() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running)])) { site async throws in
      let operating = try await site.signedIn()
      let other = try await site.signedIn(as: Peer(pid: 1, uid: 4712, gid: 4712))
      for (page, words) in [
        ("/stores", "Restore…"), ("/stores", "Vacuum"), ("/", "/pause\""), ("/schedules", "Run now"),
        ("/configuration", "Reload"), ("/data/main/Route", "New Route"), ("/data/main/Route/3", "/edit\""),
      ] {
        #expect(try await operating.get(page).text.contains(words), "\(page): \(words)")
        #expect(try await !other.get(page).text.contains(words), "\(page): \(words)")
      }
      let restore = try await other.get("/stores/main/restore?backup=\(Self.backup)").text
      #expect(restore.contains("Only operators") && !restore.contains("Restore it"))
    }
  }
}
