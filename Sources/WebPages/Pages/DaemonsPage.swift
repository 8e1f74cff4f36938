import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The daemons that work on the queue.
  func addSharingPages(to router: Router<ControlContext>) {
    page(router, "/daemons") { visit in
      try visit.query().refuseNames(otherThan: [])
      let limit = DaemonsPage.mostJobs
      return .page(
        DaemonsPage(
          daemons: try await backend.daemons().daemons,
          running: try await backend.jobs(JobQuery(states: [.running], limit: limit)).jobs,
          available: try await backend.jobs(JobQuery(JobSelection(states: [.available]), limit: limit, order: .oldest))
            .jobs
        ).page)
    }
  }

  /// Knows the daemons that run some of these jobs, where several share the queue.
  func runners(of jobs: [Job]) async throws -> JobRunners {
    guard jobs.contains(where: { $0.daemon != nil }) else { return JobRunners() }
    return JobRunners(try await backend.daemons().daemons)
  }
}

/// The daemons that run jobs.
struct JobRunners: Sendable {
  private let daemons: [String: DaemonStatus]

  init(_ daemons: [DaemonStatus] = []) {
    self.daemons = Dictionary(daemons.compactMap { daemon in daemon.incarnation.map { ($0, daemon) } }) { $1 }
  }

  private func runner(of job: Job) -> DaemonStatus? { job.daemon.flatMap { daemons[$0] } }

  /// Where a job runs, with a link; nil for one that doesn't run, or in a queue that isn't shared.
  func place(of job: Job) -> HTML? {
    runner(of: job).map { daemon in
      HTML(joining: [link(to: daemon), HTML(daemon.isThis ? ", this daemon" : ", another daemon")])
    }
  }

  /// The same of a job that another daemon runs.
  func otherPlace(of job: Job) -> HTML? { runner(of: job).flatMap { $0.isThis ? nil : link(to: $0) } }

  private func link(to daemon: DaemonStatus) -> HTML {
    HTML.element("a", .link(.daemons)) { HTML.name(daemon.host) }
  }
}

/// Which daemons share the queue, and what they run.
struct DaemonsPage {
  /// How many jobs of a state are looked at.
  static let mostJobs = 500
  /// How many of them are named in one place.
  private static let mostNamed = 10

  let daemons: [DaemonStatus]
  let running: [Job]
  /// The oldest that could begin.
  let available: [Job]

  var page: Page {
    Page("Daemons", .daemons, events: .all) {
      HTML.element("section", .id("daemons"), .label("Daemons"), .live) {
        HTML.table(
          "Daemons",
          columns: [HTML.column("Host"), HTML.numberColumn("Process")]
            + ["Version", "Since", "Lease until"].map(HTML.column)
            + [HTML.numberColumn("Running"), HTML.column("Jobs"), HTML.column("Incarnation")],
          rows: daemons.map(row))
        if daemons.contains(where: { $0.incarnation == nil }) {
          HTML.element("p") {
            "The queue is this daemon's alone. Several share one in PostgreSQL, which the configuration names under "
            HTML.command("queue:")
            "."
          }
        }
      }
      HTML.element("section", .id("waiting"), .label("Files without a daemon"), .live) {
        for (host, jobs) in stranded { trouble(host, jobs) }
      }
    }
  }

  private func row(_ daemon: DaemonStatus) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row")) {
        HTML.name(daemon.host)
        if daemon.isThis { HTML.element("span", .style("note")) { " this daemon, which answers" } }
      }
      HTML.element("td", .style("number")) { HTML("\(daemon.pid)") }
      HTML.element("td") { HTML.name(daemon.version) }
      HTML.element("td") { HTML.time(daemon.startedAt) }
      HTML.element("td") {
        if daemon.isGone {
          HTML.element("strong") { "gone" }
          ": its jobs are being put back"
        } else {
          HTML.time(daemon.leaseUntil)
        }
      }
      HTML.numberCell(daemon.running)
      HTML.element("td") { named(running.filter { $0.daemon != nil && $0.daemon == daemon.incarnation }) }
      HTML.element("td") { if let incarnation = daemon.incarnation { HTML.command(incarnation) } }
    }
  }

  /// Links to some jobs, and how many there are beside these.
  @HTMLBuilder
  private func named(_ jobs: [Job]) -> HTML {
    for (place, job) in jobs.prefix(Self.mostNamed).enumerated() {
      if place > 0 { ", " }
      HTML.job(job.id)
    }
    if jobs.count > Self.mostNamed { " and \(Quantity.count(jobs.count - Self.mostNamed)) more" }
  }

  /// The jobs whose files are on hosts where no daemon works, by host.
  private var stranded: [(host: String, jobs: [Job])] {
    let hosts = Set(daemons.filter { !$0.isGone }.map(\.host))
    guard daemons.contains(where: { $0.incarnation != nil }) else { return [] }
    let waiting = available.filter { job in !job.isFileInDatabase && job.host.map { !hosts.contains($0) } ?? false }
    return Dictionary(grouping: waiting) { $0.host ?? "" }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  @HTMLBuilder
  private func trouble(_ host: String, _ jobs: [Job]) -> HTML {
    HTML.element("h2") {
      "No daemon works on host "
      HTML.name(host)
    }
    HTML.element("p", .style("problem")) {
      jobs.count == 1 ? "A job waits" : "\(Quantity.count(jobs.count)) jobs wait"
      " for files that only this host has: "
      named(jobs)
      "."
    }
    HTML.element("p") { "Do one of these:" }
    HTML.element("ul") {
      HTML.element("li") {
        "Start its daemon again, or one with "
        HTML.command("host: \(host)")
        " and the same spool and state on another machine. Jobs go on from what they have saved."
      }
      HTML.element("li") {
        "If the files are lost, cancel the jobs and submit their files again on a host that has a daemon. A recipe that "
        "knows objects by a key finds those that were imported. With the mode "
        HTML.command("insert")
        ", look at a job's counts first: what it has saved stays."
      }
    }
  }
}

extension DaemonStatus {
  /// Whether its lease was found over.
  fileprivate var isGone: Bool { incarnation != nil && leaseUntil == nil }
}
