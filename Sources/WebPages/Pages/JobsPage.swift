import ControlAPI
import ControlServer
import LadeTypes

extension PageRoutes {
  /// The list of jobs.
  func jobs(_ visit: Visit) async throws -> PageAnswer {
    let view = try JobsView(visit.query())
    async let status = backend.status()
    let completion = try await jobsCompletion()
    let isReadOnly = check.settings.isReadOnly
    let search: JobSearch
    do {
      search = try JobSearch(view.search)
    } catch {
      guard error is JobSearchError || error is QueryError else { throw error }
      let counts = try await status.counts
      return .page(
        JobsPage(
          view: view, counts: counts, selection: nil, list: nil, completion: completion, mistake: "\(error)",
          isReadOnly: isReadOnly
        )
        .page, .badRequest)
    }
    if let job = search.job { return .redirect(.job(job)) }
    var query = JobQuery(search.selection, limit: JobsView.pageSize, order: view.order)
    if view.order == .newest { query.before = view.start } else { query.after = view.start }
    let list = try await backend.jobs(query)
    return .page(
      JobsPage(
        view: view, counts: try await status.counts, selection: search.selection, list: list,
        runners: try await runners(of: list.jobs), completion: completion, mistake: nil, isReadOnly: isReadOnly
      ).page)
  }
}

/// The list of jobs, with a search and the states as tabs.
struct JobsPage {
  let view: JobsView
  /// Of all jobs, by state.
  let counts: [String: Int]
  /// What was searched for; nil where it couldn't be understood.
  let selection: JobSelection?
  let list: JobList?
  var runners = JobRunners()
  let completion: Completion
  let mistake: String?
  let isReadOnly: Bool

  var page: Page {
    Page("Jobs", .jobs, events: .all, script: .completion) {
      HTML.element("nav", .id("tabs"), .style("tabs"), .label("States"), .live) { tabs }
      form
      completion.links(for: view.search, "Narrow it") { text in .jobs(view.with { $0.search = text }) }
      if let mistake { HTML.element("p", .id("mistake"), .other("role", "alert"), .style("problem")) { mistake } }
      if let list {
        HTML.element("div", .id("jobs"), .live) { table(list) }
        HTML.element("nav", .label("Pages of the list"), .style("paging")) { paging(list) }
        if !isReadOnly, !list.jobs.isEmpty { changeForm }
      }
    }
  }

  @HTMLBuilder
  private var tabs: HTML {
    tab("all", [], counts.values.reduce(0, +))
    for state in JobState.allCases { tab(state.rawValue, [state], counts[state.rawValue] ?? 0) }
  }

  private func tab(_ title: String, _ states: [JobState], _ count: Int) -> HTML {
    let isCurrent = selection.map { $0.states == states } ?? false
    let text = selection == nil ? JobSearch.text("", in: states) : JobSearch.text(view.search, in: states)
    return HTML.element("a", .link(.jobs(view.with { $0.search = text })), .current(isCurrent)) {
      title
      " "
      HTML.element("span", .style("count")) { HTML.count(count) }
    }
  }

  private var form: HTML {
    HTML.element("form", .other("method", "get"), .action(.allJobs), .other("role", "search")) {
      HTML.element("label", .other("for", "q")) { "Search" }
      HTML.void(
        "input", .id("q"), .name("q"), .other("type", "search"), .value(view.search), .other("autocomplete", "off"),
        .other("spellcheck", "false"), .other("aria-describedby", "q-help"),
        .other("placeholder", "state:retryable recipe:orders"), .list("q-list"), .completion(.completeJobs))
      completion.datalist(for: view.search, id: "q-list")
      HTML.element("label", .other("for", "order")) { "Order" }
      HTML.element("select", .id("order"), .name("order")) {
        for order in JobQuery.Order.allCases {
          HTML.element(
            "option", .value(order.rawValue), order == view.order ? .other("selected", "selected") : nil
          ) { order.rawValue + " first" }
        }
      }
      HTML.element("button", .other("type", "submit")) { "Show" }
      HTML.element("p", .id("q-help"), .style("note")) {
        "A job's number, or words such as "
        HTML.command("state:retryable,running recipe:orders")
        ". There are " + JobSearch.names.map { $0 + ":" }.joined(separator: ", ") + ". They are completed as you type."
      }
    }
  }

  @HTMLBuilder
  private func table(_ list: JobList) -> HTML {
    if list.jobs.isEmpty {
      HTML.element("p") { "No job matches." }
    } else {
      HTML.table(
        "Jobs",
        columns: [HTML.numberColumn("Job")]
          + ["State", "Kind", "Source", "Recipe", "Lane", "Progress"].map(HTML.column)
          + [
            HTML.numberColumn("Records"), HTML.numberColumn("Rejected"), HTML.column("Submitted"), HTML.column("Why"),
          ],
        rows: list.jobs.map(row))
    }
  }

  private func row(_ job: Job) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row"), .style("number")) { HTML.job(job.id) }
      HTML.element("td") {
        HTML.state(job.state)
        if job.isHeld { HTML.element("span", .style("note")) { " held" } }
        if let place = runners.otherPlace(of: job) {
          HTML.element("span", .style("note")) {
            " on "
            place
          }
        }
      }
      HTML.element("td") { HTML.name(job.kind) }
      HTML.element("td") { HTML.name(job.source ?? job.entity ?? "") }
      HTML.element("td") { job.recipe.map { HTML.name($0) } }
      HTML.element("td") { HTML.name(job.lane) }
      HTML.element("td") { HTML.bar(job.progress) }
      HTML.numberCell(job.progress.records)
      HTML.element("td", .style("number")) {
        if job.progress.rejected > 0 {
          HTML.element("a", .link(.rejects(job.id))) { HTML.count(job.progress.rejected) }
        } else {
          "0"
        }
      }
      HTML.element("td") { HTML.time(job.submittedAt) }
      HTML.element("td", .style("reason")) { HTML.name(job.waitsFor ?? job.reason ?? "") }
    }
  }

  /// What can be done to all jobs that the search finds, also those of other pages. A page asks before it is done.
  private var changeForm: HTML {
    HTML.element("form", .other("method", "get"), .action(.changes), .style("buttons")) {
      HTML.void("input", .other("type", "hidden"), .name("q"), .value(view.search))
      HTML.element("label", .other("for", "action")) { "All jobs that match" }
      HTML.element("select", .id("action"), .name("action")) {
        for action in JobChange.Action.onPages { HTML.element("option", .value(action.rawValue)) { action.title } }
      }
      HTML.element("button", .other("type", "submit")) { "Go on…" }
    }
  }

  @HTMLBuilder
  private func paging(_ list: JobList) -> HTML {
    if view.start != nil {
      HTML.button("First page", .jobs(view.with { $0.start = nil }))
    }
    if let next = list.next {
      HTML.button("Next page", .jobs(view.with { $0.start = next }))
    }
  }
}
