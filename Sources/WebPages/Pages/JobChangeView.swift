import LadeTypes

/// What a job that changes others has done: a part of its page.
struct JobChangeView {
  let result: JobChangeResult

  /// In place of what an import counts.
  @HTMLBuilder
  var figures: HTML {
    HTML.fact("Changed", HTML.count(result.changed))
    HTML.fact("Couldn't be", HTML.count(result.refused))
  }

  @HTMLBuilder
  var refusals: HTML {
    if result.refused > 0 {
      HTML.element("p") { "These stay as they are:" }
      HTML.element("ul") {
        for refusal in result.refusals {
          HTML.element("li") {
            HTML.job(refusal.job)
            ": "
            HTML.name(refusal.reason)
          }
        }
      }
      if result.refused > result.refusals.count {
        HTML.element("p") { "And \(Quantity.count(result.refused - result.refusals.count)) others." }
      }
    }
  }
}
