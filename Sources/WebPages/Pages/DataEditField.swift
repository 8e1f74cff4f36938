import ControlAPI

/// The field of one property in the form of an object.
struct DataEditField {
  let property: EditableObject.Property
  /// What was typed before; nil for what is in the store.
  var entry: DataEditForm.Entry?
  /// Why it would be refused.
  var faults: [String] = []
  /// The place among the fields, for IDs.
  let place: Int

  private var id: String { "field-\(place)" }
  private var helpID: String { "field-\(place)-help" }
  private var shown: String? { DataEditForm.text(of: property.value) }
  private var typed: String? { entry.map { DataEditForm.wanted($0, of: property) } ?? shown }

  /// Whether an empty field is a value.
  static func mayBeEmpty(_ property: EditableObject.Property) -> Bool {
    property.type == "String" && property.entity == nil
  }

  @HTMLBuilder
  var row: HTML {
    HTML.element("div", .style("field")) {
      if let refusal = property.refusal {
        HTML.element("span", .style("label")) { HTML.name(property.name) }
        HTML.element("span") {
          DataValue(property.value, of: Store.Attribute(name: property.name, type: property.type)).short
        }
        HTML.element("p", .style("note")) { "Can't be edited: \(refusal)." }
      } else {
        HTML.element("label", .style("label"), .labelOf(id)) { HTML.name(property.name) }
        Self.hidden(property, shown: shown)
        field
        noValue
        HTML.element("p", .id(helpID), .style("note")) { HTML.name(help) }
        for fault in faults {
          HTML.element("p", .id("\(id)-fault"), .style("problem")) { HTML.name(fault) }
        }
      }
    }
  }

  /// What a form sends of a property beside what is typed.
  static func hidden(_ property: EditableObject.Property, shown: String?) -> HTML {
    HTML(joining: [
      HTML.void("input", .other("type", "hidden"), .name("property"), .value(property.name)),
      shown.map { HTML.void("input", .other("type", "hidden"), .name("shown"), .value($0)) } ?? .empty,
    ])
  }

  private var invalid: Attribute? { faults.isEmpty ? nil : .other("aria-invalid", "true") }

  @HTMLBuilder
  private var field: HTML {
    if property.type == "Boolean", property.entity == nil {
      HTML.element("select", .id(id), .name("value"), .describedBy(helpID), invalid) {
        for (title, value) in choices {
          HTML.element("option", .value(value), value == (typed ?? "") ? .other("selected", "selected") : nil) { title }
        }
      }
    } else if isLong {
      HTML.textArea(
        .id(id), .name("value"), .other("rows", rows), .other("dir", "auto"), .describedBy(helpID), invalid,
        text: typed ?? "")
    } else {
      HTML.void(
        "input", .id(id), .name("value"), .other("type", "text"), .value(typed ?? ""), .other("dir", "auto"),
        .other("autocomplete", "off"), .other("spellcheck", "false"), .describedBy(helpID), invalid)
    }
  }

  private var choices: [(String, String)] {
    let words = [("true", "true"), ("false", "false")]
    return property.isOptional || shown == nil ? [("no value", "")] + words : words
  }

  /// A text has a box for no value, since an empty field is a text without characters.
  @HTMLBuilder
  private var noValue: HTML {
    if property.isOptional, Self.mayBeEmpty(property) {
      HTML.element("label") {
        HTML.void(
          "input", .other("type", "checkbox"), .name("none"), .value("true"),
          typed == nil ? .other("checked", "checked") : nil)
        " no value"
      }
    }
  }

  private var isLong: Bool {
    guard Self.mayBeEmpty(property), let text = typed else { return false }
    return text.utf8.count > 60 || text.contains("\n")
  }

  private var rows: Int { min(max((typed ?? "").utf8.count(where: { $0 == UInt8(ascii: "\n") }) + 2, 3), 20) }

  private var help: String {
    let necessity = property.isOptional ? (Self.mayBeEmpty(property) ? "" : "; empty for no value") : "; required"
    if let entity = property.entity {
      return (property.key.map { "the \($0) of the \(entity)" } ?? "the number of the \(entity)") + necessity
    }
    switch property.type {
    case "Date": return "date and time with its zone, as 2026-11-29T13:50:00+01:00; Z is UTC" + necessity
    case "Decimal": return "decimal number, kept exactly" + necessity
    case "Boolean": return "true or false" + (property.isOptional ? "" : "; required")
    default: return property.type + necessity
    }
  }
}
