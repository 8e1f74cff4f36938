import ControlAPI
import ControlServer
import FoundationEssentials
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The question before a store is restored, and the job that does it.
  func addRestorePages(to router: Router<ControlContext>) {
    page(router, "/stores/{store}/restore") { visit in
      let query = try visit.query()
      try query.refuseNames(otherThan: ["backup"])
      return .page(try await restorePage(visit, backup: query["backup"] ?? "").page)
    }
    change(router, "/stores/{store}/restore") { visit in
      let form = try await visit.form()
      try form.refuseNames(otherThan: ["backup", "confirmation"])
      let (store, backup) = (try visit.name("store"), form["backup"] ?? "")
      var page = try await restorePage(visit, backup: backup)
      let typed = (form["confirmation"] ?? "").trimmed
      guard typed == store else {
        page.mistake = "That isn't the store's name, so nothing was done."
        return .page(page.page, .unprocessableContent)
      }
      log("restore store \(store) from \(backup)", visit)
      let submission = JobSubmission(kind: "restore", store: store, options: ["backup": .string(backup)])
      return .redirect(.job(try await backend.submit(submission, by: visit.peer).id))
    }
  }

  private func restorePage(_ visit: Visit, backup name: String) async throws -> RestorePage {
    let store = try visit.name("store")
    guard let backup = try await backend.backups(of: store).backups.first(where: { $0.name == name }) else {
      throw ControlError.invalid(
        field: "backup", reason: "store \(store) has no backup “\(name)”",
        hint: "It may have been removed for a newer one.")
    }
    return RestorePage(
      store: store, backup: backup, later: try await jobs(of: store, runSince: backup.madeAt),
      isReadOnly: check.settings.isReadOnly, isOperator: backend.isOperator(visit.peer))
  }
}

extension PageRoutes {
  /// The latest jobs of a store that ran after a time, also those that were submitted before: one more than are shown.
  private func jobs(of store: String, runSince time: Date) async throws -> [Job] {
    var query = JobQuery(JobSelection(store: store), limit: RestorePage.examinedJobs)
    // Those that wait haven't run, or not to an end.
    query.selection.states = [.running, .retryable, .completed, .cancelled, .discarded]
    let jobs = try await backend.jobs(query).jobs.filter { job in
      guard let started = job.startedAt else { return false }
      return (job.endedAt ?? started) > time || !job.state.isEnded
    }
    return Array(jobs.prefix(RestorePage.shownJobs + 1))
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}

/// Asks whether a store is to get the content of a backup, and says what would be lost.
struct RestorePage {
  static let shownJobs = 10
  /// The latest jobs of the store among which those are looked for that ran since.
  static let examinedJobs = 1_000

  let store: String
  let backup: Backup
  /// Jobs of the store that ran after the backup, one more than are shown where there are more.
  let later: [Job]
  let isReadOnly: Bool
  let isOperator: Bool
  var mistake: String?

  var page: Page {
    Page("Restore \(store)", .stores) {
      if let mistake { HTML.element("p", .other("role", "alert"), .style("problem")) { mistake } }
      HTML.element("p", .style("problem")) {
        "Everything that was stored in "
        HTML.name(store)
        " after "
        HTML.time(backup.madeAt)
        " is lost. Only another backup brings it back."
      }
      HTML.element("dl") {
        HTML.fact("Backup", HTML.name(backup.name))
        HTML.fact("Size", HTML(Quantity.bytes(Double(backup.size))))
        HTML.fact("Made by job", HTML.job(backup.job))
      }
      HTML.element("p") {
        "The backup is checked, and migrated to the present model where it is of an older one. Until the job has the store for "
        "itself it waits, and other jobs of the store wait for it. Readers see the former content or the backup's, never a mixture."
      }
      HTML.element("section", .label("Jobs since then")) { jobs }
      if isReadOnly {
        HTML.element("p") { "The pages are read-only, so nothing can be restored here." }
      } else if !isOperator {
        HTML.element("p") { "Only operators restore stores." }
      } else {
        form
      }
    }
  }

  @HTMLBuilder
  private var jobs: HTML {
    HTML.element("h2") { "Jobs since then" }
    if later.isEmpty {
      HTML.element("p") {
        "None of the latest jobs has run since the backup. Other programs may have changed the store all the same."
      }
    } else {
      HTML.element("p") {
        later.count > Self.shownJobs
          ? "The latest of those that have run since the backup; what they have stored is lost:"
          : "What these have stored is lost:"
      }
      HTML.element("ul") {
        for job in later.prefix(Self.shownJobs) {
          HTML.element("li") {
            HTML.job(job.id)
            " \(job.kind), \(job.state.rawValue), "
            HTML.time(job.endedAt ?? job.startedAt ?? job.submittedAt)
            if let source = job.source {
              " "
              HTML.name(source)
            }
          }
        }
      }
      HTML.element("p") {
        HTML.element("a", .link(.jobs(JobsView(store: store)))) { "All jobs of the store" }
      }
    }
  }

  private var form: HTML {
    HTML.element("form", .other("method", "post"), .action(.restore(store))) {
      HTML.void("input", .other("type", "hidden"), .name("backup"), .value(backup.name))
      HTML.element("label", .other("for", "confirmation")) {
        "To go on, type the store's name, "
        HTML.name(store)
      }
      HTML.void(
        "input", .id("confirmation"), .name("confirmation"), .other("required", "required"),
        .other("autocomplete", "off"), .other("autocapitalize", "none"), .other("spellcheck", "false"))
      HTML.element("button", .other("type", "submit"), .style("main")) { "Restore it" }
      HTML.button("Leave it", .stores)
    }
  }
}
