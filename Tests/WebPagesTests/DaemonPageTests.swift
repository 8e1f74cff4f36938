import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("Pages of schedules, stores, daemons, log and configuration")
struct DaemonPageTests {
  /// What would run if it weren't escaped.
  private static let hostile = "<img src=x onerror=alert(1)>"

  @Test("schedules are told in words, with their next and last times, and run now by a button")
  func schedules() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/schedules").text
      for words in [
        "nightly", "Monday to Friday at 02:30", "<code>Mon..Fri *-*-* 02:30:00</code>", "Europe/Berlin",
        "a job was made",
        "href=\"/jobs/7\"", "switched off", "every hour", "missed runs are skipped",
        "action=\"/schedules/nightly/run\"",
      ] { #expect(page.contains(words), "\(words)") }

      let answer = try await browser.post("/schedules/nightly/run")
      #expect(answer.status == 303)
      let submission = try #require(site.backend.submissions.last)
      #expect(submission.kind == "check")
      let unknown = try await browser.post("/schedules/never/run")
      #expect(unknown.status == 404)
      #expect(unknown.text.contains("never"))
    }
  }

  @Test("schedules show their last runs, are paused and resumed by buttons, and say who paused them")
  func pausedSchedules() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/schedules").text
      #expect(page.contains("1 of 3 completed, 12.0 s at most"))
      #expect(page.contains("<title>job 5: discarded, 1.50 s</title>"))
      #expect(page.contains("action=\"/schedules/nightly/pause\""))
      #expect(!page.contains("action=\"/schedules/off/pause\""), "it is switched off")
      for action in ["pause", "resume"] {
        let answer = try await browser.post("/schedules/nightly/\(action)")
        #expect(answer.status == 303 && answer.headers["location"] == "/schedules", "\(action)")
        #expect(try await browser.post("/schedules/never/\(action)").status == 404)
      }
      #expect(site.backend.scheduleChanges == ["pause nightly", "resume nightly"])
    }
    var paused = Schedule(name: "nightly", kind: "check", calendar: ["daily"], pausedBy: "uid 0")
    paused.nextAt = Date(timeIntervalSince1970: 1_800_000_000)
    let page = SchedulesPage(schedules: [paused], mayOperate: true).page
      .document(for: nil, isReadOnly: false)
    #expect(page.contains("<strong>paused</strong> by <bdi>uid 0</bdi>"))
    #expect(page.contains("action=\"/schedules/nightly/resume\""))
    #expect(!page.contains("2027"), "no time at which nothing happens")
  }

  @Test(
    "usual times are told in words",
    arguments: [
      ("daily", "every day at midnight"), ("07:00", "every day at 07:00"), ("*-*-* 7:05:00", "every day at 07:05"),
      ("Mon..Fri 07:00", "Monday to Friday at 07:00"), ("Mon 00:30", "every Monday at 00:30"),
      ("Mon,Wed,Fri 6:00", "Monday, Wednesday and Friday at 06:00"), ("*:0/15", "every 15 minutes"),
      ("*-*-* *:00:00", "every hour"), ("*:30", "every hour at minute 30"),
      ("Sat..Sun *:0/5", "Saturday to Sunday, every 5 minutes"),
    ])
  func words(expression: String, words: String) { #expect(CalendarWords.words(for: expression) == words) }

  @Test(
    "other times have no words but their own",
    arguments: ["", "2026-*-* 07:00", "Fri 25:00", "07:00:30", "*:0/7", "Mon..Fri", "Mon..X 07:00", "07", "a:b", "::"])
  func noWords(expression: String) { #expect(CalendarWords.words(for: expression) == nil) }

  @Test("a store is shown with its size and backups, and each button makes a job for who presses it")
  func stores() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/stores").text
      for words in [
        "/var/lib/lade/main.sqlite", "/etc/lade/Main.xcdatamodeld", "main-2026-02-25T061320Z-job7.sqlite.zst",
        "/var/lib/lade/backups/main", "href=\"/jobs/7\"",
      ] { #expect(page.contains(words), "\(words)") }
      for action in StoreAction.allCases {
        #expect(page.contains("action=\"/stores/main/\(action.rawValue)\""))
        let answer = try await browser.post("/stores/main/\(action.rawValue)")
        #expect(answer.status == 303)
        let submission = try #require(site.backend.submissions.last)
        #expect(submission.kind == action.rawValue && submission.store == "main")
      }
    }
  }

  @Test("the daemons of a shared queue are shown with what they run, and those that are gone")
  func daemons() async throws {
    let list = try await MemoryBackend().daemons().daemons
    var (own, other) = (Job.example(3, .running), Job.example(4, .running))
    (own.daemon, other.daemon) = (list[0].incarnation, list[1].incarnation)
    try await Site.with(MemoryBackend(jobs: [own, other], sharesQueue: true)) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/daemons").text
      for words in [
        "<bdi>one</bdi>", "this daemon, which answers", "<bdi>two</bdi>", "<strong>gone</strong>", "href=\"/jobs/3\"",
        "href=\"/jobs/4\"", "<code>7c9e6679-7425-40de-944b-e07fc1f90ae7</code>", "data-live",
      ] { #expect(page.contains(words), "\(words)") }
      #expect(!page.contains("No daemon works on host"))
      #expect(try await browser.get("/daemons?x=1").status == 400)
      #expect(try await browser.get("/").text.contains("href=\"/daemons\""))
      let jobs = try await browser.get("/jobs").text
      #expect(jobs.contains(" on <a href=\"/daemons\"><bdi>two</bdi></a>"))
      #expect(!jobs.contains("<bdi>one</bdi>"), "what runs here needs no word")
      let place = try await browser.get("/jobs/4").text
      #expect(place.contains("<dt>Runs on</dt><dd><a href=\"/daemons\"><bdi>two</bdi></a>, another daemon</dd>"))
      #expect(try await browser.get("/jobs/3").text.contains("<bdi>one</bdi></a>, this daemon</dd>"))
    }
  }

  @Test("a queue that isn't shared has no link to the daemons, and their page says so")
  func ownQueue() async throws {
    try await Site.with { site async throws in
      #expect(try await !site.signedIn().get("/").text.contains("href=\"/daemons\""))
    }
    let alone = DaemonStatus(host: "one", pid: 1, version: "1", startedAt: Date(), running: 0, isThis: true)
    let page = DaemonsPage(daemons: [alone], running: [], available: []).page.document(for: nil, isReadOnly: false)
    #expect(page.contains("this daemon&#39;s alone") || page.contains("this daemon's alone"))
    #expect(!page.contains("gone"))
  }

  @Test("jobs whose files are on a host without a daemon are named, with what helps")
  func stranded() {
    let (one, gone) = (
      DaemonStatus(
        incarnation: "a", host: "one", pid: 1, version: "1", startedAt: Date(), leaseUntil: Date(), running: 0,
        isThis: true),
      DaemonStatus(
        incarnation: "b", host: Self.hostile, pid: 2, version: "1", startedAt: Date(), running: 0, isThis: false)
    )
    let jobs = (Int64(1)...15).map { id in
      var job = Job.example(id, .available)
      job.host = id <= 12 || id == 15 ? Self.hostile : id == 13 ? "one" : nil
      job.isFileInDatabase = id == 15
      return job
    }
    func text(_ jobs: [Job]) -> String {
      DaemonsPage(daemons: [one, gone], running: [], available: jobs).page.document(for: nil, isReadOnly: false)
    }
    let page = text(jobs)
    #expect(page.contains("12 jobs wait") && page.contains("href=\"/jobs/10\"") && page.contains(" and 2 more"))
    #expect(!page.contains("href=\"/jobs/13\"") && !page.contains("href=\"/jobs/14\""))
    #expect(!page.contains("href=\"/jobs/15\""))
    #expect(page.contains("<code>host: &lt;img src=x onerror=alert(1)&gt;</code>") && !page.contains("<img"))
    #expect(text([jobs[0]]).contains("A job waits"))
    #expect(!text(Array(jobs[12...])).contains("No daemon works"))
  }

  @Test("the log shows lines from a level on, of one job if that is said, the newest first")
  func log() async throws {
    let backend = MemoryBackend()
    backend.log("first \(Self.hostile)", job: 3)
    backend.log("second", level: .warning)
    backend.log("third", level: .debug)
    try await Site.with(backend) { site async throws in
      let browser = try await site.signedIn()
      let all = try await browser.get("/log").text
      #expect(!all.contains("third") && !all.contains("<img"))
      let first = try #require(all.range(of: "first")).lowerBound
      #expect(try #require(all.range(of: "second")).lowerBound < first)
      let grave = try await browser.get("/log?level=warning&job=").text
      #expect(grave.contains("second") && !grave.contains("first"))
      let ofJob = try await browser.get("/log?level=trace&job=3").text
      #expect(ofJob.contains("first") && !ofJob.contains("third"))
      for uri in ["/log?level=loud", "/log?job=x", "/log?lines=3"] {
        #expect(try await browser.get(uri).status == 400, "\(uri)")
      }
    }
  }

  @Test("the configuration is shown with its mistakes and settings, and read again by a button")
  func configuration() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/configuration").text
      for words in [
        "there is no key `lnaes`", "recipes.people.entity", "/etc/lade/lade.yaml", ":7", "LADE_LOG_LEVEL",
        "action=\"/configuration/reload\"",
      ] { #expect(page.contains(words), "\(words)") }

      let reloaded = try await browser.post("/configuration/reload")
      #expect(reloaded.status == 200)
      #expect(reloaded.text.contains("was read again") && reloaded.text.contains("recipes.people, keep"))

      // The backend in memory refuses while a lane is paused.
      _ = try await site.backend.pause(lane: "import", by: Site.peer)
      let refused = try await browser.post("/configuration/reload")
      #expect(refused.status == 422)
      #expect(refused.text.contains("there is no key `lnaes`") && !refused.text.contains("was read again"))
    }
  }

  @Test("all jobs that a search finds are changed after a question, as its user, by a job")
  func manyJobs() async throws {
    let jobs = [Job.example(1, .retryable, source: Self.hostile), .example(2, .retryable), .example(3, .running)]
    try await Site.with(MemoryBackend(jobs: jobs)) { site async throws in
      let browser = try await site.signedIn()
      let list = try await browser.get("/jobs?q=state:retryable").text
      #expect(list.contains("action=\"/jobs/change\"") && list.contains("value=\"state:retryable\""))

      let question = try await browser.get("/jobs/change?q=state:retryable&action=cancel")
      #expect(question.status == 200)
      #expect(question.text.contains("Cancel all jobs that match?") && !question.text.contains("<img"))
      #expect(question.text.contains("href=\"/jobs/1\"") && !question.text.contains("href=\"/jobs/3\""))
      #expect(site.backend.changes.isEmpty, "a question changes nothing")

      let answer = try await browser.send("/jobs/change", form: ["q": "state:retryable", "action": "cancel"])
      #expect(answer.status == 303)
      let page = try await browser.get(answer.headers["location"] ?? "").text
      #expect(page.contains("<dt>Changed</dt><dd>2</dd>") && page.contains("it has ended"))
      #expect(site.backend.changes == [JobChange(.cancel, JobSelection(states: [.retryable]))])

      _ = try await browser.send("/jobs/change", form: ["q": "", "action": "hold"])
      #expect(site.backend.changes.last == JobChange(.hold, JobSelection(), isForAll: true))
      _ = try await browser.send("/jobs/change", form: ["q": "2", "action": "retry"])
      #expect(site.backend.changes.last == JobChange(.retry, JobSelection(jobs: [2])))
    }
  }

  @Test("many jobs aren't changed by what isn't understood")
  func refusedChanges() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running)])) { site async throws in
      let browser = try await site.signedIn()
      for (form, status) in [
        (["q": "state:odd", "action": "cancel"], 400), (["q": "", "action": "explode"], 400), (["q": ""], 400),
        (["q": "", "action": "priority"], 400), (["action": "cancel", "lane": "import"], 400),
        (["q": "hello", "action": "cancel"], 400),
      ] {
        #expect(try await browser.send("/jobs/change", form: form).status == status, "\(form)")
      }
      #expect(site.backend.changes.isEmpty)
    }
  }

  @Test("in read-only mode there are no buttons, and nothing is changed")
  func readOnly() async throws {
    let settings = WebSettings(isReadOnly: true)
    try await Site.with(MemoryBackend(jobs: [.example(1, .retryable)]), settings: settings) { site async throws in
      let browser = try await site.signedIn()
      for uri in ["/jobs", "/schedules", "/stores", "/configuration", "/jobs/change?q=&action=cancel"] {
        let page = try await browser.get(uri).text
        let forms = page.components(separatedBy: "method=\"post\"").count - 1
        #expect(forms == 1, "\(uri): only signing out")
      }
      for uri in [
        "/schedules/nightly/run", "/schedules/nightly/pause", "/stores/main/check", "/configuration/reload",
        "/jobs/change",
      ] {
        #expect(try await browser.post(uri).status == 403, "\(uri)")
      }
      #expect(site.backend.submissions.isEmpty && site.backend.changes.isEmpty)
    }
  }

  @Test("another site's form does nothing")
  func foreignForms() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      for uri in [
        "/schedules/nightly/run", "/schedules/nightly/pause", "/stores/main/check", "/configuration/reload",
        "/jobs/change",
      ] {
        let answer = try await browser.post(uri, ["Sec-Fetch-Site": "cross-site"])
        #expect(answer.status == 403, "\(uri)")
      }
      #expect(site.backend.submissions.isEmpty && site.backend.changes.isEmpty)
    }
  }

  @Test("saved recipes are listed with what is wrong with them, and operators remove them after a question")
  func savedRecipes() async throws {
    try await Site.with { site async throws in
      site.backend.saved.set(RecipeDraft(store: "main", entity: "Stop"), as: "mine")
      site.backend.saved.set(RecipeDraft(store: "main", entity: "Gone"), as: "old")
      site.backend.saved.faults = ["old": "the store has no entity <b>Gone"]
      let browser = try await site.signedIn()
      let page = try await browser.get("/configuration").text
      let link = "/configuration/recipes/old/remove"
      for words in ["Stop of main", "the store has no entity &lt;b&gt;Gone", "href=\"\(link)\"", "or remove it"] {
        #expect(page.contains(words), "\(words): \(page)")
      }
      let question = try await browser.get(link).text
      #expect(question.contains("&lt;b&gt;Gone") && question.contains("action=\"\(link)\""))
      let other = try await site.signedIn(as: Peer(pid: 1, uid: 4712, gid: 4712))
      #expect(try await !other.get("/configuration").text.contains("/remove\""))
      #expect(try await other.send(link, form: [:]).status == 403)
      #expect(site.backend.saved.drafts["old"] != nil)
      let removed = try await browser.send(link, form: [:])
      #expect(removed.status == 303 && site.backend.saved.drafts["old"] == nil)
      #expect(try await browser.send(link, form: [:]).status == 404)
      #expect(try await browser.get("/configuration/recipes/people/remove").text.contains("remove it there"))
    }
  }
}
