import ControlAPI
import LadeTypes

/// Two versions of a store's model, and what a store goes through that is migrated from one to the other.
struct ModelVersionsPage {
  let versions: ModelVersions

  var page: Page {
    Page("Versions of \(versions.store)'s model", .data) {
      HTML.element("p") {
        HTML.element("a", .link(.model(versions.store))) { "The model" }
        ", "
        HTML.name(versions.model)
      }
      if versions.versions.count < 2 {
        HTML.element("p") { "There is only one version." }
      } else {
        form
        if let difference = versions.difference { outcome(difference) }
      }
    }
  }

  private var form: HTML {
    HTML.element("form", .other("method", "get"), .action(.modelVersions(versions.store))) {
      choice("from", "From", versions.difference?.from)
      choice("to", "to", versions.difference?.to)
      HTML.element("button", .other("type", "submit")) { "Compare" }
    }
  }

  @HTMLBuilder
  private func choice(_ name: StaticString, _ label: String, _ chosen: String?) -> HTML {
    HTML.element("label", .other("for", name)) { label }
    HTML.element("select", .id("\(name)"), .name(name)) {
      for version in versions.versions {
        HTML.element("option", .value(version), version == chosen ? .other("selected", "selected") : nil) {
          version == versions.current ? "\(version) (current)" : version
        }
      }
    }
  }

  @HTMLBuilder
  private func outcome(_ difference: ModelVersions.Difference) -> HTML {
    HTML.element("section", .label("Migration")) {
      HTML.element("h2") { "Migration" }
      if difference.obstacles.isEmpty {
        HTML.element("p") { "A store is migrated without a mapping model when it is opened." }
      } else {
        HTML.element("p", .style("problem")) { "A store can't be migrated without a mapping model:" }
        list(difference.obstacles)
      }
      if !difference.losses.isEmpty {
        HTML.element("p", difference.allowsLosses ? nil : .style("problem")) {
          difference.allowsLosses
            ? "This would be lost, as the configuration allows:"
            : "This would be lost, and the configuration doesn't allow it, so the store wouldn't be opened:"
        }
        list(difference.losses)
      }
    }
    HTML.element("section", .label("Differences")) {
      HTML.element("h2") { "Differences" }
      if difference.changes.isEmpty {
        HTML.element("p") { "None that a store would notice." }
      } else {
        table(difference.changes)
        if difference.others > 0 { HTML.element("p") { "And \(difference.others) more." } }
      }
    }
  }

  private func list(_ texts: [String]) -> HTML {
    HTML.element("ul") { for text in texts { HTML.element("li") { HTML.name(text) } } }
  }

  private func table(_ changes: [ModelVersions.Change]) -> HTML {
    HTML.table(
      "Differences of the versions",
      columns: ["Entity", "Property", "Difference", "Before", "After", "Its data"].map(HTML.column),
      rows: changes.map { change in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { HTML.name(change.entity) }
          HTML.element("td") { change.property.map { HTML.name($0) } ?? HTML("the entity") }
          HTML.element("td") { change.change }
          HTML.element("td") { HTML.name(change.old ?? "–") }
          HTML.element("td") { HTML.name(change.new ?? "–") }
          HTML.element("td") { Self.words(of: change.data) }
        }
      })
  }

  private static func words(of data: String) -> String {
    switch data {
    case "kept": "kept"
    case "converted": "converted, without loss"
    case "empty": "none yet"
    case "filled": "the default, where there is nothing"
    case "lost": "lost"
    case "refused": "refused: see above"
    default: data
    }
  }
}
