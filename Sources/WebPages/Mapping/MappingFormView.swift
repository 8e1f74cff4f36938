import ControlAPI
import LadeTypes

/// The form of the mapping editor.
struct MappingFormView {
  let upload: Upload
  let form: MappingForm
  let columns: FileColumns
  let uses: MappingUses
  /// The field at fault, and what is wrong with it.
  let fault: (field: String, reason: String)?

  var view: HTML {
    HTML.element("form", .mapping, .other("method", "get"), .action(.mapUpload(upload.id))) {
      HTML.void("input", .other("type", "hidden"), .name("into"), .value(form.into))
      form.recipe.map { HTML.void("input", .other("type", "hidden"), .name("recipe"), .value($0)) }
      HTML.void("input", .other("type", "hidden"), .name("sent"), .value("1"))
      if !columns.properties.isEmpty {
        properties
        manyColumns
      }
      part("How objects are found and made", MappingField.records)
      part("How the file is read", MappingField.reading)
      file
      HTML.element("button", .other("type", "submit"), .style("main")) { "Preview" }
      if uses.saves { saving }
      if uses.imports { importing }
      note
    }
  }

  // MARK: Properties

  /// Columns that each property can be chosen from. A file may have thousands, which then stand in the page once.
  private static let mostChoices = 200

  @HTMLBuilder
  private var manyColumns: HTML {
    if columns.columns.count > Self.mostChoices {
      HTML.element("datalist", .id("columns")) {
        for column in columns.columns { HTML.void("option", .value(column.name)) }
      }
    }
  }

  private var properties: HTML {
    HTML.table(
      "Properties of \(columns.entity) and their columns",
      columns: ["Property", "Type", "Column", "More"].map(HTML.column),
      rows: columns.properties.map { property in
        HTML.element("tr") {
          HTML.element("th", .other("scope", "row")) { HTML.name(property.name) }
          HTML.element("td") { kind(of: property) }
          HTML.element("td") { column(of: property) }
          HTML.element("td") { more(of: property) }
        }
      })
  }

  @HTMLBuilder
  private func kind(of property: FileColumns.Property) -> HTML {
    if let entity = property.entity {
      property.isToMany ? "to many " : "to one "
      HTML.name(entity)
    } else {
      property.type ?? ""
    }
    if !property.isOptional { HTML.element("span", .style("note")) { ", required" } }
    if let value = property.defaultValue {
      HTML.element("span", .style("note")) {
        ", else "
        HTML.name(value)
      }
    }
    if columns.constraints.contains(where: { $0.contains(property.name) }) {
      HTML.element("span", .style("note")) { ", key" }
    }
  }

  private func column(of property: FileColumns.Property) -> HTML {
    let chosen = form.text("column", of: property.name)
    let names = columns.columns.map(\.name)
    guard names.count <= Self.mostChoices else {
      return HTML.void(
        "input", .field("\(property.name):column"), .label("Column of \(property.name)"), .value(chosen),
        .list("columns"))
    }
    return HTML.element(
      "select", .field("\(property.name):column"), .label("Column of \(property.name)")
    ) {
      HTML.element("option", .value("")) { "none" }
      for name in names + (chosen.isEmpty || names.contains(chosen) ? [] : [chosen]) {
        HTML.element("option", .value(name), name == chosen ? .other("selected", "selected") : nil) { name }
      }
    }
  }

  private func more(of property: FileColumns.Property) -> HTML {
    let isUsed = property.fields.contains {
      !form.text($0.key, of: property.name).isEmpty || fault?.field == "\(property.name):\($0.key)"
    }
    return HTML.element("details", isUsed ? .other("open", "open") : nil) {
      HTML.element("summary", .label("More about \(property.name)")) { "More" }
      HTML.element("div", .style("fields")) {
        for field in property.fields {
          input(field, "\(property.name):\(field.key)", label: "\(field.title) of \(property.name)")
        }
      }
    }
  }

  // MARK: Other fields

  private func part(_ title: String, _ fields: [MappingField]) -> HTML {
    let isUsed = fields.contains { !form.text($0.key).isEmpty || fault?.field == $0.key }
    return HTML.element("details", isUsed ? .other("open", "open") : nil) {
      HTML.element("summary") { title }
      HTML.element("div", .style("fields")) {
        for field in fields { input(field, field.key) }
      }
    }
  }

  /// - Parameter label: for who doesn't see what it stands beside.
  private func input(_ field: MappingField, _ name: String, label: String? = nil) -> HTML {
    let words: [(value: String, title: String)]? =
      switch field.kind {
      case .choice(let words): words.map { ($0, $0) }
      case .flag: [("true", "yes"), ("false", "no")]
      case .text, .number, .words, .replacements: nil
      }
    let text = form.text(name)
    let fault = fault?.field == name ? fault?.reason : nil
    return HTML.element("label") {
      HTML.element("span") { field.title }
      if let fault { HTML.element("span", .style("problem")) { HTML.name(fault) } }
      if let words {
        HTML.element(
          "select", .field(name), label.map { .label($0) }, fault.map { _ in .other("aria-invalid", "true") }
        ) {
          HTML.element("option", .value("")) { "as usual" }
          for word in words {
            HTML.element("option", .value(word.value), word.value == text ? .other("selected", "selected") : nil) {
              word.title
            }
          }
        }
      } else {
        HTML.void(
          "input", .field(name), label.map { .label($0) }, fault.map { _ in .other("aria-invalid", "true") },
          .value(text), .example(field.example),
          .other("autocomplete", "off"), .other("autocapitalize", "none"), .other("spellcheck", "false"))
      }
    }
  }

  // MARK: The file, and saving

  private var file: HTML {
    HTML.element("details") {
      HTML.element("summary") { "Columns of the file, with their first values" }
      HTML.element("dl") {
        for column in columns.columns {
          HTML.fact(column.name, HTML(joining: [HTML.name(column.values.joined(separator: " · "))]))
        }
      }
      HTML.element("p", .style("note")) {
        "Format: \(columns.format ?? "unknown")."
        for note in columns.notes { HTML.name(" \(note).") }
      }
    }
  }

  private var saving: HTML {
    HTML.element("p") {
      HTML.element("label", .other("for", "name")) { "Name of the recipe " }
      HTML.void(
        "input", .id("name"), .name("name"), .value(form.name), .other("autocomplete", "off"),
        .other("autocapitalize", "none"), .other("spellcheck", "false"))
      " "
      HTML.element(
        "button", .other("type", "submit"), .other("formmethod", "post"), .formAction(.mapUpload(upload.id))
      ) { "Save it" }
    }
  }

  private var importing: HTML {
    HTML.element("p") {
      HTML.element(
        "button", .other("type", "submit"), .other("formmethod", "post"), .formAction(.importMapped(upload.id))
      ) { "Import it with this mapping" }
    }
  }

  /// What else can be done with the mapping.
  @HTMLBuilder
  private var note: HTML {
    switch uses.obstacle {
    case nil: HTML.empty
    case .readOnly:
      HTML.element("p", .style("note")) {
        "The pages are read-only, so nothing is saved or imported here. Download the recipe, and put it into the "
        "configuration to use it."
      }
    case .notConfigured:
      HTML.element("p", .style("note")) {
        "To use the mapping for other files, copy the recipe into the configuration. With "
        HTML.command("save_recipes: true")
        " there, operators can save it here."
      }
    case .notOperator:
      HTML.element("p", .style("note")) {
        "Only operators save recipes. To use the mapping for other files, give one of them the recipe."
      }
    }
  }
}

/// What becomes of a mapping.
struct MappingUses: Sendable {
  /// What keeps it from being saved as a recipe.
  enum Obstacle: Sendable { case readOnly, notConfigured, notOperator }

  let obstacle: Obstacle?

  /// Whether it can be saved as a recipe.
  var saves: Bool { obstacle == nil }
  /// Whether its file can be imported by it.
  var imports: Bool { obstacle != .readOnly }
}
