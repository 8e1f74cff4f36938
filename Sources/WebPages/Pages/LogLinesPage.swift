import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The log, and the configuration.
  func addDaemonPages(to router: Router<ControlContext>) {
    page(router, "/log") { visit in
      let view = try LogView(visit.query())
      let lines = backend.log(LogQuery(job: view.job, level: view.level, limit: LogView.pageSize))
      return .page(LogLinesPage(view: view, lines: lines).page)
    }
    page(router, "/configuration") { try await configuration($0) }
    change(router, "/configuration/reload") { try await reload($0) }
    page(router, "/configuration/recipes/{recipe}/remove") { .page(try recipeRemovalPage($0).page) }
    change(router, "/configuration/recipes/{recipe}/remove") { try await removeRecipe($0) }
  }
}

/// Which lines of the log are shown. All of it is in the address.
struct LogView: Sendable, Hashable {
  /// How many lines are shown at most, the newest.
  static let pageSize = 300

  var job: Int64?
  /// The least grave level that is shown.
  var level = LogLevel.info

  /// Reads `job` and `level`, which a form may send empty.
  /// - Throws: ``QueryError``.
  init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["job", "level"])
    if query["job"] != "" { job = try query.integer("job", in: 0...Int64.max) }
    if let word = query["level"] {
      guard let level = LogLevel(rawValue: word) else {
        let known = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
        throw QueryError.invalid(name: "level", value: word, expected: "one of " + known)
      }
      self.level = level
    }
  }
}

/// The daemon's last log lines, the newest first.
struct LogLinesPage {
  let view: LogView
  /// The oldest first.
  let lines: [LogLine]

  var page: Page {
    Page("Log", .log, events: .all) {
      form
      HTML.element("section", .id("log"), .label("Lines"), .live) {
        if lines.isEmpty {
          HTML.element("p") { "The daemon has no such lines, or no longer. The journal has all." }
        } else {
          HTML.log(lines.reversed())
        }
      }
    }
  }

  private var form: HTML {
    HTML.element("form", .other("method", "get"), .action(.log), .other("role", "search")) {
      HTML.element("label", .other("for", "level")) { "From level" }
      HTML.element("select", .id("level"), .name("level")) {
        for level in LogLevel.allCases {
          HTML.element("option", .value(level.rawValue), level == view.level ? .other("selected", "selected") : nil) {
            level.rawValue
          }
        }
      }
      HTML.element("label", .other("for", "job")) { "Job" }
      HTML.void(
        "input", .id("job"), .name("job"), .other("inputmode", "numeric"), .other("autocomplete", "off"),
        .value(view.job.map { String($0) } ?? ""))
      HTML.element("button", .other("type", "submit")) { "Show" }
    }
  }
}

extension HTML {
  /// Lines of the log, in the order in which they are given.
  static func log(_ lines: [LogLine]) -> HTML {
    element("ol", .style("log")) {
      for line in lines {
        element("li", .style("level", line.level)) {
          time(line.at)
          " \(line.level.rawValue) "
          name(line.message)
          for fact in line.facts {
            " "
            element("span", .style("note")) { name(fact) }
          }
        }
      }
    }
  }
}
