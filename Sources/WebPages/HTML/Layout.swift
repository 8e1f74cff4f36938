import ControlAPI
import ControlServer

/// One page: what is in its middle, and where it stands among the others.
struct Page: Sendable {
  enum Section: Sendable, CaseIterable {
    case overview, jobs

    var title: String {
      switch self {
      case .overview: "Overview"
      case .jobs: "Jobs"
      }
    }

    var link: PageLink {
      switch self {
      case .overview: .overview
      case .jobs: .allJobs
      }
    }
  }

  let title: String
  var section: Section?
  /// The stream of events that it follows; nil where nothing on it changes.
  var events: PageLink?
  let content: HTML

  init(
    _ title: String, _ section: Section? = nil, events: PageLink? = nil, @HTMLBuilder content: () throws -> HTML
  ) rethrows {
    self.title = title
    self.section = section
    self.events = events
    self.content = try content()
  }

  /// The document.
  /// - Parameters:
  ///   - session: nil for who hasn't signed in.
  func document(for session: WebSession?, isReadOnly: Bool) -> String {
    HTML.document {
      HTML.element("html", .other("lang", "en")) {
        HTML.element("head") {
          HTML.void("meta", .other("charset", "utf-8"))
          HTML.void("meta", .name("viewport"), .other("content", "width=device-width, initial-scale=1"))
          HTML.void("meta", .name("color-scheme"), .other("content", "light dark"))
          HTML.element("title") { "\(title) – Lade" }
          HTML.void("link", .other("rel", "stylesheet"), .link(.asset(.styles)))
          HTML.void("link", .other("rel", "icon"), .link(.asset(.icon)))
          if events != nil {
            HTML.element("script", .other("type", "module"), .source(.asset(.script))) { HTML.empty }
          }
        }
        HTML.element("body") {
          HTML.element("a", .style("skip"), .link(.content)) { "Skip to the content" }
          header(session, isReadOnly)
          HTML.element("main", .id("content"), .other("tabindex", "-1"), events.map { .events($0) }) {
            HTML.element("h1") { title }
            content
          }
          HTML.element("footer") { "laded \(LadeVersion.current)" }
        }
      }
    }
  }

  @HTMLBuilder
  private func header(_ session: WebSession?, _ isReadOnly: Bool) -> HTML {
    HTML.element("header") {
      HTML.element("span", .style("brand")) { "Lade" }
      if let session {
        HTML.element("nav", .label("Pages")) {
          for section in Section.allCases {
            HTML.element("a", .link(section.link), .current(section == self.section)) { section.title }
          }
        }
        HTML.element("div", .style("user")) {
          if isReadOnly { HTML.element("span", .style("note")) { "read-only" } }
          HTML.name(session.user)
          HTML.element("form", .other("method", "post"), .action(.signOut)) {
            HTML.element("button", .other("type", "submit")) { "Sign out" }
          }
        }
      }
    }
  }
}
