import ControlAPI
import ControlServer

/// One page: what is in its middle, and where it stands among the others.
struct Page: Sendable {
  enum Section: Sendable, CaseIterable {
    case overview, jobs, upload, data, schedules, stores, daemons, log, configuration

    /// Those that lead somewhere.
    static func all(sharesQueue: Bool) -> [Section] { allCases.filter { $0 != .daemons || sharesQueue } }

    var title: String {
      switch self {
      case .overview: "Overview"
      case .jobs: "Jobs"
      case .upload: "Upload"
      case .data: "Data"
      case .schedules: "Schedules"
      case .stores: "Stores"
      case .daemons: "Daemons"
      case .log: "Log"
      case .configuration: "Configuration"
      }
    }

    /// The key that leads there, after G.
    var key: String {
      switch self {
      case .overview: "o"
      case .jobs: "j"
      case .upload: "u"
      case .data: "d"
      case .schedules: "s"
      case .stores: "t"
      case .daemons: "n"
      case .log: "l"
      case .configuration: "c"
      }
    }

    var link: PageLink {
      switch self {
      case .overview: .overview
      case .jobs: .allJobs
      case .upload: .uploads
      case .data: .data
      case .schedules: .schedules
      case .stores: .stores
      case .daemons: .daemons
      case .log: .log
      case .configuration: .configuration
      }
    }
  }

  /// Which jobs' changes change a page.
  enum Events: Sendable, Hashable {
    case all
    case of(Int64)
    /// Those of a stream of its own.
    case stream(PageLink)
  }

  let title: String
  var section: Section?
  /// The events that it follows; nil where nothing on it changes.
  var events: Events?
  /// A script of its own.
  var script: Asset?
  let content: HTML

  init(
    _ title: String, _ section: Section? = nil, events: Events? = nil, script: Asset? = nil,
    @HTMLBuilder content: () throws -> HTML
  ) rethrows {
    self.title = title
    self.section = section
    self.events = events
    self.script = script
    self.content = try content()
  }

  /// The document.
  /// - Parameters:
  ///   - session: nil for who hasn't signed in.
  ///   - sharesQueue: whether other daemons may work on the queue, too.
  func document(for session: WebSession?, isReadOnly: Bool, sharesQueue: Bool = false) -> String {
    HTML.document {
      HTML.element("html", .other("lang", "en")) {
        HTML.element("head") {
          HTML.void("meta", .other("charset", "utf-8"))
          HTML.void("meta", .name("viewport"), .other("content", "width=device-width, initial-scale=1"))
          HTML.void("meta", .name("color-scheme"), .other("content", "light dark"))
          HTML.element("title") { "\(title) – Lade" }
          HTML.void("link", .other("rel", "stylesheet"), .link(.asset(.styles)))
          HTML.void("link", .other("rel", "icon"), .link(.asset(.icon)))
          for script in [session.map { _ in Asset.keys }, events.map { _ in Asset.script }, script].compactMap({ $0 }) {
            HTML.element("script", .other("type", "module"), .source(.asset(script))) { HTML.empty }
          }
        }
        HTML.element("body") {
          HTML.element("a", .style("skip"), .link(.content)) { "Skip to the content" }
          header(session, isReadOnly, sharesQueue)
          HTML.element("main", .id("content"), .other("tabindex", "-1"), worker, job, stream) {
            HTML.element("h1") { title }
            content
          }
          HTML.element("footer") {
            "laded \(LadeVersion.current)"
            if session != nil {
              " · "
              HTML.element("a", .link(.help), .key("?")) { "Keys" }
            }
          }
        }
      }
    }
  }

  private var worker: Attribute? { events.map { _ in .worker(.asset(.worker)) } }

  private var job: Attribute? {
    switch events {
    case .of(let id)?: .job(id)
    case .all?, .stream?, nil: nil
    }
  }

  private var stream: Attribute? {
    guard case .stream(let link) = events else { return nil }
    return .stream(link)
  }

  @HTMLBuilder
  private func header(_ session: WebSession?, _ isReadOnly: Bool, _ sharesQueue: Bool) -> HTML {
    HTML.element("header") {
      HTML.element("span", .style("brand")) { "Lade" }
      if let session {
        HTML.element("nav", .label("Pages")) {
          for section in Section.all(sharesQueue: sharesQueue) {
            HTML.element("a", .link(section.link), .current(section == self.section), .key(section.key)) {
              section.title
            }
          }
        }
        HTML.element("div", .style("user")) {
          if isReadOnly { HTML.element("span", .style("note")) { "read-only" } }
          HTML.name(session.user)
          if !session.isNamedByProxy {
            HTML.element("form", .other("method", "post"), .action(.signOut)) {
              HTML.element("button", .other("type", "submit")) { "Sign out" }
            }
          }
        }
      }
    }
  }
}
