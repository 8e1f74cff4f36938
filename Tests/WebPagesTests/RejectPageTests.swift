import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("Pages of rejects")
struct RejectPageTests {
  /// What would run, or change the direction of the text around it.
  private static let hostile = "</textarea><img src=x onerror=alert(1)>\u{202E}"

  /// A daemon with job 3, which has rejected records, and job 4, which has retried them and rejected one again.
  private static func backend(_ rejects: Reject...) -> MemoryBackend {
    var job = Job.example(3, .completed, progress: JobProgress(rejected: 1204))
    job.rejectsFile = "/var/lib/lade/rejects/3"
    var retry = Job.example(4, .completed, progress: JobProgress(rejected: 1))
    retry.rejectsFile = "/var/lib/lade/rejects/4"
    retry.retryOf = 3
    var running = Job.example(5, .running, progress: JobProgress(rejected: 1))
    running.rejectsFile = "/var/lib/lade/rejects/5"
    let backend = MemoryBackend(jobs: [job, retry, running])
    for reject in rejects { backend.rejected.put(reject) }
    return backend
  }

  private static func reject(_ record: String, number: Int64 = 2, bytes: Int? = nil) -> Reject {
    Reject(
      number: number, line: 9, column: "age", code: "not_a_number", message: "“y” isn't a number", record: record,
      recordBytes: bytes ?? record.utf8.count)
  }

  /// The record that was sent last.
  private func correction(_ site: Site) throws -> RejectCorrection {
    let request = try #require(site.backend.rejected.requests.last)
    return try #require(request.records?.first)
  }

  @Test("each open record leads to its page, and resolved ones name the job")
  func list() async throws {
    var resolved = Self.reject("2,y")
    resolved.resolvedBy = 4
    try await Site.with(Self.backend(resolved, Self.reject("3,z", number: 3))) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/jobs/3/rejects").text
      for words in [
        "1 resolved by job <a href=\"/jobs/4\">", "href=\"/jobs/3/rejects/1\" aria-label=\"Correct reject 1 of job 3\"",
        "href=\"/jobs/3/rejects/3\"", "href=\"/jobs/3/rejects/retry\"",
      ] { #expect(page.contains(words), "\(words)") }
      #expect(!page.contains("href=\"/jobs/3/rejects/2\""))
      let running = try await browser.get("/jobs/5/rejects").text
      #expect(!running.contains("/jobs/5/rejects/"), "not before its end")

      let page2 = try await browser.get("/jobs/3/rejects/2").text
      #expect(page2.contains("resolved by job <a href=\"/jobs/4\">") && !page2.contains("<textarea"))
      let page1 = try await browser.get("/jobs/3/rejects/1").text
      #expect(page1.contains("href=\"/jobs/3/rejects/3\""), "the next that is open")
    }
  }

  @Test("a reject is shown with its reason, its columns and its marked record, and a form that holds it")
  func one() async throws {
    try await Site.with(Self.backend()) { site async throws in
      let page = try await site.signedIn().get("/jobs/3/rejects/1")
      #expect(page.status == 200)
      for words in [
        "“x” isn&#39;t a number", "not_a_number", "<bdi>id</bdi>, <bdi>age</bdi>", "1,<mark>x</mark>", "<dd>7</dd>",
        "action=\"/jobs/3/rejects/1/retry\"", "<label for=\"record\">", ">\n1,x</textarea>",
        "name=\"do\" value=\"check\"", "name=\"do\" value=\"retry\"",
      ] { #expect(page.text.contains(words), "\(words)") }
    }
  }

  @Test("a check writes nothing, and says that the record would be imported")
  func good() async throws {
    try await Site.with(Self.backend()) { site async throws in
      site.backend.rejected.answer(RejectCheck(resolved: 1, rejects: []))
      let browser = try await site.signedIn()
      let page = try await browser.send("/jobs/3/rejects/1/retry", form: ["do": "check", "record": "1,36"])
      #expect(page.status == 200)
      #expect(page.text.contains("It would be imported.") && page.text.contains(">\n1,36</textarea>"))
      #expect(
        site.backend.rejected.requests == [
          RejectRetryRequest(records: [RejectCorrection(number: 1, record: "1,36")], isDryRun: true)
        ])
      #expect(site.backend.submissions.isEmpty)
    }
  }

  @Test("a check shows what would be wrong again before the record as it was, and keeps what was typed")
  func wrongAgain() async throws {
    try await Site.with(Self.backend()) { site async throws in
      var again = Self.reject("1,\(Self.hostile)", number: 1)
      again.cell = .init(offset: 2, length: Self.hostile.utf8.count)
      site.backend.rejected.answer(RejectCheck(resolved: 0, rejects: [again]))
      let browser = try await site.signedIn()
      let form = ["do": "check", "record": "1,\(Self.hostile)"]
      let page = try await browser.send("/jobs/3/rejects/1/retry", form: form).text
      #expect(page.contains("It would be rejected again") && page.contains("“y” isn&#39;t a number"))
      let marks = page.components(separatedBy: "<mark>").dropFirst()
      #expect(marks.first?.hasPrefix("&lt;/textarea&gt;&lt;img src=x onerror=alert(1)&gt;[U+202E]</mark>") == true)
      #expect(marks.last?.hasPrefix("x</mark>") == true)
      #expect(!page.contains("<img"))
      let typed = "1,&lt;/textarea&gt;&lt;img src=x onerror=alert(1)&gt;\u{202E}</textarea>"
      #expect(page.contains(typed), "the field has every character")

      site.backend.rejected.answer(RejectCheck(resolved: 0, rejects: [], failure: "nobody knows <b>"))
      let failed = try await browser.send("/jobs/3/rejects/1/retry", form: form).text
      #expect(failed.contains("The check failed: <bdi>nobody knows &lt;b&gt;</bdi>") && failed.contains(typed))
      site.backend.rejected.answer(RejectCheck(resolved: 0, rejects: []))
      let none = try await browser.send("/jobs/3/rejects/1/retry", form: form).text
      #expect(none.contains("It wouldn&#39;t be resolved.") && !none.contains("would be imported"))
    }
  }

  @Test("a corrected record is imported again by a job of who has sent it")
  func retry() async throws {
    try await Site.with(Self.backend()) { site async throws in
      let browser = try await site.signedIn()
      let answer = try await browser.send("/jobs/3/rejects/1/retry", form: ["do": "retry", "record": "1,36"])
      #expect(answer.status == 303 && answer.headers["location"] == "/jobs/6")
      #expect(
        site.backend.rejected.requests == [RejectRetryRequest(records: [.init(number: 1, record: "1,36")])])
      #expect(site.backend.peers == [Site.peer])
      // Without a field the record is meant as it is.
      #expect(try await browser.send("/jobs/3/rejects/1/retry", form: ["do": "retry"]).status == 303)
      #expect(try correction(site) == RejectCorrection(number: 1))
    }
  }

  @Test("a record's line ends come back as they were, whatever a browser makes of them")
  func lineEnds() async throws {
    let records = ["2,\"a\nb\",y", "2,\"a\r\nb\",y", "2,y", "\n2,y"]
    for record in records {
      try await Site.with(Self.backend(Self.reject(record))) { site async throws in
        let browser = try await site.signedIn()
        let page = try await browser.get("/jobs/3/rejects/2").text
        let shown = record.replacing("\r\n", with: "&#13;\n").replacing("\"", with: "&quot;")
        #expect(page.contains(">\n\(shown)</textarea>"), "\(record.debugDescription)")
        // URL Standard and HTML: each line end of a field is sent as CR LF.
        let sent = record.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        _ = try await browser.send("/jobs/3/rejects/2/retry", form: ["do": "check", "record": sent])
        #expect(try correction(site) == RejectCorrection(number: 2), "it is the same")
        let changed = sent.replacing("y", with: "7")
        _ = try await browser.send("/jobs/3/rejects/2/retry", form: ["do": "check", "record": changed])
        let expected = record.replacing("y", with: "7")
        #expect(try correction(site).record.map { Array($0.utf8) } == Array(expected.utf8))
      }
    }
  }

  @Test("a correction is told from the record by its bytes, and what a field adds at its end isn't one")
  func corrections() {
    func correction(_ record: String, _ typed: String) -> [UInt8]? {
      RejectField(Self.reject(record)).correction(typed).map { Array($0.utf8) }
    }
    #expect(correction("1,e\u{301}", "1,\u{E9}") == Array("1,\u{E9}".utf8), "composed")
    #expect(correction("1,x", "1,x\r\n\r\n") == nil)
    #expect(correction("1,x\n", "1,y") == Array("1,y\n".utf8))
    #expect(correction("1,x", "") == [])
    #expect(correction("1,\u{7}x", "1,\u{7}y") == Array("1,\u{7}y".utf8))
    #expect(correction("a\r\nb", "a\r\nb\r\nc") == Array("a\r\nb\r\nc".utf8))
    #expect(correction("a\nb", "a\rc") == Array("a\nc".utf8))
  }

  @Test("a record that couldn't be read is sent with its text, also where that wasn't changed")
  func unreadable() async throws {
    var reject = Self.reject("2,\"y")
    reject.isReadable = false
    try await Site.with(Self.backend(reject)) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/jobs/3/rejects/2").text
      #expect(page.contains("can&#39;t be read as it is") && page.contains("2,&quot;y</textarea>"))
      _ = try await browser.send("/jobs/3/rejects/2/retry", form: ["do": "retry", "record": "2,\"y"])
      #expect(try correction(site) == RejectCorrection(number: 2, record: "2,\"y"))
    }
  }

  private static let awkward: [(Reject, RejectField.Obstacle)] = [
    (reject("2,\"a\rb\",y"), .hasOddLineEnds), (reject("2,\"a\nb\r\nc\",y"), .hasOddLineEnds),
    (reject("2,\u{0}"), .hasNUL), (reject("2,y", bytes: 70_000), .isCut),
    (reject("2,\u{FFFD}y", bytes: 4), .isNoText), (reject("2,y\u{FFFD}"), .isCut),
  ]

  @Test(
    "a record that no field can hold as it is can be imported again only as it is", arguments: RejectPageTests.awkward)
  func obstacles(reject: Reject, obstacle: RejectField.Obstacle) async throws {
    #expect(RejectField(reject).obstacle == obstacle)
    try await Site.with(Self.backend(reject)) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/jobs/3/rejects/2").text
      #expect(!page.contains("<textarea") && page.contains("can be imported again as it is"))
      let refused = try await browser.send("/jobs/3/rejects/2/retry", form: ["do": "retry", "record": "2,7"])
      #expect(refused.status == 422 && refused.text.contains("can&#39;t be corrected on a page"))
      #expect(refused.text.contains(">\n2,7</textarea>"), "what was typed is kept")
      #expect(site.backend.rejected.requests.isEmpty)
      #expect(try await browser.send("/jobs/3/rejects/2/retry", form: ["do": "retry"]).status == 303)
      #expect(try correction(site) == RejectCorrection(number: 2))
    }
  }

  @Test("what the daemon refuses is said on the page, with its status and what was typed")
  func refused() async throws {
    var resolved = Self.reject("2,y")
    resolved.resolvedBy = 4
    try await Site.with(Self.backend(resolved)) { site async throws in
      let browser = try await site.signedIn()
      let errors: [(ControlError, Int)] = [
        (.conflict(reason: "Job 4 is retrying <it>.", hint: "'ladectl wait 4' waits."), 409),
        (.invalid(field: "records", reason: "it isn't one record"), 422), (.forbidden(reason: "It isn't yours."), 403),
      ]
      for (error, status) in errors {
        site.backend.rejected.refuse(error)
        for action in RejectAction.allCases {
          for number in [1, 2] {
            let form = ["do": action.rawValue, "record": "1,36"]
            let answer = try await browser.send("/jobs/3/rejects/\(number)/retry", form: form)
            #expect(answer.status == status && answer.text.contains("id=\"mistake\""))
            #expect(answer.text.contains(">\n1,36</textarea>") && !answer.text.contains("<it>"))
          }
        }
        let all = try await browser.post("/jobs/3/rejects/retry")
        #expect(all.status == status && all.text.contains("id=\"mistake\""))
      }
      #expect(site.backend.submissions.isEmpty)
    }
  }

  @Test("all open records are imported again after a question")
  func all() async throws {
    try await Site.with(Self.backend()) { site async throws in
      let browser = try await site.signedIn()
      let question = try await browser.get("/jobs/3/rejects/retry").text
      #expect(question.contains("1,204 records are open") && question.contains("wrong again stay open"))
      #expect(question.contains("action=\"/jobs/3/rejects/retry\"") && site.backend.rejected.requests.isEmpty)
      let answer = try await browser.post("/jobs/3/rejects/retry")
      #expect(answer.status == 303 && answer.headers["location"] == "/jobs/6")
      #expect(site.backend.rejected.requests == [RejectRetryRequest()])
      let early = try await browser.get("/jobs/5/rejects/retry").text
      #expect(early.contains("hasn&#39;t ended") && !early.contains("action=\"/jobs/5"))
    }
  }

  @Test("what a retry rejects again is corrected in the job whose rejects it retried")
  func ofRetry() async throws {
    try await Site.with(Self.backend()) { site async throws in
      let browser = try await site.signedIn()
      // The line of a reject of a retry is the number that the record has there.
      let list = try await browser.get("/jobs/4/rejects").text
      #expect(list.contains("href=\"/jobs/3/rejects/7\" aria-label=\"Correct reject 7 of job 3\""))
      #expect(list.contains("href=\"/jobs/3/rejects\"") && !list.contains("/jobs/4/rejects/retry"))
      let page = try await browser.get("/jobs/4/rejects/1").text
      #expect(page.contains("href=\"/jobs/3/rejects/7\"") && !page.contains("<textarea"))
      let question = try await browser.get("/jobs/4/rejects/retry").text
      #expect(question.contains("is itself a retry") && !question.contains("action=\"/jobs/4"))
    }
  }

  @Test("in read-only mode rejects are shown, and nothing is checked or retried")
  func readOnly() async throws {
    try await Site.with(Self.backend(), settings: WebSettings(isReadOnly: true)) { site async throws in
      let browser = try await site.signedIn()
      for uri in ["/jobs/3/rejects", "/jobs/3/rejects/1", "/jobs/3/rejects/retry"] {
        let page = try await browser.get(uri)
        #expect(page.status == 200 && !page.text.contains("action=\"/jobs"), "\(uri)")
        #expect(!page.text.contains("<textarea") && !page.text.contains(">Correct<"), "\(uri)")
      }
      for action in RejectAction.allCases {
        let form = ["do": action.rawValue, "record": "1,36"]
        #expect(try await browser.send("/jobs/3/rejects/1/retry", form: form).status == 403)
      }
      #expect(try await browser.post("/jobs/3/rejects/retry").status == 403)
      #expect(site.backend.rejected.requests.isEmpty)
    }
  }

  @Test("what isn't understood, and what another site sends, does nothing")
  func mistakes() async throws {
    try await Site.with(Self.backend()) { site async throws in
      let browser = try await site.signedIn()
      for (uri, status) in [
        ("/jobs/3/rejects/99", 404), ("/jobs/3/rejects/0", 422), ("/jobs/3/rejects/x", 422),
        ("/jobs/3/rejects/-1", 422), ("/jobs/99/rejects/1", 404), ("/jobs/99/rejects/retry", 404),
        ("/jobs/3/rejects/1?x=1", 400), ("/jobs/3/rejects/retry?x=1", 400), ("/jobs/3/rejects/download", 422),
      ] {
        #expect(try await browser.get(uri).status == status, "\(uri)")
      }
      let back = try await browser.get("/jobs/3/rejects/1/retry")
      #expect(back.status == 303 && back.headers["location"] == "/jobs/3/rejects/1")
      let forms: [[String: String]] = [
        [:], ["record": "1,36"], ["do": "explode"], ["do": "check", "records": "1,36"],
      ]
      for form in forms {
        #expect(try await browser.send("/jobs/3/rejects/1/retry", form: form).status == 400, "\(form)")
      }
      for uri in ["/jobs/3/rejects/1/retry", "/jobs/3/rejects/retry"] {
        #expect(try await browser.post(uri, ["Sec-Fetch-Site": "cross-site"]).status == 403)
      }
      #expect(site.backend.rejected.requests.isEmpty && site.backend.submissions.isEmpty)
    }
  }

  @Test("a field of several lines holds its text as it is, and can't be left")
  func textArea() {
    let field = HTML.textArea(.name("record"), text: "\n</textarea>&\u{7}\u{202E}\r\n\u{0}\"")
    #expect(
      field.text
        == "<textarea name=\"record\">\n\n&lt;/textarea&gt;&amp;\u{7}\u{202E}&#13;\n\u{FFFD}&quot;</textarea>")
  }

  @Test("pages and corrections are of one attempt: after another one they are refused, and what was typed is kept")
  func attempts() async throws {
    try await Site.with(Self.backend()) { site async throws in
      let browser = try await site.signedIn()
      let attempt = try await site.backend.job(3).attempt
      let page = try await browser.get("/jobs/3/rejects/1").text
      #expect(page.contains("name=\"attempt\" value=\"\(attempt)\""))
      let form = ["do": "retry", "record": "1,36", "attempt": "\(attempt)"]
      #expect(try await browser.send("/jobs/3/rejects/1/retry", form: form).status == 303)
      #expect(site.backend.rejected.requests.last?.attempt == attempt)
      var job = try await site.backend.job(3)
      job.attempt += 1
      site.backend.set(job)
      site.backend.rejected.refuse(.conflict(reason: "Job 3 was tried again since."))
      let stale = try await browser.send("/jobs/3/rejects/1/retry", form: form)
      #expect(
        stale.status == 409 && stale.text.contains("tried again since") && stale.text.contains(">\n1,36</textarea>"))
      #expect(site.backend.rejected.requests.last?.attempt == attempt, "that of the page which was filled in")
      #expect(try await browser.get("/jobs/3/rejects?attempt=\(attempt)").status == 409)
      #expect(try await browser.get("/jobs/3/rejects?attempt=\(attempt + 1)").status == 200)
    }
  }
}
