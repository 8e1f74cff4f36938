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
        .other("aria-describedby", "where-help"), .other("list", "where-words"))
      DataWords(entity: entity).list
      if !view.facets.isEmpty {
        HTML.void("input", .other("type", "hidden"), .name("facet"), .value(view.facets.joined(separator: ",")))
      }
      view.sortText.map { HTML.void("input", .other("type", "hidden"), .name("sort"), .value($0)) }
      HTML.element("button", .other("type", "submit")) { "Show" }
      HTML.element("p", .id("where-help"), .style("note")) {
        "A predicate, such as "
        HTML.command(DataWords(entity: entity).example)
        ". Without one, all objects are shown."
      }
      HTML.element("details") {
        HTML.element("summary") { "Properties of \(entity.name)" }
        DataWords(entity: entity).properties
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
