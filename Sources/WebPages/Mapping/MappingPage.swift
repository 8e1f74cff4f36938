import ControlAPI
import ControlServer
import LadeTypes

/// The mapping editor: columns of a file beside the properties of an entity, what an import by that would do, and the recipe
/// that says it.
struct MappingPage {
  /// A try takes the store's turn to write, so it is short.
  static let triedRecords = 200
  static let shownRows = 8

  let upload: Upload
  let stores: [Store]
  var form: MappingForm
  /// What becomes of the mapping beside trying it.
  let uses: MappingUses
  /// The file's columns; where they can't be read, what the model says of the entity. Nil before one was chosen.
  var columns: FileColumns?
  var trial: RecipeTestResult?
  /// Why the file wasn't tried, or the recipe not saved.
  var mistake: Problem?
  /// The name of the field that is at fault.
  var faultyField: String?
  /// The recipe that the mapping began with can't be read any more, and why.
  var formerRecipe: Problem?

  /// The recipe, as a configuration says it.
  var text: String?

  var page: Page {
    Page("Map \(upload.name)", .upload, script: columns == nil ? nil : .mapping) {
      HTML.element("p") { HTML.element("a", .link(.upload(upload.id))) { "Back to the file" } }
      HTML.element("section", .label("Entity")) { choice }
      if let columns {
        MappingFormView(
          upload: upload, form: form, columns: columns, uses: uses,
          fault: faultyField.flatMap { field in mistake.map { (field, $0.detail) } }
        ).view
      } else if let mistake {
        HTML.mistake(mistake)
      }
      if let columns {
        HTML.element("section", .id("preview"), .label("Preview")) { preview(columns) }
      }
    }
  }

  private var choice: HTML {
    HTML.element("form", .other("method", "get"), .action(.mapUpload(upload.id))) {
      HTML.element("label", .other("for", "into")) { "Records become" }
      HTML.element("select", .id("into"), .name("into")) {
        for store in stores {
          for entity in store.entities where !entity.isAbstract {
            let into = "\(store.name)/\(entity.name)"
            HTML.element("option", .value(into), into == form.into ? .other("selected", "selected") : nil) {
              stores.count > 1 ? "\(entity.name) in \(store.name)" : entity.name
            }
          }
        }
      }
      HTML.element("button", .other("type", "submit")) { columns == nil ? "Map the columns" : "Begin again" }
    }
  }

  // MARK: The preview

  @HTMLBuilder
  private func preview(_ columns: FileColumns) -> HTML {
    HTML.element("h2") { "Preview" }
    if let faultyField {
      HTML.element("p", .id("fault"), .style("problem")) {
        "Look at the field "
        HTML.name(MappingForm.title(ofField: faultyField))
        "."
      }
    }
    if let mistake { HTML.mistake(mistake) }
    if let formerRecipe {
      HTML.element("p", .id("former"), .style("problem")) {
        "The mapping began with the recipe "
        HTML.name(form.recipe ?? "")
        ", which can't be read any more: "
        HTML.name(formerRecipe.detail)
        " What the form says stays as it is."
      }
    }
    if let failure = columns.failure ?? trial?.failure {
      HTML.element("p", .other("role", "alert"), .style("problem")) { HTML.name(failure) }
    }
    gaps(columns)
    if let trial {
      HTML.element("p", .style("note")) {
        "What an import would do" + (trial.isWhole ? "" : " with the beginning") + ". Nothing is written."
      }
      UploadPage.figures(trial)
      if let rows = trial.rows { table(of: rows, columns) }
      UploadPage.rejects(trial.rejects)
      for note in trial.notes { HTML.element("p") { HTML.name(note) } }
    }
    recipe
  }

  /// What is left over on either side.
  @HTMLBuilder
  private func gaps(_ columns: FileColumns) -> HTML {
    let (missing, unused) = (form.missing(columns), form.unused(columns))
    if !missing.isEmpty {
      HTML.element("p", .style("problem")) {
        "Required, and without a column: "
        Self.names(missing)
      }
    }
    if !unused.isEmpty {
      HTML.element("p") {
        "Columns that nothing takes: "
        Self.names(unused)
      }
    }
    for property in form.unavoidable(columns) {
      HTML.element("p", .style("problem")) {
        HTML.name(property.name)
        " takes the column of its name, which another takes, too: give it another column, or a constant."
      }
    }
    if !form.unshown.isEmpty {
      HTML.element("p", form.keepsUnshown ? nil : .style("problem")) {
        form.keepsUnshown
          ? "The recipe also says what has no field here, and keeps it: "
          : "The recipe says what can't be changed here, and what is made here leaves out: "
        Self.names(form.unshown)
      }
    }
  }

  @HTMLBuilder
  private static func names(_ names: [String]) -> HTML {
    for (place, name) in names.enumerated() {
      if place > 0 { ", " }
      HTML.name(name)
    }
  }

  private func table(of first: ObjectPage, _ columns: FileColumns) -> HTML {
    let types = Dictionary(columns.properties.map { ($0.name, $0.type ?? $0.entity ?? "") }) { first, _ in first }
    return HTML.table(
      "The first records as they would be stored",
      columns: first.columns.map { name in
        HTML.element("th", .other("scope", "col")) {
          HTML.name(name)
          " "
          HTML.element("span", .style("note")) { HTML.name(types[name] ?? "") }
        }
      },
      rows: first.rows.map { row in
        HTML.element("tr") {
          for value in row { HTML.element("td") { Self.value(value) } }
        }
      })
  }

  private static func value(_ value: JSONValue) -> HTML {
    switch value {
    case .null: HTML.element("span", .style("note")) { "null" }
    case .bool(let flag): HTML(flag ? "true" : "false")
    case .int(let number): HTML(String(number))
    case .double(let number): HTML(String(number))
    case .string(let text): HTML.name(text.count > 200 ? text.prefix(200) + "…" : text[...])
    case .array, .object: HTML("…")
    }
  }

  @HTMLBuilder
  private var recipe: HTML {
    if let text {
      HTML.element("h2") { "Recipe" }
      HTML.element(
        "pre", .id("recipe"), .other("tabindex", "0"), .other("role", "group"), .label("The recipe")
      ) { HTML(text) }
      HTML.element("p") {
        HTML.element("a", .link(.recipeFile(upload.id, form.query))) { "Download it" }
        " as a file for "
        HTML.command("lade.yaml.d")
        "."
      }
    }
  }
}
