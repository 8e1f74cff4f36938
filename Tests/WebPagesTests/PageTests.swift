import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("Pages")
struct PageTests {
  /// What would run, break the page, or change the direction of its text.
  private static let hostile = "<script>alert('x')</script>\"'><img src=x onerror=alert(1)>\u{202E}&amp;\u{0}"

  /// A job with a hostile text wherever there can be one.
  private static var hostileJob: Job {
    var job = Job.example(Int64.max - 1, .running, source: hostile, reason: hostile)
    (job.kind, job.lane, job.store, job.entity) = (hostile, hostile, hostile, hostile)
    (job.recipe, job.submittedBy, job.uniqueKey, job.failureCode) = (hostile, hostile, hostile, hostile)
    (job.tags, job.waitsFor, job.note) = ([hostile], hostile, hostile)
    job.progress = JobProgress(
      bytesDone: 1, bytesTotal: 2, records: .max, inserted: .max, rejected: .max, phase: hostile)
    job.transitions = [
      JobTransition(at: Date(), from: nil, to: .running, reason: hostile, by: hostile)
    ]
    job.after = [JobDependency(job: 12)]
    return job
  }

  private func expectHarmless(_ page: String, _ comment: Comment) {
    #expect(!page.contains("<script>"), comment)
    #expect(!page.contains("<img"), comment)
    #expect(!page.contains("alert('x')"), comment)
    // What a form sends back is as it was typed.
    let shown = page.replacing(#/ value="[^"]*"/#, with: "")
    #expect(!shown.contains("\u{202E}") && !page.contains("\u{0}"), comment)
  }

  @Test("hostile names are shown and never run")
  func hostileNames() async throws {
    let backend = MemoryBackend(jobs: [Self.hostileJob])
    backend.log(Self.hostile, job: .max - 1)
    try await Site.with(backend) { site async throws in
      let browser = try await site.signedIn()
      for uri in ["/jobs", "/jobs/\(Int64.max - 1)", "/jobs/\(Int64.max - 1)/cancel", "/jobs/\(Int64.max - 1)/rejects"]
      {
        let answer = try await browser.get(uri)
        #expect(answer.status == 200, "\(uri): \(answer.text)")
        expectHarmless(answer.text, "\(uri)")
        #expect(answer.text.contains("9223372036854775806"), "\(uri): numbers have 64 bits")
      }
      let job = try await browser.get("/jobs/\(Int64.max - 1)")
      #expect(job.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"))
      #expect(job.text.contains("[U+202E]&amp;amp;[U+0000]"))
      #expect(job.text.contains("9,223,372,036,854,775,807"))
      let list = try await browser.get("/jobs")
      #expect(list.text.components(separatedBy: "&lt;script&gt;").count > 5)
    }
  }

  @Test("an address is answered with a page, whatever is in it")
  func hostileAddresses() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let encoded = QueryString.percentEncoded(Self.hostile)
      for (uri, status) in [
        ("/\(encoded)", 404), ("/jobs/\(encoded)", 422), ("/jobs?q=\(encoded)", 400), ("/jobs?order=\(encoded)", 400),
        ("/jobs?\(encoded)=1", 400), ("/jobs?q=lane:%22\(encoded)%22", 400), ("/jobs?start=-1", 400),
        ("/jobs?start=99999999999999999999", 400), ("/jobs/1?x=1", 400), ("/jobs/99", 404), ("/jobs/-1", 422),
        ("/jobs/99999999999999999999", 422), ("/jobs/1/explode", 404), ("/jobs/1/rejects?after=x", 400),
        ("/events?job=x", 400), ("/events?x=1", 400), ("/jobs?q=%FF", 400), ("/jobs?q=a&q=b", 400),
      ] {
        let answer = try await browser.get(uri)
        #expect(answer.status == status, "\(uri): \(answer.text)")
        #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
        #expect(answer.headers["content-security-policy"] == PageHeaders.policy)
        expectHarmless(answer.text, "\(uri)")
      }
    }
  }

  @Test("a failure of the daemon is a page, too")
  func failure() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = Page.problem(Problem(describing: MemoryBackend.DiskFull(), method: "GET", path: "/"), isSignedIn: true)
      let text = page.document(for: WebSession(peer: Site.peer, user: "ada"), isReadOnly: false)
      #expect(text.contains("the disk of the queue store is full") && text.contains("Status 500"))
      let missing = try await browser.get("/nothing")
      #expect(missing.status == 404 && missing.text.contains("There is no page /nothing."))
    }
  }

  @Test("the overview has lanes, states, stores and what is wrong, with what helps")
  func overview() async throws {
    let backend = MemoryBackend()
    backend.hangs = true
    try await Site.with(backend) { site async throws in
      let page = try await site.signedIn().get("/").text
      for text in [
        "main_queue", "no answer for 7 s", "ladectl log -n 100", "import", "/var/spool/lade", "main.sqlite",
        "/jobs?q=state%3Arunning", "user 4711",
      ] { #expect(page.contains(text), "\(text)") }
      backend.hangs = false
      #expect(try await site.signedIn().get("/").text.contains("None."))
    }
  }

  @Test("troubles come with a command that a shell reads as it is meant")
  func troubles() {
    let status = Status(
      version: "1", pid: 1, startedAt: Date(),
      lanes: [LaneStatus(name: "it's; rm -rf /", concurrency: 1, isPaused: true, pausedBy: "user 0")],
      counts: [.retryable: 3], stores: [], spool: "/",
      recipes: [RecipeFreshness(recipe: "orders", state: .late, reason: "nothing came")])
    let page = OverviewPage(
      status: status, stats: Stats(version: "1", startedAt: Date(), uptime: 1),
      health: Health(version: "1", checks: [:]), history: HistoryView(history: History(grain: 5, spans: [])),
      disks: DisksView(disks: [
        DiskUse(parts: ["spool"], path: "/var/spool/lade", size: 100, free: 50, inodes: 0, freeInodes: 0),
        DiskUse(parts: ["store main"], path: "/srv/a b", size: 1000, free: 900, inodes: 1000, freeInodes: 20),
      ]),
      mayOperate: true, now: Date())
    #expect(
      page.troubles == [
        .init(
          what: "recipe:orders", reason: "nothing came", command: "ladectl list --recipe orders",
          remedy: .look("Its jobs", .jobs(JobsView(recipe: "orders")))),
        .init(
          what: "disk: store main", reason: "20 of 1,000 files can still be made",
          command: "du -xh --max-depth=1 '/srv/a b'", remedy: .look("Stores", .stores)),
        .init(
          what: "lane:it's; rm -rf /", reason: "paused by user 0", command: "ladectl resume 'it'\\''s; rm -rf /'",
          remedy: .resume(lane: "it's; rm -rf /")),
        .init(
          what: "jobs", reason: "3 jobs failed, and will be tried again", command: "ladectl list --state retryable",
          remedy: .look("Show them", .jobs(JobsView(states: [.retryable])))),
      ])
  }

  @Test(
    "of a disk that doesn't answer the age of its figures is shown, and no verdict; a saved recipe leads to its removal"
  )
  func oldFigures() {
    let disk = DiskUse(parts: ["spool"], path: "/srv", size: 1000, free: 1, inodes: 0, freeInodes: 0)
    #expect(disk.problem?.contains("are free") == true)
    let old = disk.aged(330, because: "it hangs")
    #expect(old.problem == "the figures are 5:30 old: it hangs", "\(old.problem ?? "")")
    let view = DisksView(disks: [old]).section.text
    #expect(view.contains("unknown: 5:30 ago") && !view.contains("short") && !view.contains("enough"), "\(view)")
    let page = OverviewPage(
      status: Status(version: "1", pid: 1, startedAt: Date(), lanes: [], counts: [:], stores: [], spool: "/"),
      stats: Stats(version: "1", startedAt: Date(), uptime: 1),
      health: Health(version: "1", checks: ["the saved recipe it's": .init(.warn, "it isn't used")]),
      history: HistoryView(history: History(grain: 5, spans: [])), disks: DisksView(disks: []), mayOperate: true,
      now: Date())
    #expect(
      page.troubles == [
        .init(
          what: "saved_recipe:it's", reason: "it isn't used", command: "ladectl recipe remove 'it'\\''s'",
          remedy: .look("Saved recipes", .configuration))
      ])
  }

  @Test("jobs are searched, sorted and paged by the address alone")
  func jobs() async throws {
    let jobs = (1...120).map { Job.example($0, $0 % 2 == 0 ? .completed : .discarded, source: "file\($0).csv") }
    try await Site.with(MemoryBackend(jobs: jobs)) { site async throws in
      let browser = try await site.signedIn()
      let first = try await browser.get("/jobs").text
      #expect(first.contains("file120.csv") && first.contains("file71.csv") && !first.contains("file70.csv"))
      #expect(first.contains("href=\"/jobs?start=71\"") && !first.contains("First page"))
      let second = try await browser.get("/jobs?start=71").text
      #expect(second.contains("file70.csv") && !second.contains("file71.csv") && second.contains("First page"))
      let oldest = try await browser.get("/jobs?order=oldest").text
      #expect(oldest.contains("file1.csv") && oldest.contains("href=\"/jobs?order=oldest&amp;start=50\""))
      let next = try await browser.get("/jobs?order=oldest&start=50").text
      #expect(next.contains("file51.csv") && !next.contains("file50.csv"))
      let found = try await browser.get("/jobs?q=state:discarded&start=11").text
      #expect(found.contains("file9.csv") && !found.contains("file8.csv"))
      #expect(found.contains("value=\"state:discarded\""), "the form has the search")
      #expect(site.backend.jobQueries.last?.selection == JobSelection(states: [.discarded]))
      let none = try await browser.get("/jobs?q=lane:elsewhere").text
      #expect(none.contains("No job matches."))
      let one = try await browser.get("/jobs?q=17")
      #expect(one.status == 303 && one.headers["location"] == "/jobs/17")
      let wrong = try await browser.get("/jobs?q=colour:red")
      #expect(wrong.status == 400 && wrong.text.contains("There is no colour: to search for."))
    }
  }

  @Test("a tab keeps what else was searched for")
  func tabs() async throws {
    try await Site.with { site async throws in
      let page = try await site.signedIn().get("/jobs?q=recipe:orders%20state:running").text
      #expect(page.contains("href=\"/jobs?q=state%3Acompleted%20recipe%3Aorders\""))
      #expect(page.contains("href=\"/jobs?q=recipe%3Aorders\""))
      #expect(page.contains("q=state%3Arunning%20recipe%3Aorders\" aria-current=\"page\""))
    }
  }

  @Test("a job has its progress, its states with times, its log and what can be done to it")
  func job() async throws {
    var job = Job.example(7, .running, progress: JobProgress(bytesDone: 250, bytesTotal: 1000, records: 1234))
    let start = Date(timeIntervalSince1970: 1_772_000_000)
    job.transitions = [
      JobTransition(at: start, from: nil, to: .available, reason: "submitted", by: "user 0"),
      JobTransition(at: start + 90, from: .available, to: .running, reason: "claimed"),
    ]
    let backend = MemoryBackend(jobs: [job])
    backend.log("job 7: reads", job: 7)
    backend.log("another", job: 8)
    try await Site.with(backend) { site async throws in
      let page = try await site.signedIn().get("/jobs/7").text
      for text in [
        "value=\"25\"", "25 %", "1,234", "records/s", "left", "stops.csv", "submitted", " for 1:30", "claimed",
        "job 7: reads", "<time datetime=\"2026-02-25T06:13:20Z\">", "href=\"/jobs/7/cancel\"", "href=\"/jobs/7\"",
        "data-job=\"7\"",
      ] where text != "href=\"/jobs/7\"" { #expect(page.contains(text), "\(text)") }
      for text in ["another", "href=\"/jobs/7/retry\"", "href=\"/jobs/7/remove\"", "href=\"/jobs/7/release\""] {
        #expect(!page.contains(text), "\(text)")
      }
    }
  }

  @Test("how long a job takes is told from what it has done")
  func rates() throws {
    var job = Job.example(1, .running, progress: JobProgress(bytesDone: 250, bytesTotal: 1000, records: 1000))
    let now = try #require(job.startedAt) + 10
    let rate = try #require(JobRate(job, now: now))
    #expect(rate.elapsed == 10 && rate.records == 100 && rate.bytes == 25 && rate.remaining == 30)
    job.progress = JobProgress(records: .max)
    #expect(try #require(JobRate(job, now: now)).remaining == nil)
    #expect(try #require(JobRate(job, now: now - 20)).elapsed == 0)
    job.startedAt = nil
    #expect(JobRate(job, now: now) == nil)
    #expect(JobRate.whole(.infinity) == .max && JobRate.whole(.nan) == .max)
  }

  @Test("an action asks first, by a page that needs no script")
  func confirmation() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running), .example(2, .completed)])) { site async throws in
      let browser = try await site.signedIn()
      let question = try await browser.get("/jobs/1/cancel")
      #expect(question.text.contains("<form method=\"post\" action=\"/jobs/1/cancel\""))
      #expect(question.text.contains("Cancel job 1?"))
      #expect(try await site.backend.job(1).state == .running, "asking changes nothing")
      for action in JobChange.Action.onPages {
        #expect(try await browser.get("/jobs/2/\(action.rawValue)").status == 200, "\(action)")
      }
      let removal = try await browser.post("/jobs/2/remove")
      #expect(removal.status == 303 && removal.headers["location"] == "/jobs")
      #expect(try await browser.get("/jobs/2").status == 404)
    }
  }

  @Test("lanes are paused and resumed")
  func lanes() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get("/").text.contains("action=\"/lanes/import/pause\""))
      #expect(try await browser.post("/lanes/import/pause").headers["location"] == "/")
      #expect(try await site.backend.lanes().first?.isPaused == true)
      #expect(try await browser.post("/lanes/import/resume").status == 303)
      #expect(try await site.backend.lanes().first?.isPaused == false)
    }
  }

  @Test("rejects are grouped by reason, and the faulty cell of each record is marked")
  func rejects() async throws {
    var job = Job.example(3, .completed, progress: JobProgress(rejected: 1204))
    job.rejectsFile = "/var/lib/lade/rejects/3"
    var running = Job.example(4, .running, progress: JobProgress(rejected: 1204))
    running.rejectsFile = "/var/lib/lade/rejects/4"
    try await Site.with(MemoryBackend(jobs: [job, running, .example(5, .completed)])) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/jobs/3/rejects").text
      for text in ["1,204 records rejected", "not_a_number", "1,203", "too_few_fields", "1,<mark>x</mark>", "line 7"] {
        #expect(page.contains(text), "\(text)")
      }
      let unfinished = try await browser.get("/jobs/4/rejects").text
      #expect(unfinished.contains("when the job has ended") && !unfinished.contains("<mark>"))
      #expect(try await browser.get("/jobs/5/rejects").text.contains("0 records rejected"))
      #expect(try await browser.get("/jobs/99/rejects").status == 404)
    }
  }

  @Test("every page has one heading, a language, a skip link, captions and labels")
  func structure() async throws {
    var job = Job.example(3, .completed, progress: JobProgress(rejected: 1204))
    job.rejectsFile = "/var/lib/lade/rejects/3"
    try await Site.with(MemoryBackend(jobs: [job])) { site async throws in
      let browser = try await site.signedIn()
      for uri in ["/", "/jobs", "/jobs/3", "/jobs/3/rejects", "/jobs/3/retry", "/nothing"] {
        let page = try await browser.get(uri).text
        func count(_ text: String) -> Int { page.components(separatedBy: text).count - 1 }
        #expect(count("<h1>") == 1 && count("<main ") == 1 && count("<header>") == 1, "\(uri)")
        #expect(page.hasPrefix("<!doctype html>\n<html lang=\"en\">") && count("class=\"skip\"") == 1, "\(uri)")
        #expect(count("<table>") == count("<caption>") && count("<table>") == count("role=\"group\""), "\(uri)")
        #expect(!page.contains("<th>"), "each has a scope: \(uri)")
        let ids = page.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
        #expect(Set(ids).count == ids.count, "\(uri)")
        #expect(count(" data-live=") <= ids.count)
        #expect(page.utf8.count < 100_000, "\(uri)")
      }
    }
  }

  @Test("neither clients that send slowly nor two hundred streams keep a page from being answered")
  func crowd() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running)])
    try await Site.with(backend) { site async throws in
      let browser = try await site.signedIn()
      var crowd: [Connection] = []
      for _ in 0..<20 { crowd.append(try Connection(to: site.port, sending: "POST /jobs/1/cancel HTTP/1.1\r\nHo")) }
      for _ in 0..<200 {
        let head = "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: \(browser.cookie)\r\n\r\n"
        let stream = try Connection(to: site.port, sending: head)
        #expect(await stream.receive(until: ": laded").contains("text/event-stream"))
        crowd.append(stream)
      }
      #expect(try await browser.get("/jobs/1").status == 200)
      backend.set(.example(1, .completed))
      for stream in crowd.dropFirst(20) {
        #expect(await stream.receive(until: "event: changed").contains("data: {\"jobs\":[\"1\"]}"))
      }
      #expect(try await browser.get("/jobs/1").text.contains("completed"))
    }
  }

  @Test("changed jobs are named until there are too many, and once")
  func changedJobs() {
    let changed = ChangedJobs()
    for number in [7, 12, 7, Int64.max] { changed.insert(number) }
    #expect(changed.take() == "{\"jobs\":[\"7\",\"12\",\"9223372036854775807\"]}")
    #expect(changed.take() == "{\"jobs\":[]}")
    for number in 0..<1000 { changed.insert(Int64(number)) }
    #expect(changed.take() == "{}")
    #expect(changed.take() == "{\"jobs\":[]}")
  }

  @Test("a stream says that a job has changed, for the page to be fetched again")
  func events() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running), .example(2, .running)])
    try await Site.with(backend) { site async throws in
      let browser = try await site.signedIn()
      let head = "GET /events?job=2 HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: \(browser.cookie)\r\n\r\n"
      let stream = try Connection(to: site.port, sending: head)
      #expect(await stream.receive(until: ": laded").contains("text/event-stream"))
      backend.set(.example(1, .completed))
      backend.set(.example(2, .completed))
      #expect(await stream.receive(until: "event: changed").contains("data: {\"jobs\":[\"2\"]}"))
      #expect(try await browser.post("/sign-out").status == 200)
      backend.set(.example(2, .cancelled))
      #expect(await !stream.receive(until: "0\r\n\r\n").contains("event: changed"), "nobody is signed in any more")
      for await _ in backend.departures { break }
    }
  }
}
