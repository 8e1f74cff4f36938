import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("Uploads on the pages")
struct UploadPageTests {
  private struct Answer: Decodable {
    let id: String
    let received: Int64
  }

  private func answer(_ answer: TCPAnswer) throws -> Answer {
    try JSONDecoder().decode(Answer.self, from: answer.body)
  }

  @Test("a file arrives in parts, and goes on where it was broken off")
  func parts() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let begun = try answer(try await browser.send("/upload", form: ["name": "people.csv", "size": "11"]))
      #expect(begun.received == 0)
      let part = try answer(try await browser.send("/upload/\(begun.id)/part?offset=0", body: "a,b\n1,"))
      #expect(part.received == 6)
      let again = try answer(try await browser.send("/upload", form: ["name": "people.csv", "size": "11"]))
      #expect(again.id == begun.id && again.received == 6)
      let twice = try await browser.send("/upload/\(begun.id)/part?offset=0", body: "a,b\n1,")
      #expect(twice.status == 409)

      let halfway = try await browser.get("/upload/\(begun.id)").text
      #expect(halfway.contains("rest hasn&#39;t arrived") && !halfway.contains("Try it"))
      _ = try await browser.send("/upload/\(begun.id)/part?offset=6", body: "<b>2\n")
      let page = try await browser.get("/upload/\(begun.id)").text
      #expect(page.contains("a,b\n1,&lt;b&gt;2") && page.contains("Try it"))
      #expect(try await browser.get("/upload").text.contains("href=\"/upload/\(begun.id)\""))
    }
  }

  @Test("a recipe is tried without a job, and imports the file by a job of who has sent it")
  func trial() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let id = try answer(try await browser.send("/upload", form: ["name": "people.csv", "size": "2"])).id
      _ = try await browser.send("/upload/\(id)/part?offset=0", body: "a\n")
      let page = try await browser.get("/upload/\(id)?recipe=people").text
      #expect(site.backend.tests.map(\.source) == ["upload:\(id)"])
      #expect(site.backend.submissions.isEmpty)
      for words in [
        "Inserted", "it is bad", "a note", "shoeSize", "Integer 64", "discard_value", "Import it by people",
      ] {
        #expect(page.contains(words), "\(words)")
      }
      let imported = try await browser.send("/upload/\(id)/import", form: ["recipe": "people"])
      #expect(imported.status == 303)
      let submission = try #require(site.backend.submissions.last)
      #expect(submission.source == "upload:\(id)" && submission.recipe == "people")
      #expect(site.backend.peers.last == Site.peer)
      #expect(try await browser.get("/upload/\(id)").status == 404, "the job has a copy")
    }
  }

  @Test("a button that is pressed twice makes one job")
  func twice() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let id = try answer(try await browser.send("/upload", form: ["name": "people.csv", "size": "2"])).id
      _ = try await browser.send("/upload/\(id)/part?offset=0", body: "a\n")
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 {
          group.addTask { try await browser.send("/upload/\(id)/import", form: ["recipe": "people"]).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 303 }.count == 1)
      #expect(statuses.allSatisfy { [303, 404, 409].contains($0) })
      #expect(site.backend.submissions.count == 1)
    }
  }

  @Test("another user's file isn't there")
  func others() async throws {
    try await Site.with { site async throws in
      let owner = try await site.signedIn()
      let id = try answer(try await owner.send("/upload", form: ["name": "secret.csv", "size": "2"])).id
      let other = try await site.signedIn(as: Peer(pid: 1, uid: 4712, gid: 4712))
      #expect(try await !other.get("/upload").text.contains("secret.csv"))
      #expect(try await other.get("/upload/\(id)").status == 404)
      #expect(try await other.send("/upload/\(id)/part?offset=0", body: "x").status == 404)
      #expect(try await other.send("/upload/\(id)/import", form: ["recipe": "people"]).status == 404)
      #expect(try await other.post("/upload/\(id)/remove").status == 404)
      #expect(try await owner.post("/upload/\(id)/remove").status == 303)
      #expect(try await owner.get("/upload/\(id)").status == 404)
    }
  }

  @Test("what isn't a file's name and size is refused, and nothing is taken in read-only mode")
  func refused() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      for form in [
        ["name": "a"], ["name": "a", "size": "-1"], ["name": "a", "size": "x"], ["file": "a", "size": "1"],
      ] {
        #expect(try await browser.send("/upload", form: form).status == 400, "\(form)")
      }
      #expect(try await browser.send("/upload", form: ["name": ".hidden", "size": "1"]).status == 422)
      for uri in ["/upload/x", "/upload/1/part?offset=0"] {
        #expect(try await browser.get(uri).status != 200, "\(uri)")
      }
      #expect(try await browser.get("/upload/99").status == 404)
    }
    try await Site.with(settings: WebSettings(isReadOnly: true)) { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.send("/upload", form: ["name": "a", "size": "1"]).status == 403)
      #expect(try await !browser.get("/upload").text.contains("type=\"file\""))
    }
  }

  @Test("a trial ends when its page goes away: that of an upload, and the editor's preview", .timeLimit(.minutes(20)))
  func goneAway() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let id = try answer(try await browser.send("/upload", form: ["name": "people.csv", "size": "2"])).id
      _ = try await browser.send("/upload/\(id)/part?offset=0", body: "a\n")
      site.backend.trials.isHanging = true
      var begins = site.backend.trials.begins.makeAsyncIterator()
      var ends = site.backend.trials.ends.makeAsyncIterator()
      for uri in ["/upload/\(id)?recipe=people", "/upload/\(id)/map?into=main/Stop"] {
        do {
          let connection = try Connection(
            to: site.port,
            sending: "GET \(uri) HTTP/1.1\r\nHost: 127.0.0.1:\(site.port)\r\nCookie: \(browser.cookie)\r\n\r\n")
          await begins.next()
          // It is closed here.
          withExtendedLifetime(connection) {}
        }
        await ends.next()
      }
    }
  }
}
