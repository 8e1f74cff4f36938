import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The stores with their backups, and jobs of maintenance.
  func addStorePages(to router: Router<ControlContext>) {
    addRestorePages(to: router)
    page(router, "/stores") { visit in
      try visit.query().refuseNames(otherThan: [])
      var shown: [StoresPage.Shown] = []
      for store in try await backend.stores(StoreCountQuery()) {
        shown.append(.init(store: store, backups: try await backend.backups(of: store.name)))
      }
      return .page(StoresPage(stores: shown, mayOperate: mayOperate(visit)).page)
    }
    for action in StoreAction.allCases {
      change(router, "/stores/{store}/\(action.rawValue)") { visit in
        let name = try visit.name("store")
        log("\(action.rawValue) store \(name)", visit)
        let job = try await backend.submit(JobSubmission(kind: action.rawValue, store: name), by: visit.peer)
        return .redirect(.job(job.id))
      }
    }
  }
}

/// The data stores: how large they are, their backups, and what can be done to them.
struct StoresPage {
  struct Shown: Sendable {
    let store: Store
    let backups: BackupList
  }

  let stores: [Shown]
  /// Whether stores are maintained and restored from here.
  let mayOperate: Bool

  var page: Page {
    Page("Stores", .stores) {
      if stores.isEmpty { HTML.element("p") { "The configuration has none." } }
      for shown in stores {
        HTML.element("section", .label("Store \(shown.store.name)")) { section(shown) }
      }
    }
  }

  @HTMLBuilder
  private func section(_ shown: Shown) -> HTML {
    let store = shown.store
    HTML.element("h2") { HTML.name(store.name) }
    HTML.element("dl") {
      HTML.fact("File", HTML.name(store.path))
      HTML.fact("Size", HTML(Quantity.bytes(Double(store.size))))
      HTML.fact("Log", HTML(Quantity.bytes(Double(store.walSize))))
      HTML.fact("Model", HTML.name(store.model))
      HTML.fact("Entities", HTML.element("a", .link(.data)) { HTML.count(store.entities.count) })
      HTML.fact("Jobs", HTML.element("a", .link(.jobs(JobsView(store: store.name)))) { "of this store" })
      HTML.fact("Backups in", HTML.name(shown.backups.folder))
    }
    if mayOperate {
      HTML.element("div", .style("buttons")) {
        for action in StoreAction.allCases {
          HTML.element("form", .other("method", "post"), .action(.maintain(store.name, action))) {
            HTML.element(
              "button", .other("type", "submit"), .label("\(action.title) \(store.name)"), .title(action.purpose)
            ) { action.title }
          }
        }
      }
    }
    if shown.backups.backups.isEmpty {
      HTML.element("p") { "There is no backup." }
    } else {
      HTML.table(
        "Backups of \(store.name)",
        columns: ["Backup", "Content of"].map(HTML.column) + [HTML.numberColumn("Size"), HTML.numberColumn("Job")]
          + (mayOperate ? [HTML.column("Restore")] : []),
        rows: shown.backups.backups.map { backup in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(backup.name) }
            HTML.element("td") { HTML.time(backup.madeAt) }
            HTML.element("td", .style("number")) { HTML(Quantity.bytes(Double(backup.size))) }
            HTML.element("td", .style("number")) { HTML.job(backup.job) }
            if mayOperate {
              HTML.element("td") {
                HTML.element(
                  "a", .link(.restore(store.name, from: backup.name)),
                  .label("Restore \(store.name) from \(backup.name)")
                ) { "Restore…" }
              }
            }
          }
        })
    }
  }
}

extension StoreAction {
  /// What its job does.
  fileprivate var purpose: String {
    switch self {
    case .check: "Looks for damage and for objects that break the model's rules"
    case .backup: "Copies the store while it is used"
    case .optimise: "Updates the statistics by which queries choose indexes"
    case .checkpoint: "Moves the write-ahead log into the store's file"
    case .vacuum: "Rewrites the file without its free pages, which needs as much space again"
    }
  }
}
