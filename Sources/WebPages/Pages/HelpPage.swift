import ControlServer
import Hummingbird

extension PageRoutes {
  /// What can be done without a mouse.
  func addHelpPages(to router: Router<ControlContext>) {
    page(router, "/help") { visit in
      try visit.query().refuseNames(otherThan: [])
      return .page(HelpPage(sharesQueue: backend.sharesQueue).page)
    }
  }
}

/// The keys that the pages have beside the browser's own. They are links of every page, so nobody needs them.
struct HelpPage {
  let sharesQueue: Bool

  var page: Page {
    Page("Keys") {
      HTML.element("p") {
        "Everything on the pages can be reached with the Tab key; the first link of each page leads past its head. These keys are "
        "shorter. They do nothing while you type into a field, and need JavaScript."
      }
      HTML.table(
        "Keys", columns: ["Keys", "What they do"].map(HTML.column),
        rows: [row(["?"], "this page"), row(["/"], "to the search: of the page, or else of jobs")]
          + Page.Section.all(sharesQueue: sharesQueue).map { row(["g", $0.key], "to \($0.title)") })
      HTML.element("button", .id("keys"), .other("type", "button"), .other("hidden", "hidden")) { HTML.empty }
    }
  }

  private func row(_ keys: [String], _ what: String) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row")) {
        HTML.element("kbd") { keys[0] }
        if keys.count > 1 {
          " then "
          HTML.element("kbd") { keys[1] }
        }
      }
      HTML.element("td") { what }
    }
  }
}
