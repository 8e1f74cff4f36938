import ControlAPI
import ControlServer
import FoundationEssentials
import LadeTypes

extension PageRoutes {
  /// One job.
  func job(_ visit: Visit) async throws -> PageAnswer {
    try visit.query().refuseNames(otherThan: [])
    let job = try await backend.job(visit.job())
    return .page(
      JobPage(
        job: job, runners: try await runners(of: [job]), log: backend.log(LogQuery(job: job.id, limit: 200)),
        isReadOnly: check.settings.isReadOnly, now: Date()
      ).page)
  }

  /// The question before a job is changed. The answer is a form, so nothing else is needed.
  func confirmation(of action: JobChange.Action, _ visit: Visit) async throws -> PageAnswer {
    let job = try await backend.job(visit.job())
    return .page(
      Page("\(action.title) job \(job.id)?", .jobs) {
        HTML.element("p") { action.consequence }
        HTML.element("dl") {
          HTML.fact("Job", HTML.job(job.id))
          HTML.fact("State", HTML.state(job.state))
          HTML.fact("Source", job.source.map { HTML.name($0) })
          HTML.fact("Recipe", job.recipe.map { HTML.name($0) })
        }
        HTML.element("form", .other("method", "post"), .action(.action(action, job.id)), .style("buttons")) {
          HTML.element("button", .other("type", "submit"), .style("main")) { "\(action.title) job \(job.id)" }
          HTML.button("Leave it", .job(job.id))
        }
      })
  }
}

extension JobChange.Action {
  /// What it does to one job.
  fileprivate var consequence: String {
    switch self {
    case .cancel: "The job stops at the end of its batch. What it has saved so far stays in the store."
    case .retry: "The job becomes available again, and continues behind what it has saved."
    case .hold: "The job doesn't start until it is released."
    case .release: "The job may start when its lane has room."
    case .priority: "The job runs earlier or later than others of its lane."
    case .remove: "The job, its log of states and its rejects are gone. What it has imported stays."
    }
  }

  /// Whether it can make sense for a job. The backend decides.
  fileprivate func suits(_ job: Job) -> Bool {
    switch self {
    case .cancel: !job.state.isEnded && !job.isCancelRequested
    case .retry: job.state == .retryable || job.state == .cancelled || job.state == .discarded
    case .hold: !job.state.isEnded && job.state != .running && !job.isHeld
    case .release: job.isHeld
    case .priority: !job.state.isEnded && job.state != .running
    case .remove: job.state.isEnded
    }
  }
}

/// How fast a job is, since its latest attempt began.
struct JobRate: Sendable {
  /// Seconds since then, or until its end.
  let elapsed: Double
  private let progress: JobProgress

  /// Nil for a job that hasn't begun.
  init?(_ job: Job, now: Date) {
    guard let started = job.startedAt else { return nil }
    elapsed = max((job.endedAt ?? now).timeIntervalSince(started), 0)
    progress = job.progress
  }

  var records: Int64? { elapsed > 0.05 ? Self.whole(Double(progress.records) / elapsed) : nil }
  var bytes: Double? { elapsed > 0.05 && progress.bytesDone > 0 ? Double(progress.bytesDone) / elapsed : nil }

  /// Seconds until the end if it goes on as it did; nil where too little is known.
  var remaining: Double? {
    guard let fraction = progress.fraction, fraction > 0.01, fraction < 1 else { return nil }
    return elapsed * (1 - fraction) / fraction
  }

  /// A number of any size as a whole one.
  static func whole(_ number: Double) -> Int64 { Int64(exactly: number.rounded()) ?? .max }
}

/// The page of one job.
struct JobPage {
  let job: Job
  var runners = JobRunners()
  let log: [LogLine]
  let isReadOnly: Bool
  let now: Date

  var page: Page {
    Page("Job \(job.id)", .jobs, events: .of(job.id)) {
      HTML.element("section", .id("progress"), .label("Progress"), .live) { progress }
      if !isReadOnly { HTML.element("section", .id("actions"), .label("Actions"), .live) { actions } }
      HTML.element("section", .id("facts"), .label("Facts"), .live) { facts }
      HTML.element("section", .id("options"), .label("Options")) { options }
      HTML.element("section", .id("attempts"), .label("Attempts"), .live) {
        JobAttempts(job.transitions ?? []).table(now: now)
      }
      HTML.element("section", .id("timeline"), .label("States"), .live) { timeline }
      HTML.element("section", .id("log"), .label("Log"), .live) { lines }
    }
  }

  /// Whether its reason says what went wrong.
  private var isTrouble: Bool {
    switch job.state {
    case .retryable, .cancelled, .discarded: true
    case .scheduled, .available, .running, .completed: false
    }
  }

  @HTMLBuilder
  private var progress: HTML {
    HTML.element("p") {
      HTML.state(job.state)
      if job.isCancelRequested { " It has been asked to stop." }
      if job.isHeld { " It is held." }
    }
    if let waitsFor = job.waitsFor {
      HTML.element("p") {
        "It waits for "
        HTML.name(waitsFor)
      }
    }
    if let reason = job.reason {
      HTML.element("p", isTrouble ? .style("problem") : nil) {
        HTML.name(reason)
        if let code = job.failureCode { HTML.element("span", .style("note")) { " \(code)" } }
      }
    }
    if let note = job.note { HTML.element("p") { HTML.name(note) } }
    HTML.element("p") { HTML.bar(job.progress) }
    HTML.element("dl", .style("figures")) {
      if let rate = JobRate(job, now: now) {
        HTML.fact(job.state.isEnded ? "Took" : "For", HTML(Quantity.span(rate.elapsed)))
        HTML.fact("Average", rate.records.map { HTML(Quantity.count($0) + " records/s") })
        HTML.fact("Input", rate.bytes.map { HTML(Quantity.bytes($0) + "/s") })
        if job.state == .running {
          HTML.fact("Now", job.rate.map { HTML(Quantity.count(JobRate.whole($0.records)) + " records/s") })
          let left = job.rate == nil ? rate.remaining : job.rate?.secondsLeft
          HTML.fact("About", left.map { HTML(Quantity.duration($0) + " left") })
        }
      }
      HTML.fact("Doing", job.progress.phase.map { HTML.name($0) })
      if let change = job.change { JobChangeView(result: change).figures } else { records }
    }
    if let change = job.change { JobChangeView(result: change).refusals }
  }

  @HTMLBuilder
  private var records: HTML {
    HTML.fact("Records", HTML.count(job.progress.records))
    HTML.fact("Inserted", HTML.count(job.progress.inserted))
    HTML.fact("Updated", HTML.count(job.progress.updated))
    HTML.fact("Unchanged", HTML.count(job.progress.unchanged))
    HTML.fact("Deleted", HTML.count(job.progress.deleted))
    HTML.fact("Skipped", HTML.count(job.progress.skipped))
    HTML.fact(
      "Rejected",
      job.progress.rejected > 0
        ? HTML.element("a", .link(.rejects(job.id))) {
          HTML.count(job.progress.rejected)
          if let open = job.openRejects { " (\(Quantity.count(open)) open)" }
        } : HTML("0"))
  }

  @HTMLBuilder
  private var actions: HTML {
    HTML.element("h2") { "Actions" }
    HTML.element("p", .style("buttons")) {
      for action in JobChange.Action.onPages where action.suits(job) {
        HTML.button(action.title, .action(action, job.id))
      }
    }
  }

  @HTMLBuilder
  private var facts: HTML {
    HTML.element("h2") { "Facts" }
    HTML.element("dl") {
      HTML.fact("Kind", HTML.name(job.kind))
      HTML.fact("Source", job.source.map { HTML.name($0) })
      HTML.fact("Recipe", job.recipe.map { HTML.name($0) })
      HTML.fact("Store", job.store.map { HTML.name($0) })
      HTML.fact("Entity", job.entity.map { HTML.name($0) })
      HTML.fact("Mode", job.mode.map { HTML($0.rawValue) })
      HTML.fact("Lane", HTML.name(job.lane))
      HTML.fact("Priority", HTML.count(job.priority))
      HTML.fact("Tags", job.tags.isEmpty ? nil : HTML.name(job.tags.joined(separator: ", ")))
      HTML.fact("Submitted by", HTML.name(job.submittedBy))
      HTML.fact("Origin", origin)
      HTML.fact("Unique key", job.uniqueKey.map { HTML.name($0) })
      HTML.fact("Batch", job.batch.map { HTML("\($0)") })
      HTML.fact("Attempt", HTML("\(job.attempt) of \(job.maxAttempts)"))
      HTML.fact("Rescues", job.rescues > 0 ? HTML.count(job.rescues) : nil)
      HTML.fact("Timeout", job.timeout.map { HTML(Quantity.seconds($0)) })
      HTML.fact("Deadline", job.deadline.map { HTML.time($0) })
      HTML.fact("Submitted", HTML.time(job.submittedAt))
      HTML.fact("Available", job.availableAt.map { HTML.time($0) })
      HTML.fact("Started", job.startedAt.map { HTML.time($0) })
      HTML.fact("Runs on", runners.place(of: job))
      HTML.fact("Host of its files", job.host.map { HTML.name($0) })
      HTML.fact("In the database", job.isFileInDatabase ? HTML("its file as well, so any host may run it") : nil)
      HTML.fact("Ended", job.endedAt.map { HTML.time($0) })
      if let after = job.after, !after.isEmpty {
        HTML.fact(
          "After",
          HTML(
            joining: after.map { other in
              HTML.element("span", .style("dependency")) {
                HTML.job(other.job)
                " \(other.condition.rawValue) "
              }
            }))
      }
    }
  }

  /// Only what the interface tells as well: not how the daemon names its files.
  private var origin: HTML? {
    guard let origin = job.originSummary else { return nil }
    switch origin.kind {
    case .request: return HTML("a request")
    case .spool: return HTML("the spool")
    case .upload: return HTML("an upload")
    case .schedule:
      return HTML(joining: [
        HTML.element("a", .link(.schedules)) { "schedule" }, HTML(" "), HTML.name(origin.name ?? ""),
      ])
    case .replay: return HTML(joining: [HTML("a replay of "), HTML.name(origin.name ?? "")])
    case .retry: return origin.job.map { HTML(joining: [HTML("rejects of job "), HTML.job($0)]) }
    }
  }

  /// As they are in force, with what the recipe and the configuration say.
  @HTMLBuilder
  private var options: HTML {
    if let settings = job.settings, !settings.isEmpty {
      HTML.element("h2") { "Options" }
      HTML.element("details") {
        HTML.element("summary") { "As they are in force" }
        HTML.table(
          "Options in force", columns: ["Option", "Value"].map(HTML.column),
          rows: settings.map { setting in
            HTML.element("tr") {
              HTML.element("th", .other("scope", "row")) { HTML.name(setting.name) }
              HTML.element("td") { HTML.name(setting.value) }
            }
          })
      }
    }
  }

  @HTMLBuilder
  private var timeline: HTML {
    HTML.element("h2") { "States" }
    HTML.element("ol", .style("timeline")) {
      let steps = job.transitions ?? []
      for (place, step) in steps.enumerated() {
        HTML.element("li") {
          HTML.time(step.at)
          " "
          HTML.state(step.to)
          " "
          HTML.name(step.reason)
          if let who = step.by {
            " by "
            HTML.name(who)
          }
          if place + 1 < steps.count {
            HTML.element("span", .style("note")) {
              " for " + Quantity.span(max(steps[place + 1].at.timeIntervalSince(step.at), 0))
            }
          }
        }
      }
    }
  }

  @HTMLBuilder
  private var lines: HTML {
    HTML.element("h2") { "Log" }
    if log.isEmpty {
      HTML.element("p") { "The daemon has no lines about it, or no longer." }
    } else {
      HTML.log(log)
    }
  }
}
