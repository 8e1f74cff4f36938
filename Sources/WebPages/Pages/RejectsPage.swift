import ControlAPI
import LadeTypes

/// The page of a job's rejects: why there are any, and each record that is still open, with its faulty cell marked.
struct RejectsPage {
  /// How many records a page has.
  static let pageSize = 25

  let job: Job
  let report: RejectReport
  /// Nil while the job hasn't ended.
  let open: RejectPage?
  /// The number behind which the page begins.
  let after: Int64
  let isReadOnly: Bool

  var page: Page {
    Page("Rejects of job \(job.id)", .jobs, events: job.state.isEnded ? nil : .of(job.id)) {
      HTML.element("p") { HTML.element("a", .link(.job(job.id))) { "Job \(job.id)" } }
      HTML.element("section", .id("reasons"), .label("Reasons"), .live) { reasons }
      HTML.element("section", .label("Records")) { records }
    }
  }

  @HTMLBuilder
  private var reasons: HTML {
    HTML.element("h2") { "Reasons" }
    HTML.element("p") {
      Quantity.count(report.count, "record") + " rejected, " + Quantity.count(report.open) + " open."
      for resolver in report.resolved {
        " \(Quantity.count(resolver.count)) resolved by job "
        HTML.job(resolver.job)
        "."
      }
    }
    if !report.groups.isEmpty {
      HTML.table(
        "Reasons, the most frequent first",
        columns: [
          HTML.column("Reason"), HTML.column("Column"), HTML.numberColumn("Records"), HTML.column("First of them"),
        ],
        rows: report.groups.map { group in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(group.code) }
            HTML.element("td") { group.column.isEmpty ? HTML("the whole record") : HTML.name(group.column) }
            HTML.numberCell(group.count)
            HTML.element("td") {
              if let first = group.examples.first {
                if open != nil, first.number > 0 {
                  HTML.element("a", .link(.reject(first.number, of: job.id))) { "reject \(first.number)" }
                  ", "
                }
                "\(place(first.line)): "
                HTML.name(first.message)
                if let resolver = first.resolvedBy {
                  ", resolved by job "
                  HTML.job(resolver)
                }
              }
            }
          }
        })
    }
    if report.others > 0 { HTML.element("p") { Quantity.count(report.others, "record") + " for other reasons." } }
  }

  @HTMLBuilder
  private var records: HTML {
    HTML.element("h2") { "Open records" }
    if let open {
      HTML.element("p") {
        HTML.element("a", .link(.rejectFile(job.id))) { "Download all rejected records" }
        HTML.element("span", .style("note")) {
          report.isFolder
            ? " of all files as JSON Lines, with their reasons"
            : " in the format of their source, with their reasons, as a file that can be corrected and imported"
        }
      }
      if open.rejects.isEmpty { HTML.element("p") { after > 0 ? "There are no more." : "None." } }
      HTML.element("ol", .style("rejects")) {
        for reject in open.rejects { HTML.element("li", .id("reject-\(reject.number)")) { record(reject) } }
      }
      HTML.element("nav", .label("Pages of the records"), .style("paging")) {
        if after > 0 { HTML.button("First page", .rejects(job.id)) }
        if let next = open.next { HTML.button("Next page", .rejects(job.id, after: next, attempt: open.attempt)) }
      }
      if report.open > 0 { retry }
    } else if report.count > 0 {
      HTML.element("p") { "The records are shown when the job has ended." }
    } else {
      HTML.element("p") { "None." }
    }
  }

  /// How all of them are imported again.
  @HTMLBuilder
  private var retry: HTML {
    if let former = job.retryOf {
      HTML.rejectsOfRetry(job.id, of: former)
    } else {
      if !isReadOnly {
        HTML.element("p", .style("buttons")) {
          HTML.button("Import all open records again", .retryRejects(job.id))
        }
      }
      HTML.element("p", .style("note")) {
        "Once the model or the recipe is right, "
        HTML.command("ladectl rejects retry \(job.id)")
        " imports them again, too. With "
        HTML.command("--edit")
        " they are corrected in an editor first."
      }
    }
  }

  @HTMLBuilder
  private func record(_ reject: Reject) -> HTML {
    HTML.element("p") {
      HTML.element("strong") {
        HTML.element("a", .link(.reject(reject.number, of: job.id))) { "Reject \(reject.number)" }
      }
      if let file = reject.file {
        " of "
        HTML.name(file)
      }
      ", \(place(reject.line)): "
      HTML.name(reject.message)
      " "
      HTML.reason(reject)
    }
    HTML.record(reject, label: "Record \(reject.number)")
    if !isReadOnly { HTML.element("p", .style("buttons")) { correctionButton(reject) } }
  }

  /// Leads to the job in which the reject is open.
  private func correctionButton(_ reject: Reject) -> HTML {
    let (origin, number) = (job.retryOf ?? job.id, job.retryOf == nil ? reject.number : reject.line)
    return HTML.element(
      "a", .style("button"), .link(.reject(number, of: origin)), .label("Correct reject \(number) of job \(origin)")
    ) { "Correct" }
  }

  /// A retry has the numbers of the rejects in the place of lines.
  private func place(_ line: Int64) -> String {
    job.retryOf.map { "reject \(line) of job \($0)" } ?? "line \(line)"
  }

  /// The record with its faulty cell marked, as far as that is within what is shown.
  static func marked(_ record: String, _ cell: Reject.ByteRange?) -> HTML {
    guard let cell, cell.offset >= 0, cell.length > 0, cell.offset < record.utf8.count else { return HTML(record) }
    let bytes = Array(record.utf8)
    let end = cell.length > bytes.count - cell.offset ? bytes.count : cell.offset + cell.length
    // The offsets are those of the file, and a record that isn't UTF-8 is shown as such.
    func text(_ range: Range<Int>) -> String? { String(validating: bytes[range], as: UTF8.self) }
    guard let before = text(0..<cell.offset), let faulty = text(cell.offset..<end), let rest = text(end..<bytes.count)
    else { return HTML(record) }
    return HTML(joining: [HTML(before), HTML.element("mark") { HTML(faulty) }, HTML(rest)])
  }
}
