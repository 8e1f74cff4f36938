import ControlAPI
import FoundationEssentials
import LadeTypes

// How the system's words look on pages.
extension HTML {
  /// A point in time: the daemon's local time for people, UTC for programs.
  static func time(_ date: Date) -> HTML {
    element("time", .datetime(date.formatted(.iso8601))) { HTML(Quantity.time(date)) }
  }

  static func time(_ date: Date?) -> HTML { date.map { time($0) } ?? HTML("–") }

  /// A state as a coloured word.
  static func state(_ state: JobState) -> HTML {
    element("span", .style("state", state)) { HTML(state.rawValue) }
  }

  /// A command for a terminal.
  static func command(_ text: String) -> HTML { element("code") { HTML(text) } }

  /// A link to a job by its number.
  static func job(_ id: Int64) -> HTML { element("a", .link(.job(id))) { HTML("\(id)") } }

  /// A column's head.
  static func column(_ title: String) -> HTML { element("th", .other("scope", "col")) { HTML(title) } }

  /// A column's head over numbers.
  static func numberColumn(_ title: String) -> HTML {
    element("th", .other("scope", "col"), .style("number")) { HTML(title) }
  }

  /// A cell with a number.
  static func numberCell(_ number: some BinaryInteger) -> HTML {
    element("td", .style("number")) { count(number) }
  }

  /// A table that is scrolled by itself where the screen is narrow.
  static func table(_ caption: String, columns: [HTML], rows: [HTML]) -> HTML {
    element("div", .style("scroll"), .other("role", "group"), .other("tabindex", "0"), .label(caption)) {
      element("table") {
        element("caption") { HTML(caption) }
        element("thead") { element("tr") { HTML(joining: columns) } }
        element("tbody") { HTML(joining: rows) }
      }
    }
  }

  /// A term and what it is, of a description list; nothing where there is nothing.
  static func fact(_ term: String, _ value: HTML?) -> HTML {
    guard let value else { return .empty }
    return element("div") {
      element("dt") { HTML(term) }
      element("dd") { value }
    }
  }

  /// A progress bar, and what it says in words.
  static func bar(_ progress: JobProgress) -> HTML? {
    guard let percent = progress.percent else { return nil }
    return element("span", .style("bar")) {
      element("progress", .other("max", 100), .value(String(percent)), .label("Progress")) { HTML("\(percent) %") }
      HTML(" \(percent) %")
    }
  }

  /// A link that looks like a button.
  static func button(_ title: String, _ link: PageLink) -> HTML {
    element("a", .style("button"), .link(link)) { HTML(title) }
  }
}
