import FoundationEssentials
import LadeTypes

/// The attempts of a job, by its transitions: when each began, how long it took and how it ended.
struct JobAttempts: Sendable {
  struct Attempt: Sendable, Equatable {
    let start: Date
    /// Nil while it goes on.
    var end: JobTransition?
  }

  private(set) var list: [Attempt] = []

  init(_ transitions: [JobTransition]) {
    for step in transitions where step.from != step.to {
      if step.to == .running {
        list.append(Attempt(start: step.at))
      } else if step.from == .running, !list.isEmpty {
        list[list.count - 1].end = step
      }
    }
  }

  /// A table of them; nothing where there is none.
  func table(now: Date) -> HTML {
    if list.isEmpty { return HTML("") }
    return HTML(joining: [
      HTML.element("h2") { "Attempts" },
      HTML.table(
        "Attempts",
        columns: [HTML.numberColumn("Attempt"), HTML.column("Began"), HTML.numberColumn("Took")]
          + ["Then", "Why"].map(HTML.column),
        rows: list.enumerated().map { place, attempt in
          HTML.element("tr") {
            HTML.numberCell(place + 1)
            HTML.element("td") { HTML.time(attempt.start) }
            HTML.element("td", .style("number")) {
              Quantity.span(max((attempt.end?.at ?? now).timeIntervalSince(attempt.start), 0))
            }
            HTML.element("td") { attempt.end.map { HTML.state($0.to) } ?? HTML.state(.running) }
            HTML.element("td") { HTML.name(attempt.end?.reason ?? "") }
          }
        }),
    ])
  }
}
