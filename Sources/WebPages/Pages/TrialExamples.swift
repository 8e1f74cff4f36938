import ControlAPI
import LadeTypes

/// Some of the objects that an import would insert or change, as they would be stored.
struct TrialExamples {
  let examples: [RecipeTestExample]

  @HTMLBuilder
  var html: HTML {
    let inserted = examples.filter { $0.change == .inserted }
    let updated = examples.filter { $0.change == .updated }
    if !inserted.isEmpty {
      HTML.element("h2") { "What would be inserted, for example" }
      HTML.table(
        "Objects that would be inserted", columns: ["Object", "Property", "Value"].map(HTML.column),
        rows: rows(inserted) { value in HTML.element("td") { Self.value(value.new) } })
    }
    if !updated.isEmpty {
      HTML.element("h2") { "What would be changed, for example" }
      HTML.table(
        "Objects that would be changed", columns: ["Object", "Property", "Before", "After"].map(HTML.column),
        rows: rows(updated) { value in
          HTML.element("td") { Self.value(value.old) }
          HTML.element("td") { Self.value(value.new) }
        })
    }
  }

  /// A row for each value.
  private func rows(
    _ examples: [RecipeTestExample], @HTMLBuilder _ cells: (RecipeTestExample.Value) -> HTML
  ) -> [HTML] {
    examples.flatMap { example in
      example.values.map { value in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) {
            HTML.name(example.entity)
            if let key = example.key {
              " "
              HTML.name(key)
            }
          }
          HTML.element("td") { HTML.name(value.property) }
          cells(value)
        }
      }
    }
  }

  private static func value(_ text: String?) -> HTML { text.map { HTML.name($0) } ?? HTML("–") }
}
