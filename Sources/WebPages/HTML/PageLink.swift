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
  /// What completes a search for jobs.
  static let completeJobs = PageLink("/jobs/complete")
  static let content = PageLink("", fragment: "content")

  static func jobs(_ view: JobsView) -> PageLink { PageLink("/jobs", view.query) }
  static func job(_ id: Int64) -> PageLink { PageLink("/jobs/\(id)") }

  static func rejects(_ job: Int64, after number: Int64 = 0, attempt: Int? = nil) -> PageLink {
    var query = QueryString()
    query["after"] = number > 0 ? String(number) : nil
    query["attempt"] = attempt.map { String($0) }
    return PageLink("/jobs/\(job)/rejects", query)
  }

  /// All rejects of a job as one file.
  static func rejectFile(_ job: Int64) -> PageLink { PageLink("/jobs/\(job)/rejects/file") }

  /// The page that asks before it is done, and where its form leads.
  static func action(_ action: JobChange.Action, _ job: Int64) -> PageLink {
    PageLink("/jobs/\(job)/\(action.rawValue)")
  }

  static func action(_ action: PauseAction, _ lane: String) -> PageLink {
    PageLink("/lanes/\(QueryString.percentEncoded(lane))/\(action.rawValue)")
  }

  /// The page that asks before all jobs that a search finds are changed, and where its form leads.
  static let changes = PageLink("/jobs/change")

  /// One reject, where it is corrected.
  static func reject(_ number: Int64, of job: Int64) -> PageLink { PageLink("/jobs/\(job)/rejects/\(number)") }
  /// Where the form leads that checks a corrected reject or imports it again.
  static func retryReject(_ number: Int64, of job: Int64) -> PageLink {
    PageLink("/jobs/\(job)/rejects/\(number)/retry")
  }
  /// The page that asks before all open rejects are imported again, and where its form leads.
  static func retryRejects(_ job: Int64) -> PageLink { PageLink("/jobs/\(job)/rejects/retry") }

  /// The stores with their entities.
  static let data = PageLink("/data")

  /// Objects of an entity.
  static func objects(_ store: String, _ entity: String, _ query: QueryString = QueryString()) -> PageLink {
    PageLink("/data/\(QueryString.percentEncoded(store))/\(QueryString.percentEncoded(entity))", query)
  }

  /// One object, by its number in the store.
  static func object(_ store: String, _ entity: String, _ number: Int64) -> PageLink {
    PageLink("/data/\(QueryString.percentEncoded(store))/\(QueryString.percentEncoded(entity))/\(number)")
  }

  /// What happens to the objects of a table, as events.
  static func tableEvents(_ store: String, _ entity: String, _ query: QueryString) -> PageLink {
    PageLink(objects(store, entity).text + "/events", query)
  }
  /// A table as a file.
  static func export(_ store: String, _ entity: String, _ query: QueryString, _ format: DataExport.Format) -> PageLink {
    PageLink(objects(store, entity).text + "/\(format.rawValue)", query)
  }

  /// The forms by which an object is made, changed and deleted, and where they lead.
  static func newObject(_ store: String, _ entity: String) -> PageLink {
    PageLink("/data/\(QueryString.percentEncoded(store))/\(QueryString.percentEncoded(entity))/new")
  }
  static func editObject(_ store: String, _ entity: String, _ number: Int64) -> PageLink {
    PageLink(object(store, entity, number).text + "/edit")
  }
  static func deleteObject(_ store: String, _ entity: String, _ number: Int64) -> PageLink {
    PageLink(object(store, entity, number).text + "/delete")
  }

  /// The model of a store.
  static func model(_ store: String) -> PageLink { PageLink("/model/\(QueryString.percentEncoded(store))") }
  /// Two versions of it, compared.
  static func modelVersions(_ store: String) -> PageLink {
    PageLink("/model/\(QueryString.percentEncoded(store))/versions")
  }

  /// Where files are sent.
  static let uploads = PageLink("/upload")
  static func upload(_ id: Int64) -> PageLink { PageLink("/upload/\(id)") }
  static func importUpload(_ id: Int64) -> PageLink { PageLink("/upload/\(id)/import") }
  /// Where it is imported by what the mapping editor says.
  static func importMapped(_ id: Int64) -> PageLink { PageLink("/upload/\(id)/map/import") }
  static func removeUpload(_ id: Int64) -> PageLink { PageLink("/upload/\(id)/remove") }

  /// Where the columns of a file are mapped.
  static func mapUpload(_ id: Int64, _ query: QueryString = QueryString()) -> PageLink {
    PageLink("/upload/\(id)/map", query)
  }
  /// The recipe that a form of the mapping editor says, as a file.
  static func recipeFile(_ id: Int64, _ query: QueryString) -> PageLink {
    PageLink("/upload/\(id)/recipe.yaml", query)
  }
  static func tryUpload(_ id: Int64, by recipe: String) -> PageLink {
    var query = QueryString()
    query["recipe"] = recipe
    return PageLink("/upload/\(id)", query)
  }

  static let schedules = PageLink("/schedules")

  /// Where the button leads that makes a job of a schedule now.
  static func run(_ schedule: String) -> PageLink {
    PageLink("/schedules/\(QueryString.percentEncoded(schedule))/run")
  }

  static func action(_ action: PauseAction, schedule: String) -> PageLink {
    PageLink("/schedules/\(QueryString.percentEncoded(schedule))/\(action.rawValue)")
  }

  static let daemons = PageLink("/daemons")
  static let stores = PageLink("/stores")

  /// Where the buttons lead that make a job of maintenance.
  static func maintain(_ store: String, _ action: StoreAction) -> PageLink {
    PageLink("/stores/\(QueryString.percentEncoded(store))/\(action.rawValue)")
  }

  /// Where the form leads that restores a store.
  static func restore(_ store: String) -> PageLink { PageLink("/stores/\(QueryString.percentEncoded(store))/restore") }

  /// The page that asks before a store is restored from a backup.
  static func restore(_ store: String, from backup: String) -> PageLink {
    var query = QueryString()
    query["backup"] = backup
    return PageLink("/stores/\(QueryString.percentEncoded(store))/restore", query)
  }

  static let help = PageLink("/help")
  static let log = PageLink("/log")
  static let configuration = PageLink("/configuration")
  static let reload = PageLink("/configuration/reload")
  /// The question before a saved recipe is removed, and where its form leads.
  static func removeRecipe(_ name: String) -> PageLink {
    PageLink("/configuration/recipes/\(QueryString.percentEncoded(name))/remove")
  }

  /// A file whose address changes with its content.
  static func asset(_ asset: Asset) -> PageLink { PageLink("/assets/\(asset.version)/\(asset.name)") }
}

extension JobChange.Action {
  /// What the pages can do to a job. The raw values are in addresses.
  static let onPages: [Self] = [.cancel, .retry, .hold, .release, .remove]

  var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// What the pages can do to a lane or a schedule. The raw values are in addresses.
enum PauseAction: String, Sendable, CaseIterable {
  case pause, resume

  var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// What the pages can have done to a store: each is a job of maintenance. The raw values are in addresses, and are the
/// jobs' kinds.
enum StoreAction: String, Sendable, CaseIterable {
  case check, backup, optimise, checkpoint, vacuum

  var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}
