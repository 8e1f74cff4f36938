import ControlAPI

/// The form over a table of objects: which of them, and which columns.
struct DataTableForm {
  let entity: DataEntity
  let view: DataTableView

  var form: HTML {
    HTML.element(
      "form", .other("method", "get"), .action(.objects(entity.store.name, entity.name)), .other("role", "search")
    ) {
      HTML.element("label", .other("for", "where")) { "Where" }
      HTML.void(
        "input", .id("where"), .name("where"), .other("type", "search"), .value(view.predicate),
        .other("autocomplete", "off"), .other("autocapitalize", "none"), .other("spellcheck", "false"),
        .other("aria-describedby", "where-help"))
      view.sortText.map { HTML.void("input", .other("type", "hidden"), .name("sort"), .value($0)) }
      HTML.element("button", .other("type", "submit")) { "Show" }
      HTML.element("p", .id("where-help"), .style("note")) {
        "A predicate, such as "
        HTML.command(example)
        ". Without one, all objects are shown."
      }
      HTML.element("details") {
        HTML.element("summary") { "Properties of \(entity.name)" }
        HTML.element("ul") { properties }
      }
      HTML.element("details") {
        HTML.element("summary") { "Columns" }
        HTML.element("fieldset", .style("columns")) {
          HTML.element("legend") { "Columns to show" }
          boxes
        }
        HTML.element("button", .other("type", "submit")) { "Show these columns" }
      }
    }
  }

  /// A predicate with properties that the entity has.
  private var example: String {
    let attributes = entity.entity.attributes
    let text = attributes.first { $0.type == "String" }.map { "\(DataPredicate.keyPath($0.name)) BEGINSWITH[c] 'a'" }
    let number = attributes.first { $0.isNumber }.map { "\(DataPredicate.keyPath($0.name)) > 30" }
    let parts = [text, number].compactMap { $0 }
    return parts.isEmpty ? "\(entity.numberName) > 30" : parts.joined(separator: " AND ")
  }

  /// The names that a predicate may have, with what they are.
  @HTMLBuilder
  private var properties: HTML {
    for attribute in entity.entity.attributes { property(attribute.name, attribute.type) }
    for relationship in entity.entity.relationships {
      property(relationship.name, "\(relationship.isToMany ? "to many" : "to one") \(relationship.entity)")
    }
    property(entity.numberName, "the object's number")
  }

  private func property(_ name: String, _ what: String) -> HTML {
    HTML.element("li") {
      HTML.command(name == entity.numberName ? name : DataPredicate.keyPath(name))
      " "
      HTML.element("span", .style("note")) { HTML.name(what) }
    }
  }

  @HTMLBuilder
  private var boxes: HTML {
    let shown = view.columns.isEmpty ? entity.usualColumns : view.columns
    let offered = entity.allColumns
    // Key paths that only the address says stay.
    for column in offered + shown.filter({ !offered.contains($0) }) {
      HTML.element("label") {
        HTML.void(
          "input", .other("type", "checkbox"), .name("column"), .value(column),
          shown.contains(column) ? .other("checked", "checked") : nil)
        " "
        HTML.name(column)
      }
    }
  }
}
