import ControlAPI
import LadeTypes

/// The question before an object is deleted, with what goes along.
struct DataDeletePage {
  let object: EditableObject
  let check: EditCheck
  let isReadOnly: Bool
  var mistake: Problem?
  /// Whether somebody else has changed the object since it was shown.
  var isConflict = false

  private var back: PageLink {
    object.object.map { .object(object.store, object.entity, $0) } ?? .objects(object.store, object.entity)
  }

  var page: Page {
    Page("Delete \(object.entity) \(object.object ?? 0)?", .data) {
      mistake.map { HTML.mistake($0) }
      if isConflict || check.isStale {
        HTML.element("p", .id("conflict"), .other("role", "alert"), .style("problem")) {
          "It has changed since it was shown to you, so it wasn't deleted. This is how it is now."
        }
        values
      }
      if !check.isStale { consequences }
      if isReadOnly {
        HTML.element("p") { "The pages are read-only." }
      } else if let refusal = object.refusal {
        HTML.mistake(refusal)
      } else if check.faults.isEmpty, !check.isStale, let number = object.object {
        HTML.element(
          "form", .other("method", "post"), .action(.deleteObject(object.store, object.entity, number)),
          .style("buttons")
        ) {
          object.version.map { HTML.void("input", .other("type", "hidden"), .name("version"), .value($0)) }
          HTML.element("button", .other("type", "submit"), .style("main")) { "Delete it" }
          HTML.button("Leave it", back)
        }
      }
    }
  }

  private var values: HTML {
    HTML.element("dl") {
      for property in object.properties {
        HTML.fact(property.name, DataEditForm.text(of: property.value).map { HTML.name($0) } ?? HTML("–"))
      }
    }
  }

  @HTMLBuilder
  private var consequences: HTML {
    if let most = check.moreThan {
      HTML.element("p", .style("problem")) {
        "By the model's delete rules, more than \(Quantity.count(most)) other objects are deleted or changed."
      }
      HTML.element("p", .style("note")) { "What it does is recorded, and can be undone as a job." }
    } else if check.faults.isEmpty {
      HTML.element("p") { "By the model's delete rules, this becomes of objects:" }
      HTML.element("ul") {
        for extent in check.extent {
          if extent.deleted > 0 {
            HTML.element("li") {
              "\(Quantity.count(extent.deleted)) deleted of "
              HTML.name(extent.entity)
            }
          }
          if extent.changed > 0 {
            HTML.element("li") {
              "\(Quantity.count(extent.changed)) changed of "
              HTML.name(extent.entity)
            }
          }
        }
      }
      HTML.element("p", .style("note")) { "What it does is recorded, and can be undone as a job." }
    } else {
      HTML.element("div", .other("role", "alert"), .style("problem")) {
        HTML.element("p") { "It can't be deleted." }
        HTML.element("ul") {
          for fault in check.faults { HTML.element("li") { HTML.name(fault.reason) } }
        }
      }
    }
  }
}
