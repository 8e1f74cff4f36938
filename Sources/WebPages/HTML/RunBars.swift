import LadeTypes

/// The last runs of a schedule as bars, drawn by the server: as high as they took long, in the colours of their states.
struct RunBars {
  private static let (height, step, least): (Int, Int, Int) = (20, 6, 3)

  /// The oldest first.
  let jobs: [ScheduledJob]

  private var longest: Double { jobs.compactMap(\.seconds).max() ?? 0 }

  var html: HTML {
    HTML.element("span", .style("runs")) {
      HTML.element(
        "svg", .other("viewBox", "0 0 120 20"), .other("aria-hidden", "true")
      ) {
        for (place, job) in jobs.enumerated() { bar(job, at: place) }
      }
      " "
      words
    }
  }

  private func bar(_ job: ScheduledJob, at place: Int) -> HTML {
    let share = longest > 0 ? (job.seconds ?? 0) / longest : 0
    let height = Self.least + Int(share * Double(Self.height - Self.least))
    return HTML.element(
      "rect", .style("state", job.state), .other("x", place * Self.step), .other("y", Self.height - height),
      .other("width", Self.step - 1), .other("height", height)
    ) {
      HTML.element("title") {
        "job \(job.id): \(job.state.rawValue)" + (job.seconds.map { ", \(Quantity.span($0))" } ?? "")
      }
    }
  }

  /// What the bars say, for who can't see them or their colours.
  private var words: String {
    let completed = jobs.count { $0.state == .completed }
    return "\(completed) of \(jobs.count) completed"
      + (longest > 0 ? ", \(Quantity.span(longest)) at most" : "")
  }
}
