import ControlAPI

/// The form by which an object is changed, or a new one made.
struct DataEditPage {
  /// What came of sending it.
  enum Outcome: Sendable {
    case none
    case checked(EditCheck)
    case nothing
    case refused(Problem)
    /// Somebody else has changed the object.
    case conflict
  }

  let object: EditableObject
  let isReadOnly: Bool
  var form: DataEditForm?
  var outcome = Outcome.none

  private var action: PageLink {
    object.object.map { .editObject(object.store, object.entity, $0) } ?? .newObject(object.store, object.entity)
  }

  private var back: PageLink {
    object.object.map { .object(object.store, object.entity, $0) } ?? .objects(object.store, object.entity)
  }

  private var title: String {
    object.object.map { "Edit \(object.entity) \($0)" } ?? "New \(object.entity)"
  }

  var page: Page {
    Page(title, .data) {
      HTML.element("p") {
        HTML.element("a", .link(.data)) { "Data" }
        ", store "
        HTML.name(object.store)
        ", "
        HTML.element("a", .link(.objects(object.store, object.entity))) { HTML.name(object.entity) }
        if let number = object.object {
          ", "
          HTML.element("a", .link(back)) { "\(number)" }
        }
      }
      if isReadOnly {
        HTML.element("p") { "The pages are read-only." }
      } else if let refusal = object.refusal {
        HTML.mistake(refusal)
      } else if case .conflict = outcome {
        DataConflict(object: object, form: form, action: action, back: back).content
      } else {
        result
        fields
      }
    }
  }

  // MARK: What came of it

  @HTMLBuilder
  private var result: HTML {
    switch outcome {
    case .none, .conflict: HTML.empty
    case .nothing: HTML.element("p", .other("role", "status")) { "Nothing was changed in the form." }
    case .refused(let problem): HTML.mistake(problem)
    case .checked(let check): checked(check)
    }
  }

  @HTMLBuilder
  private func checked(_ check: EditCheck) -> HTML {
    if check.faults.isEmpty {
      HTML.element("p", .other("role", "status")) { "It can be saved so. Nothing was written yet." }
    } else {
      HTML.element("div", .other("role", "alert"), .style("problem")) {
        HTML.element("p") { "It can't be saved so." }
        HTML.element("ul") {
          for fault in check.faults { HTML.element("li") { HTML.name(fault.reason) } }
        }
      }
    }
  }

  private func faults(of property: String) -> [String] {
    guard case .checked(let check) = outcome else { return [] }
    return check.faults.filter { $0.property == property }.prefix(1).map(\.reason)
  }

  // MARK: The form

  private var fields: HTML {
    HTML.element("form", .other("method", "post"), .action(action), .style("object")) {
      object.version.map { HTML.void("input", .other("type", "hidden"), .name("version"), .value($0)) }
      for (place, property) in object.properties.enumerated() {
        DataEditField(
          property: property, entry: form?.entry(property.name), faults: faults(of: property.name), place: place
        ).row
      }
      HTML.element("div", .style("buttons")) {
        for action in DataEditForm.Action.allCases {
          HTML.element(
            "button", .other("type", "submit"), .name("do"), .value(action.rawValue),
            action == .save ? .style("main") : nil
          ) { action.title }
        }
        HTML.button("Cancel", back)
      }
      HTML.element("p", .style("note")) {
        "A check writes nothing. Saving is a job of the kind "
        HTML.command("edit")
        ", which changes the object only if it is still as it is shown here. Relationships to many objects are changed at "
        "their other end."
      }
    }
  }
}

/// What was shown, what was typed, and what is in the store now, with a choice for each.
struct DataConflict {
  let object: EditableObject
  let form: DataEditForm?
  let action: PageLink
  let back: PageLink

  /// A property that was changed by either.
  private struct Line {
    let property: EditableObject.Property
    let shown: String?
    let mine: String?
    let theirs: String?

    var isMine: Bool { mine != shown }
    var isTheirs: Bool { theirs != shown }
  }

  private var lines: [Line] {
    object.properties.compactMap { property in
      guard property.refusal == nil, let entry = form?.entry(property.name) else { return nil }
      let line = Line(
        property: property, shown: entry.shown, mine: DataEditForm.wanted(entry, of: property),
        theirs: DataEditForm.text(of: property.value))
      return line.isMine || line.isTheirs ? line : nil
    }
  }

  @HTMLBuilder
  var content: HTML {
    HTML.element("div", .id("conflict"), .other("role", "alert"), .style("problem")) {
      HTML.element("p") { "It has changed since it was shown to you, so nothing was saved." }
      HTML.element("p", .style("note")) {
        "Choose for each value what is to be saved. Where it came from is on the "
        HTML.element("a", .link(back)) { "object's page" }
        "."
      }
    }
    HTML.element("form", .other("method", "post"), .action(action)) {
      object.version.map { HTML.void("input", .other("type", "hidden"), .name("version"), .value($0)) }
      HTML.table(
        "What differs", columns: ["Property", "As shown", "Mine", "In the store now", "Save"].map(HTML.column),
        rows: lines.enumerated().map { row($1, $0) })
      HTML.element("button", .other("type", "submit"), .name("do"), .value("check")) { "Check" }
      HTML.element("button", .other("type", "submit"), .name("do"), .value("save"), .style("main")) { "Save" }
      HTML.button("Leave it as it is now", back)
    }
  }

  private func row(_ line: Line, _ place: Int) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row"), .id("conflict-\(place)")) { HTML.name(line.property.name) }
      for value in [line.shown, line.mine, line.theirs] {
        HTML.element("td", .style("whole")) { value.map { HTML.name($0) } ?? HTML("–") }
      }
      HTML.element("td") {
        DataEditField.hidden(line.property, shown: line.theirs)
        HTML.void("input", .other("type", "hidden"), .name("value"), .value(line.mine ?? ""))
        if line.mine == nil { HTML.void("input", .other("type", "hidden"), .name("none"), .value("true")) }
        HTML.element("select", .name("take"), .label("What is saved as \(line.property.name)")) {
          // What only they have changed stays theirs unless somebody says otherwise.
          HTML.element("option", .value("mine"), line.isMine ? .other("selected", "selected") : nil) { "mine" }
          HTML.element("option", .value("theirs"), line.isMine ? nil : .other("selected", "selected")) {
            "what is in the store"
          }
        }
      }
    }
  }
}
