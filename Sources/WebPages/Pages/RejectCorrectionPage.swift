import ControlAPI
import ControlServer
import LadeTypes

/// One reject: why it was rejected, its record, and a form to correct it in.
struct RejectCorrectionPage {
  /// What came of the form.
  enum Outcome: Sendable {
    case checked(RejectCheck)
    case refused(Problem)
  }

  let job: Job
  let reject: Reject
  /// The names of the columns, of a source whose records don't have them.
  let columns: [String]
  /// The next reject that is open.
  let next: Int64?
  let isReadOnly: Bool
  /// What the form sent in place of the record, as it was typed.
  var typed: String?
  var outcome: Outcome?
  private let field: RejectField

  init(job: Job, reject: Reject, columns: [String], next: Int64?, isReadOnly: Bool) {
    self.job = job
    self.reject = reject
    self.columns = columns
    self.next = next
    self.isReadOnly = isReadOnly
    field = RejectField(reject)
  }

  /// What is to take the record's place; nil: the record as it is.
  /// - Throws: ``ControlError/invalid(field:reason:hint:)``.
  func correction() throws -> String? {
    guard let typed else { return nil }
    if let obstacle = field.obstacle {
      throw ControlError.invalid(field: "record", reason: "it can't be corrected on a page: \(obstacle)")
    }
    return field.correction(typed)
  }

  var page: Page {
    Page("Reject \(reject.number) of job \(job.id)", .jobs) {
      HTML.element("p") {
        HTML.element("a", .link(.rejects(job.id))) { "Rejects of job \(job.id)" }
        ", "
        HTML.element("a", .link(.job(job.id))) { "job \(job.id)" }
      }
      // Before the record, so that the cell that is marked first is the one that is wrong now.
      if let outcome { HTML.element("section", .id("outcome"), .label("Outcome")) { result(outcome) } }
      HTML.element("section", .label("Reason")) { facts }
      HTML.element("section", .label("Record")) { record }
      HTML.element("section", .label("Correction")) { correctionForm }
      if let next {
        HTML.element("nav", .label("Other rejects"), .style("paging")) {
          HTML.button("Next open reject", .reject(next, of: job.id))
        }
      }
    }
  }

  @HTMLBuilder
  private func result(_ outcome: Outcome) -> HTML {
    switch outcome {
    case .refused(let problem): HTML.mistake(problem)
    case .checked(let check):
      HTML.element("h2") { "What the check says" }
      if let failure = check.failure {
        HTML.element("p", .other("role", "alert"), .style("problem")) {
          "The check failed: "
          HTML.name(failure)
        }
      } else if let again = check.rejects.first {
        HTML.element("p", .other("role", "alert"), .style("problem")) {
          "It would be rejected again: "
          HTML.name(again.message)
          " "
          HTML.reason(again)
        }
        HTML.record(again, label: "The record that was checked")
      } else if check.resolved > 0 {
        HTML.element("p", .other("role", "status")) { "It would be imported." }
      } else {
        HTML.element("p", .other("role", "alert"), .style("problem")) { "It wouldn't be resolved." }
      }
    }
  }

  private var facts: HTML {
    HTML.element("dl") {
      HTML.fact("Reason", HTML.name(reject.message))
      HTML.fact("Code", HTML.name(reject.code))
      HTML.fact("Column", reject.column.isEmpty ? HTML("the whole record") : HTML.name(reject.column))
      HTML.fact("File", reject.file.map { HTML.name($0) })
      // A retry has the numbers of the rejects in the place of lines.
      HTML.fact("Line", job.retryOf == nil ? HTML("\(reject.line)") : nil)
      HTML.fact("Columns", columns.isEmpty ? nil : names)
      HTML.fact("State", job.retryOf == nil ? state : nil)
    }
  }

  @HTMLBuilder
  private var names: HTML {
    for (place, column) in columns.enumerated() {
      if place > 0 { ", " }
      HTML.name(column)
    }
  }

  @HTMLBuilder
  private var state: HTML {
    if let resolver = reject.resolvedBy {
      "resolved by job "
      HTML.job(resolver)
    } else {
      "open"
    }
  }

  @HTMLBuilder
  private var record: HTML {
    HTML.element("h2") { "Record" }
    HTML.record(reject, label: "Record \(reject.number)")
    if !reject.isReadable {
      HTML.element("p", .style("note")) {
        "It can't be read as it is: the source's text broke the rules of its format. Only text was kept of it, perhaps "
        "not all."
      }
    }
  }

  // MARK: The form

  @HTMLBuilder
  private var correctionForm: HTML {
    HTML.element("h2") { "Correction" }
    if let former = job.retryOf {
      HTML.element("p") {
        "Job \(job.id) is itself a retry: what it rejected is "
        HTML.element("a", .link(.reject(reject.line, of: former))) { "reject \(reject.line) of job \(former)" }
        ", and corrected there."
      }
      lost
    } else if let resolver = reject.resolvedBy {
      HTML.element("p") {
        "Job "
        HTML.job(resolver)
        " has resolved it, so it isn't imported again."
      }
      lost
    } else if isReadOnly {
      HTML.element("p") { "The pages are read-only." }
    } else if let obstacle = field.obstacle {
      HTML.element("p") {
        "It can't be corrected here, because \(obstacle). "
        obstacle == .isCut ? "Correct it in a copy of the reject file, and submit the copy." : "In a terminal, "
        if obstacle != .isCut {
          HTML.command("ladectl rejects retry \(job.id) --edit")
          " opens it in an editor."
        }
      }
      // What can be read may have been right, and the model or the recipe at fault.
      if reject.isReadable { form { HTML.element("p") { "It can be imported again as it is." } } }
      lost
    } else {
      form { textField }
    }
  }

  private func form(@HTMLBuilder content: () -> HTML) -> HTML {
    HTML.element("form", .other("method", "post"), .action(.retryReject(reject.number, of: job.id))) {
      HTML.void("input", .other("type", "hidden"), .name("attempt"), .value("\(job.attempt)"))
      content()
      for action in RejectAction.allCases {
        HTML.element(
          "button", .other("type", "submit"), .name("do"), .value(action.rawValue),
          action == .retry ? .style("main") : nil
        ) { action.title }
      }
    }
  }

  @HTMLBuilder
  private var textField: HTML {
    HTML.element("label", .other("for", "record")) { "The record, corrected" }
    HTML.textArea(
      .id("record"), .name("record"), .other("rows", field.rows), .other("dir", "auto"), .other("spellcheck", "false"),
      .other("autocomplete", "off"), .other("autocapitalize", "none"), .other("aria-describedby", "record-help"),
      text: typed ?? reject.record)
    HTML.element("p", .id("record-help"), .style("note")) {
      "One record, in the format of its source. A check writes nothing. A record that is wrong again stays open, as it "
      "was."
    }
  }

  /// What was typed where it can't be sent any more, for who wants to keep it.
  @HTMLBuilder
  private var lost: HTML {
    if let typed {
      HTML.element("label", .other("for", "record")) { "What you typed" }
      HTML.textArea(
        .id("record"), .other("readonly", "readonly"), .other("rows", field.rows), .other("dir", "auto"), text: typed)
    }
  }
}

extension HTML {
  /// The short name of why a record was rejected, and the column at fault.
  static func reason(_ reject: Reject) -> HTML {
    element("span", .style("note")) {
      name(reject.code)
      if !reject.column.isEmpty {
        " in "
        name(reject.column)
      }
    }
  }

  /// A rejected record as it was, with its faulty cell marked, and whether that is all of it.
  static func record(_ reject: Reject, label: String) -> HTML {
    HTML(joining: [
      element("pre", .other("tabindex", "0"), .other("dir", "auto"), .label(label)) {
        RejectsPage.marked(reject.record, reject.cell)
      },
      reject.recordBytes > reject.record.utf8.count
        ? element("p", .style("note")) { "The beginning of \(Quantity.bytes(Double(reject.recordBytes)))." } : .empty,
    ])
  }
}
