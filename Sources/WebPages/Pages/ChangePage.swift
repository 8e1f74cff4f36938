import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The pages that change all jobs that a search finds.
  func addChangePages(to router: Router<ControlContext>) {
    page(router, "/jobs/change") { try await question(about: $0) }
    change(router, "/jobs/change") { try await changeAll($0) }
  }

  private func question(about visit: Visit) async throws -> PageAnswer {
    let wish = try ManyJobsWish(visit.query())
    let list = try await backend.jobs(JobQuery(wish.selection, limit: ChangePage.mostShown))
    return .page(ChangePage(wish: wish, list: list, isReadOnly: check.settings.isReadOnly).page)
  }

  private func changeAll(_ visit: Visit) async throws -> PageAnswer {
    let wish = try ManyJobsWish(await visit.form())
    log("\(wish.action.rawValue) all jobs that match '\(wish.search)'", visit)
    let change = JobChange(wish.action, wish.selection, isForAll: wish.selection.isEverything)
    return .redirect(.job(try await backend.change(change, by: visit.peer).id))
  }
}

/// What is to become of all jobs that a search finds.
struct ManyJobsWish: Sendable {
  let action: JobChange.Action
  /// As it was typed.
  let search: String
  let selection: JobSelection

  /// Reads `action` and `q`.
  /// - Throws: ``QueryError``, `Problem`.
  init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["action", "q"])
    let word = query["action"] ?? ""
    guard let action = JobChange.Action(rawValue: word), JobChange.Action.onPages.contains(action) else {
      let known = JobChange.Action.onPages.map(\.rawValue).joined(separator: ", ")
      throw QueryError.invalid(name: "action", value: word, expected: "one of " + known)
    }
    self.action = action
    search = query["q"] ?? ""
    let found: JobSearch
    do {
      found = try JobSearch(search)
    } catch let mistake as JobSearchError {
      throw Problem(
        status: 400, code: "invalid_query", title: "The search can't be understood", detail: "\(mistake)")
    }
    // A number alone is one job.
    selection = found.job.map { JobSelection(jobs: [$0]) } ?? found.selection
  }

  var view: JobsView {
    var view = JobsView()
    view.search = search
    return view
  }
}

/// The question before many jobs are changed.
struct ChangePage {
  /// How many of the jobs are named.
  static let mostShown = 20

  let wish: ManyJobsWish
  let list: JobList
  let isReadOnly: Bool

  var page: Page {
    Page("\(wish.action.title) all jobs that match?", .jobs) {
      HTML.element("p") {
        if wish.selection.isEverything {
          HTML.element("strong") { "Every job of the queue" }
          " that this can be done to, whatever its state."
        } else {
          "All jobs that match "
          HTML.command(wish.search)
          " when you confirm."
        }
        " A job does it, whose page names those that it can't be done to; they stay as they are. So do jobs of others, unless "
        "you are an operator, and jobs that come later."
      }
      if list.jobs.isEmpty { HTML.element("p") { "None matches now." } }
      HTML.element("ul") {
        for job in list.jobs {
          HTML.element("li") {
            HTML.job(job.id)
            " "
            HTML.state(job.state)
            " "
            HTML.name(job.source ?? job.kind)
          }
        }
      }
      if list.next != nil { HTML.element("p") { "And others: these are the newest \(list.jobs.count)." } }
      if !isReadOnly { form }
    }
  }

  private var form: HTML {
    HTML.element("form", .other("method", "post"), .action(.changes), .style("buttons")) {
      HTML.void("input", .other("type", "hidden"), .name("action"), .value(wish.action.rawValue))
      HTML.void("input", .other("type", "hidden"), .name("q"), .value(wish.search))
      HTML.element("button", .other("type", "submit"), .style("main")) { "\(wish.action.title) them all" }
      HTML.button("Leave them", .jobs(wish.view))
    }
  }
}
