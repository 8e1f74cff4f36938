import ControlAPI

/// An address of one of the pages, made of parts: it can't lead anywhere else.
struct PageLink: Sendable, Hashable {
  /// What is sent as `href`, `action` or `Location`.
  let text: String

  private init(_ path: String, _ query: QueryString = QueryString(), fragment: StaticString? = nil) {
    text = path + (query.names.isEmpty ? "" : "?" + query.text) + (fragment.map { "#\($0)" } ?? "")
  }

  static let overview = PageLink("/")
  static let signOut = PageLink("/sign-out")
  /// The jobs, with the form's state left out: where the form leads.
  static let allJobs = PageLink("/jobs")
  static let content = PageLink("", fragment: "content")

  static func jobs(_ view: JobsView) -> PageLink { PageLink("/jobs", view.query) }
  /// The stream of events about one job, or about all.
  static func events(of job: Int64? = nil) -> PageLink {
    var query = QueryString()
    query["job"] = job.map { String($0) }
    return PageLink("/events", query)
  }

  static func job(_ id: Int64) -> PageLink { PageLink("/jobs/\(id)") }

  static func rejects(_ job: Int64, after number: Int64 = 0) -> PageLink {
    var query = QueryString()
    query["after"] = number > 0 ? String(number) : nil
    return PageLink("/jobs/\(job)/rejects", query)
  }

  /// The page that asks before it is done, and where its form leads.
  static func action(_ action: JobChange.Action, _ job: Int64) -> PageLink {
    PageLink("/jobs/\(job)/\(action.rawValue)")
  }

  static func action(_ action: LaneAction, _ lane: String) -> PageLink {
    PageLink("/lanes/\(QueryString.percentEncoded(lane))/\(action.rawValue)")
  }

  /// A file whose address changes with its content.
  static func asset(_ asset: Asset) -> PageLink { PageLink("/assets/\(asset.version)/\(asset.name)") }
}

extension JobChange.Action {
  /// What the pages can do to a job. The raw values are in addresses.
  static let onPages: [Self] = [.cancel, .retry, .hold, .release, .remove]

  var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// What the pages can do to a lane. The raw values are in addresses.
enum LaneAction: String, Sendable, CaseIterable {
  case pause, resume

  var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}
