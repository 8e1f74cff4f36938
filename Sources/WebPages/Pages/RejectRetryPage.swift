import ControlAPI
import LadeTypes

/// The question before all open rejects of a job are imported again.
struct RejectRetryPage {
  let job: Job
  let report: RejectReport
  let isReadOnly: Bool
  /// Why it wasn't done.
  var mistake: Problem?

  var page: Page {
    Page("Import the open rejects of job \(job.id) again?", .jobs) {
      HTML.element("p") { HTML.element("a", .link(.rejects(job.id))) { "Rejects of job \(job.id)" } }
      mistake.map { HTML.mistake($0) }
      if let former = job.retryOf {
        HTML.rejectsOfRetry(job.id, of: former)
      } else if !job.state.isEnded {
        HTML.element("p") { "Job \(job.id) hasn't ended, so its rejects aren't complete." }
      } else if report.count == 0 {
        HTML.element("p") { "Job \(job.id) has rejected nothing." }
      } else if report.open == 0 {
        HTML.element("p") { "All rejects of job \(job.id) are resolved." }
      } else {
        question
      }
    }
  }

  @HTMLBuilder
  private var question: HTML {
    HTML.element("p") {
      Quantity.count(report.open, "record") + (report.open == 1 ? " is" : " are") + " open. A job imports "
      report.open == 1 ? "it" : "them"
      " again, under the recipe and the model as they are today."
    }
    HTML.element("p") {
      "Records that are wrong again stay open, under their numbers. So do those that can't be read as they are, until "
      "they are corrected."
    }
    if !isReadOnly {
      HTML.element("form", .other("method", "post"), .action(.retryRejects(job.id)), .style("buttons")) {
        HTML.element("button", .other("type", "submit"), .style("main")) { "Import all open records again" }
        HTML.button("Leave them", .rejects(job.id))
      }
    }
  }
}

extension HTML {
  /// Why something that was asked for wasn't done.
  static func mistake(_ problem: Problem) -> HTML {
    element("div", .id("mistake"), .other("role", "alert"), .style("problem")) {
      element("p") { name(problem.detail) }
      problem.hint.map { hint in element("p", .style("note")) { name(hint) } }
    }
  }

  /// Where the rejects of a job are retried that is itself a retry.
  static func rejectsOfRetry(_ job: Int64, of former: Int64) -> HTML {
    element("p") {
      "Job \(job) is itself a retry: what it rejected is open in "
      element("a", .link(.rejects(former))) { "job \(former)" }
      ", under the same numbers."
    }
  }
}
