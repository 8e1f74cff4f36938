import ControlAPI
import LadeTypes

/// The last hours as plots, and their figures: a part of the first page.
struct HistoryView {
  /// Minutes of a point.
  static let grain = 5
  /// Lanes that have a line of their own, those with the most waiting jobs.
  private static let mostLanes = 4

  let history: History

  private var plots: [LinePlot] {
    let spans = history.spans
    return [
      LinePlot(
        id: "ended", title: "Jobs that ended", unit: "jobs in five minutes",
        lines: [
          .init(name: "completed", values: spans.map { Double($0.completed) }),
          .init(name: "cancelled", values: spans.map { Double($0.cancelled) }),
          .init(name: "discarded", values: spans.map { Double($0.discarded) }),
        ]),
      LinePlot(
        id: "records", title: "Records that were read", unit: "records in five minutes",
        lines: [.init(name: "records", values: spans.map { Double($0.records) })]),
      LinePlot(
        id: "durations", title: "How long completed jobs took", unit: "seconds",
        lines: [
          .init(name: "half of them at most", values: spans.map(\.median)),
          .init(name: "95 of a hundred at most", values: spans.map(\.p95)),
        ]),
      LinePlot(
        id: "waiting", title: "Jobs that waited", unit: "jobs",
        lines: lanes.prefix(Self.mostLanes).map { lane in
          .init(name: lane, values: spans.map { $0.waiting[lane].map(Double.init) })
        }),
    ]
  }

  /// Those in which most jobs waited first.
  private var lanes: [String] {
    var most: [String: Int] = [:]
    for span in history.spans { most.merge(span.waiting) { max($0, $1) } }
    return most.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
  }

  @HTMLBuilder
  var section: HTML {
    HTML.element("h2") { "The last hours" }
    if history.spans.count < 2 {
      HTML.element("p") { "The daemon has just begun: its history is shown after some minutes." }
    } else {
      HTML.element("div", .id("plots"), .style("plots"), .live) { HTML(joining: plots.map(\.figure)) }
      HTML.element("details") {
        HTML.element("summary") { "The figures" }
        HTML.element("div", .id("history-figures"), .live) { table }
      }
    }
  }

  private var table: HTML {
    let lanes = lanes.prefix(Self.mostLanes)
    return HTML.table(
      "The last hours, in spans of five minutes",
      columns: [HTML.column("From")]
        + ["Completed", "Cancelled", "Discarded", "Records", "Median", "95 %"].map(HTML.numberColumn)
        + lanes.map { HTML.numberColumn("Waiting in \($0)") },
      rows: history.spans.reversed().map { span in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { HTML.time(span.start) }
          HTML.numberCell(span.completed)
          HTML.numberCell(span.cancelled)
          HTML.numberCell(span.discarded)
          HTML.numberCell(span.records)
          for time in [span.median, span.p95] {
            HTML.element("td", .style("number")) { time.map { HTML(Quantity.span($0)) } ?? HTML("–") }
          }
          for lane in lanes {
            HTML.element("td", .style("number")) { span.waiting[lane].map { HTML.count($0) } ?? HTML("–") }
          }
        }
      })
  }
}
