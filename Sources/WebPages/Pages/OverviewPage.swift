import ControlAPI
import ControlServer
import FoundationEssentials
import LadeTypes

extension PageRoutes {
  /// How the daemon is: what is wrong, what runs, what waits and why.
  func overview(_ visit: Visit) async throws -> PageAnswer {
    async let health = backend.health()
    async let status = backend.status()
    async let stats = backend.stats()
    async let history = backend.history(HistorySpanQuery(grain: HistoryView.grain))
    var disks: [DiskUse] = []
    do {
      disks = try await backend.disks().disks
    } catch {
      // That is no reason not to show the rest.
      logger.warning("the file systems can't be asked how full they are", metadata: ["error": "\(error)"])
    }
    let overview = OverviewPage(
      status: try await status, stats: try await stats, health: await health,
      history: HistoryView(history: await history), disks: DisksView(disks: disks),
      mayOperate: mayOperate(visit), now: Date())
    return .page(overview.page)
  }
}

/// The first page.
struct OverviewPage {
  let status: Status
  let stats: Stats
  let health: Health
  let history: HistoryView
  let disks: DisksView
  /// Whether lanes are paused and resumed from here.
  let mayOperate: Bool
  let now: Date

  /// Something that somebody should look at, and what helps.
  struct Trouble: Hashable {
    let what: String
    let reason: String
    let command: String
    let remedy: Remedy
  }

  /// What a button beside a problem does.
  enum Remedy: Hashable {
    case resume(lane: String)
    case look(String, PageLink)
  }

  var page: Page {
    Page("Overview", .overview, events: .all) {
      HTML.element("section", .id("problems"), .label("Problems"), .live) { problems }
      HTML.element("section", .id("states"), .label("Jobs by state"), .live) { states }
      HTML.element("section", .id("lanes"), .label("Lanes"), .live) { lanes }
      if let recipes = status.recipes, !recipes.isEmpty {
        HTML.element("section", .id("freshness"), .label("Freshness"), .live) { freshness(recipes) }
      }
      HTML.element("section", .id("rates"), .label("Rates"), .live) { rates }
      HTML.element("section", .id("history"), .label("The last hours")) { history.section }
      HTML.element("section", .id("stores"), .label("Stores"), .live) { stores }
      HTML.element("section", .id("disks"), .label("Disks"), .live) { disks.section }
      HTML.element("section", .label("The daemon")) {
        HTML.element("h2") { "Daemon" }
        HTML.element("dl") {
          HTML.fact("Version", HTML(status.version))
          HTML.fact("Process", HTML("\(status.pid)"))
          HTML.fact("Started", HTML.time(status.startedAt))
          HTML.fact("Spool", HTML.name(status.spool))
        }
      }
    }
  }

  /// What the health checks and the recipes say, the gravest first.
  var troubles: [Trouble] {
    var troubles: [Trouble] = []
    let checks = health.checks.compactMap { name, checks in checks.first.map { (name: name, check: $0) } }
      .filter { $0.check.status != .pass }
      .sorted { ($0.check.status == .fail ? 0 : 1, $0.name) < ($1.check.status == .fail ? 0 : 1, $1.name) }
    for (name, check) in checks where !name.hasPrefix("recipe:") {
      troubles.append(
        .init(
          what: name, reason: check.output ?? "not well", command: Self.command(for: name),
          remedy: Self.remedy(for: name)))
    }
    for recipe in status.recipes ?? [] where recipe.state != .fresh {
      troubles.append(
        .init(
          what: "recipe:\(recipe.recipe)", reason: recipe.reason ?? recipe.state.rawValue,
          command: "ladectl list --recipe \(Self.quoted(recipe.recipe))",
          remedy: .look("Its jobs", .jobs(JobsView(recipe: recipe.recipe)))))
    }
    for disk in disks.disks {
      guard let problem = disk.problem else { continue }
      troubles.append(
        .init(
          what: "disk: \(disk.parts.joined(separator: ", "))", reason: problem,
          command: "du -xh --max-depth=1 \(Self.quoted(disk.path))", remedy: .look("Stores", .stores)))
    }
    for lane in status.lanes where lane.isPaused == true {
      troubles.append(
        .init(
          what: "lane:\(lane.name)", reason: "paused" + (lane.pausedBy.map { " by \($0)" } ?? ""),
          command: "ladectl resume \(Self.quoted(lane.name))", remedy: .resume(lane: lane.name)))
    }
    if let count = status.counts[JobState.retryable.rawValue], count > 0 {
      troubles.append(
        .init(
          what: "jobs", reason: Quantity.count(count, "job") + " failed, and will be tried again",
          command: "ladectl list --state retryable",
          remedy: .look("Show them", .jobs(JobsView(states: [.retryable])))))
    }
    return troubles
  }

  private static func command(for check: String) -> String {
    switch part(check) {
    case ("lane", let name): "ladectl list --lane \(quoted(name))"
    case ("saved_recipe", let name): "ladectl recipe remove \(quoted(name))"
    default: "ladectl log -n 100"
    }
  }

  private static func remedy(for check: String) -> Remedy {
    switch part(check) {
    case ("lane", let name): .look("Its jobs", .jobs(JobsView(lane: name)))
    case ("saved_recipe", _): .look("Saved recipes", .configuration)
    default: .look("Log", .log)
    }
  }

  /// What a check is of: `lane:import` is the lane import.
  private static func part(_ check: String) -> (kind: String, name: String) {
    let parts = check.split(separator: ":", maxSplits: 1).map(String.init)
    return (parts.first ?? "", parts.count == 2 ? parts[1] : "")
  }

  /// A name as a shell reads it.
  private static func quoted(_ name: String) -> String {
    let isPlain =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
    return isPlain ? name : "'" + name.replacing("'", with: "'\\''") + "'"
  }

  @HTMLBuilder
  private var problems: HTML {
    HTML.element("h2") { "Problems" }
    if troubles.isEmpty {
      HTML.element("p") { "None." }
    } else {
      HTML.table(
        "Problems and what helps", columns: ["Part", "Problem", "What helps"].map(HTML.column),
        rows: troubles.map { trouble in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(trouble.what) }
            HTML.element("td") { HTML.name(trouble.reason) }
            HTML.element("td") {
              button(for: trouble)
              " "
              HTML.command(trouble.command)
            }
          }
        })
    }
  }

  private func button(for trouble: Trouble) -> HTML {
    switch trouble.remedy {
    case .look(let title, let link): HTML.button(title, link)
    case .resume(let lane) where mayOperate: button(for: .resume, of: lane)
    case .resume(let lane): HTML.button("Its jobs", .jobs(JobsView(lane: lane)))
    }
  }

  @HTMLBuilder
  private var states: HTML {
    HTML.element("h2") { "Jobs" }
    HTML.element("ul", .style("states")) {
      for state in JobState.allCases {
        HTML.element("li") {
          HTML.element("a", .link(.jobs(JobsView(states: [state])))) {
            HTML.count(status.counts[state.rawValue] ?? 0)
            " "
            HTML.state(state)
          }
        }
      }
    }
  }

  private var lanes: HTML {
    HTML(joining: [
      HTML.element("h2") { "Lanes" },
      HTML.table(
        "Lanes",
        columns: [HTML.column("Lane")]
          + ["Running", "Limit", "Available", "Scheduled", "Retryable"].map(HTML.numberColumn)
          + [HTML.column("State")] + (mayOperate ? [HTML.column("Change")] : []),
        rows: status.lanes.map { lane in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) {
              HTML.element("a", .link(.jobs(JobsView(lane: lane.name)))) { HTML.name(lane.name) }
            }
            HTML.numberCell(lane.running)
            HTML.numberCell(lane.concurrency)
            HTML.numberCell(lane.available)
            HTML.numberCell(lane.scheduled)
            HTML.numberCell(lane.retryable)
            HTML.element("td") { why(lane) }
            if mayOperate {
              HTML.element("td") { button(for: lane.isPaused == true ? .resume : .pause, of: lane.name) }
            }
          }
        }),
    ])
  }

  /// Why a lane starts no further job.
  @HTMLBuilder
  private func why(_ lane: LaneStatus) -> HTML {
    if lane.isPaused == true {
      HTML.element("strong") { "paused" }
      if let who = lane.pausedBy {
        " by "
        HTML.name(who)
      }
      if let since = lane.pausedAt {
        " since "
        HTML.time(since)
      }
    } else if lane.available > 0, lane.running >= lane.concurrency {
      "full: as many jobs run as its limit allows"
    } else if let next = lane.nextStart, next > now {
      "its rate lets the next job start at "
      HTML.time(next)
    } else if lane.running > 0 {
      "running"
    } else {
      "idle"
    }
  }

  private func button(for action: PauseAction, of lane: String) -> HTML {
    HTML.element("form", .other("method", "post"), .action(.action(action, lane))) {
      HTML.element("button", .other("type", "submit"), .label("\(action.title) \(lane)")) { action.title }
    }
  }

  private func freshness(_ recipes: [RecipeFreshness]) -> HTML {
    HTML(joining: [
      HTML.element("h2") { "Freshness of recipes" },
      HTML.table(
        "Freshness of recipes",
        columns: ["Recipe", "State", "Why", "Last success", "Job"].map(HTML.column) + [HTML.numberColumn("Records")]
          + [HTML.column("Expected by")],
        rows: recipes.map { recipe in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) {
              HTML.element("a", .link(.jobs(JobsView(recipe: recipe.recipe)))) { HTML.name(recipe.recipe) }
            }
            HTML.element("td") {
              HTML.element("span", .style("freshness", recipe.state)) { recipe.state.rawValue }
            }
            HTML.element("td") { HTML.name(recipe.reason ?? "") }
            HTML.element("td") { HTML.time(recipe.lastSuccess) }
            HTML.element("td") { recipe.lastJob.map { HTML.job($0) } }
            HTML.element("td", .style("number")) { recipe.lastRecords.map { HTML.count($0) } }
            HTML.element("td") { HTML.time(recipe.expectedBy) }
          }
        }),
    ])
  }

  /// Of a daemon that has begun lately, all times are the same.
  private var distinctRates: [Stats.Rate] {
    stats.rates.enumerated().filter { place, rate in place == 0 || stats.rates[place - 1].seconds != rate.seconds }
      .map(\.element)
  }

  @HTMLBuilder
  private var rates: HTML {
    HTML.element("h2") { "Rates" }
    HTML.table(
      "What ended lately",
      columns: [HTML.column("In the last")]
        + ["Completed", "Cancelled", "Discarded", "Records", "Records/s"].map(HTML.numberColumn),
      rows: distinctRates.map { rate in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { Quantity.span(rate.seconds) }
          HTML.numberCell(rate.completed)
          HTML.numberCell(rate.cancelled)
          HTML.numberCell(rate.discarded)
          HTML.numberCell(rate.records)
          HTML.numberCell(JobRate.whole(Double(rate.records) / max(rate.seconds, 0.001)))
        }
      })
    if !stats.durations.isEmpty {
      spreads("How long jobs took", "Kind", "Jobs", stats.durations.sorted { $0.key < $1.key })
    }
    let waits = [("Answers to requests", stats.requests), ("Others wait for the main queue", stats.mainQueue)]
      .compactMap { name, spread in spread.map { (key: name, value: $0) } }
    if !waits.isEmpty { spreads("How long others waited for the daemon", "For", "Times", waits) }
  }

  private func spreads(
    _ title: String, _ what: String, _ count: String, _ spreads: [(key: String, value: Stats.Spread)]
  ) -> HTML {
    HTML.table(
      title, columns: [HTML.column(what)] + [count, "Median", "99 %", "Longest"].map(HTML.numberColumn),
      rows: spreads.map { name, spread in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { HTML.name(name) }
          HTML.numberCell(spread.count)
          for time in [spread.median, spread.p99, spread.longest] {
            HTML.element("td", .style("number")) { Quantity.span(time) }
          }
        }
      })
  }

  private var stores: HTML {
    HTML(joining: [
      HTML.element("h2") { "Stores" },
      HTML.table(
        "Stores",
        columns: ["Store", "Entities", "File"].map(HTML.column)
          + ["Saves merged", "Merged after", "99 %"].map(HTML.numberColumn),
        rows: status.stores.map { store in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) {
              HTML.element("a", .link(.jobs(JobsView(store: store.name)))) { HTML.name(store.name) }
            }
            HTML.element("td") { HTML.name(store.entities.joined(separator: ", ")) }
            HTML.element("td") { HTML.name(store.path) }
            HTML.element("td", .style("number")) { store.mainContext.map { HTML.count($0.savesMerged) } }
            for time in [store.mainContext?.lag?.median, store.mainContext?.lag?.p99] {
              HTML.element("td", .style("number")) { time.map { Quantity.span($0) } ?? "" }
            }
          }
        }),
    ])
  }
}
