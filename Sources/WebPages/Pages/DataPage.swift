import ControlAPI
import LadeTypes

/// The stores with their entities.
struct DataPage {
  let stores: [Store]

  var page: Page {
    Page("Data", .data) {
      if stores.isEmpty { HTML.element("p") { "The configuration has no store." } }
      for store in stores {
        HTML.element("section", .label("Store \(store.name)")) { section(store) }
      }
    }
  }

  @HTMLBuilder
  private func section(_ store: Store) -> HTML {
    HTML.element("h2") { HTML.name(store.name) }
    HTML.element("p") { HTML.element("a", .link(.model(store.name))) { "Model of \(store.name)" } }
    if store.entities.isEmpty {
      HTML.element("p") { "Its model has no entity." }
    } else {
      HTML.table(
        "Entities of \(store.name)",
        columns: [HTML.column("Entity"), HTML.numberColumn("Objects")]
          + ["Attributes", "Relationships"].map(HTML.column),
        rows: store.entities.map { row($0, of: store) })
    }
    if store.entities.contains(where: { $0.count == nil }) {
      HTML.element("p", .style("note")) { "The store is large, so its objects aren't counted here." }
    }
  }

  private func row(_ entity: Store.Entity, of store: Store) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row")) {
        HTML.element("a", .link(.objects(store.name, entity.name))) { HTML.name(entity.name) }
        if entity.isAbstract { HTML.element("span", .style("note")) { " abstract" } }
      }
      HTML.element("td", .style("number")) { entity.count.map { HTML.count($0) } ?? HTML("–") }
      HTML.element("td") { HTML.name(entity.attributes.map(\.name).joined(separator: ", ")) }
      HTML.element("td") {
        for (place, relationship) in entity.relationships.enumerated() {
          if place > 0 { ", " }
          HTML.name(relationship.name)
          HTML.element("span", .style("note")) {
            relationship.isToMany ? " to many " : " to one "
            HTML.name(relationship.entity)
          }
        }
      }
    }
  }
}
