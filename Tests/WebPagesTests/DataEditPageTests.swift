import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("Pages on which objects are edited")
struct DataEditPageTests {
  /// What would run if it weren't escaped.
  private static let hostile = "<img src=x onerror=alert(1)>\u{202E}"
  private static let address = "/data/main/Route/3/edit"

  /// The fields of the form, as a browser sends them, with some of them typed over.
  private func form(
    _ action: String, version: String = "first", _ typed: [String: String] = [:], none: Set<String> = [],
    take: [String: String] = [:]
  ) -> String {
    let shown: [(String, String?)] = [
      ("code", "9223372036854775807"), ("title", "Title 3"), ("night", "true"), ("fare", "1.10"),
      ("opened", "2026-03-01T12:00:00Z"), ("depot", "D1"),
    ]
    func pair(_ name: String, _ value: String) -> String { "\(name)=\(QueryString.percentEncoded(value))" }
    var parts = [pair("version", version)]
    for (name, value) in shown {
      parts.append(pair("property", name))
      if let value { parts.append(pair("shown", value)) }
      parts.append(pair("value", typed[name] ?? value ?? ""))
      if none.contains(name) { parts.append("none=true") }
      if let word = take[name] { parts.append(pair("take", word)) }
    }
    return (parts + [pair("do", action)]).joined(separator: "&")
  }

  /// Ends the next job that is submitted, as the daemon would.
  private func ending(_ backend: MemoryBackend, _ state: JobState, _ code: String? = nil) -> Task<Void, Never> {
    let events = backend.jobEvents()
    return Task {
      for await job in events where !job.state.isEnded {
        var job = job
        (job.state, job.failureCode, job.reason) = (state, code, code.map { "because of \($0)" })
        backend.set(job)
        return
      }
    }
  }

  @Test("the form has a labelled field for each property, by its type, and says what can't be edited")
  func fields() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get(Self.address)
      #expect(page.status == 200)
      for words in [
        "<label class=\"label\" for=\"field-0\"><bdi>code</bdi></label>", "value=\"9223372036854775807\"",
        "value=\"1.10\"", "<option value=\"true\" selected=\"selected\">true</option>", ">no value</option>",
        "the title of the Depot", "Can&#39;t be edited: it is binary.", "4 bytes", "name=\"version\" value=\"first\"",
        "with its zone", "action=\"/data/main/Route/3/edit\"",
      ] { #expect(page.text.contains(words), "\(words)") }
      let object = try await browser.get("/data/main/Route/3").text
      #expect(object.contains("href=\"/data/main/Route/3/edit\"") && object.contains("/data/main/Route/3/delete\""))
      #expect(try await browser.get("/data/main/Route/999/edit").status == 404)
      #expect(try await browser.get("/data/main/Route/x/edit").status >= 400)
    }
  }

  @Test("a check sends only what was changed, and shows what is wrong beside its field")
  func checks() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let fine = try await browser.send(
        Self.address, body: form("check", ["title": "a\r\nb", "night": "", "fare": "2.50", "depot": ""]))
      #expect(fine.status == 200 && fine.text.contains("It can be saved so."), "\(fine.text)")
      #expect(
        site.backend.edited.checked == [
          ObjectEdit(
            store: "main", object: 3, version: "first", values: ["title": .string("a\nb"), "fare": .string("2.50")],
            cleared: ["night", "depot"])
        ])
      #expect(fine.text.contains("a\nb</textarea>"), "what was typed stays")
      let wrong = try await browser.send(Self.address, body: form("save", ["title": "refused"]))
      #expect(wrong.status == 422)
      #expect(wrong.text.contains("more than 6 characters") && wrong.text.contains("aria-invalid=\"true\""))
      // An empty text is one, unless the box says otherwise.
      _ = try await browser.send(Self.address, body: form("check", ["title": ""]))
      _ = try await browser.send(Self.address, body: form("check", none: ["title"]))
      #expect(site.backend.edited.checked.suffix(2).map(\.values) == [["title": .string("")], [:]])
      #expect(site.backend.edited.checked.last?.cleared == ["title"])
      // A text that was typed over counts, whatever the box says.
      _ = try await browser.send(Self.address, body: form("check", ["title": "typed"], none: ["title"]))
      #expect(site.backend.edited.checked.last?.values == ["title": .string("typed")])
      let nothing = try await browser.send(Self.address, body: form("save"))
      #expect(nothing.status == 200 && nothing.text.contains("Nothing was changed"))
      #expect(site.backend.submissions.isEmpty)
    }
  }

  @Test("saving is a job of its user's, and its end leads back to the object")
  func saves() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let end = ending(site.backend, .completed)
      let answer = try await browser.send(Self.address, body: form("save", ["title": "new"]))
      await end.value
      #expect(answer.status == 303 && answer.headers["location"] == "/data/main/Route/3")
      let job = try #require(site.backend.submissions.last)
      #expect(job.kind == "edit" && job.store == "main" && job.entity == "Route")
      #expect(
        job.options == [
          "object": .int(3), "version": .string("first"), "set": .map(["title": .string("new")]),
        ])
      #expect(site.backend.peers.last?.uid == Site.peer.uid)
      let failure = ending(site.backend, .discarded, "not_unique")
      let refused = try await browser.send(Self.address, body: form("save", ["title": "taken"]))
      await failure.value
      #expect(refused.status == 422 && refused.text.contains("because of not_unique"))
      #expect(refused.text.contains("value=\"taken\""))
    }
  }

  @Test("a conflict shows what was shown, mine and theirs, and the choice is saved")
  func conflicts() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      site.backend.edited.setTitle(Self.hostile, of: 3)
      let conflict = try await browser.send(Self.address, body: form("save", ["title": "mine", "fare": "3"]))
      #expect(conflict.status == 409 && site.backend.submissions.isEmpty)
      for words in [
        "It has changed since it was shown", "<bdi>Title 3</bdi>", "<bdi>mine</bdi>",
        "<bdi>&lt;img src=x onerror=alert(1)&gt;[U+202E]</bdi>", "What is saved as title", "What is saved as fare",
        "<option value=\"mine\" selected=\"selected\">",
      ] { #expect(conflict.text.contains(words), "\(words)") }
      #expect(!conflict.text.contains("<img") && !conflict.text.contains("What is saved as night"))
      let version = "after \(Self.hostile)"
      #expect(conflict.text.contains("name=\"version\" value=\"after &lt;img"))
      let end = ending(site.backend, .completed)
      let saved = try await browser.send(
        Self.address,
        body: form(
          "save", version: version, ["title": "mine", "fare": "3"], take: ["title": "theirs", "fare": "mine"]))
      await end.value
      #expect(saved.status == 303)
      #expect(site.backend.submissions.last?.options["set"] == .map(["fare": .string("3")]))
      #expect(site.backend.submissions.last?.options["version"] == .string(version))
      // It may also change between the check and the job.
      let race = ending(site.backend, .discarded, "edit_conflict")
      let late = try await browser.send(Self.address, body: form("save", version: version, ["fare": "4"]))
      await race.value
      #expect(late.status == 409 && late.text.contains("It has changed since it was shown"))
    }
  }

  @Test("what was shown never comes back with the version of now, which would undo what somebody else has changed")
  func staleCheck() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      site.backend.edited.setTitle("theirs", of: 3)
      let checked = try await browser.send(Self.address, body: form("check", [:]))
      #expect(checked.text.contains("name=\"shown\" value=\"theirs\""))
      #expect(!checked.text.contains("value=\"Title 3\""))
    }
  }

  @Test("a new object has the model's defaults, and none of them has to be typed")
  func newObject() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get("/data/main/Route").text.contains("href=\"/data/main/Route/new\""))
      let page = try await browser.get("/data/main/Route/new").text
      #expect(page.contains("New Route") && page.contains("action=\"/data/main/Route/new\""))
      let end = ending(site.backend, .completed)
      let made = try await browser.send("/data/main/Route/new", body: "property=code&shown=0&value=12&do=save")
      await end.value
      #expect(made.status == 303 && made.headers["location"] == "/data/main/Route?sort=-objectID")
      #expect(site.backend.submissions.last?.options == ["set": .map(["code": .string("12")])])
    }
  }

  @Test("deleting asks first, with what goes along, and only as it was seen")
  func deletes() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/data/main/Route/3/delete").text
      #expect(page.contains("1 deleted of ") && page.contains("1,200 changed of ") && page.contains("Delete it"))
      #expect(site.backend.submissions.isEmpty)
      let end = ending(site.backend, .completed)
      let gone = try await browser.send("/data/main/Route/3/delete", body: "version=first")
      await end.value
      #expect(gone.status == 303 && gone.headers["location"] == "/data/main/Route")
      #expect(site.backend.submissions.last?.options["delete"] == .bool(true))
      site.backend.edited.setTitle("theirs", of: 3)
      let late = try await browser.send("/data/main/Route/3/delete", body: "version=first")
      #expect(late.status == 409 && late.text.contains("This is how it is now"))
      for words in ["<bdi>theirs</bdi>", "1 deleted of ", "Delete it", "name=\"version\" value=\"after theirs\""] {
        #expect(late.text.contains(words), "\(words): \(late.text)")
      }
      #expect(site.backend.submissions.count == 1)
    }
  }

  @Test("who may not edit is told why, and read-only pages change nothing")
  func refusals() async throws {
    let backend = MemoryBackend()
    backend.edited.isRefused = true
    try await Site.with(backend) { site async throws in
      let page = try await site.signedIn().get(Self.address).text
      #expect(page.contains("Only operators may submit jobs of the kind edit.") && !page.contains("name=\"value\""))
    }
    var settings = WebSettings()
    settings.isReadOnly = true
    try await Site.with(settings: settings) { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get(Self.address).text.contains("The pages are read-only."))
      #expect(try await browser.send(Self.address, body: form("save", ["title": "x"])).status == 403)
      #expect(try await browser.send("/data/main/Route/3/delete", body: "version=first").status == 403)
      #expect(site.backend.submissions.isEmpty && site.backend.edited.checked.count <= 1)
    }
  }

  @Test(
    "a form that no page has made is refused",
    arguments: [
      "value=x&do=save", "property=title&property=title&do=save", "property=title&value=x&do=burn", "nonsense=1",
      "property=%ff",
    ])
  func oddForms(_ body: String) async throws {
    try await Site.with { site async throws in
      let answer = try await site.signedIn().send(Self.address, body: body)
      #expect(answer.status == 400, "\(answer.status)")
      #expect(site.backend.submissions.isEmpty)
    }
  }
}
