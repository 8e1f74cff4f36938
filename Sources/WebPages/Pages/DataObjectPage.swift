import ControlAPI
import LadeTypes

/// One object: its values, its relations, and where it comes from.
struct DataObjectPage {
  let entity: DataEntity
  let number: Int64
  var values = DataRows()
  /// How many objects the to-many relationships lead to; without rows where that couldn't be counted.
  var numbers = DataRows()
  /// What was recorded of it, the oldest first.
  var steps: [OriginStep] = []
  /// Why its origin can't be shown.
  var unknownOrigin: Problem?
  /// Whether it is changed and deleted from here.
  var mayEdit = false

  init(entity: DataEntity, number: Int64) {
    self.entity = entity
    self.number = number
  }

  private var store: String { entity.store.name }

  /// What is asked for first.
  var columns: [String] {
    let references = entity.entity.relationships.filter { !$0.isToMany }.map(\.name)
    return [entity.numberName] + entity.entity.attributes.map(\.name) + references
      + references.compactMap(entity.numberColumn(of:))
  }

  /// What is asked for then.
  var counts: [String] { entity.entity.relationships.filter(\.isToMany).map { $0.name + ".@count" } }

  func query(_ columns: [String]) -> ObjectQuery {
    ObjectQuery(
      entity: entity.name, store: store, predicate: entity.predicate(of: number), limit: 1, columns: columns)
  }

  var page: Page {
    Page("\(entity.name) \(number)", .data) {
      HTML.element("p") {
        HTML.element("a", .link(.data)) { "Data" }
        ", store "
        HTML.name(store)
        ", "
        HTML.element("a", .link(.objects(store, entity.name))) { HTML.name(entity.name) }
      }
      if mayEdit {
        HTML.element("div", .style("buttons")) {
          HTML.button("Edit", .editObject(store, entity.name, number))
          HTML.button("Delete", .deleteObject(store, entity.name, number))
        }
      }
      HTML.element("section", .label("Attributes")) { attributes }
      HTML.element("section", .label("Relationships")) { relationships }
      HTML.element("section", .label("Origin")) { origin }
    }
  }

  @HTMLBuilder
  private var attributes: HTML {
    HTML.element("h2") { "Attributes" }
    if entity.entity.attributes.isEmpty {
      HTML.element("p") { "It has none." }
    } else {
      HTML.table(
        "Attributes of \(entity.name) \(number)", columns: ["Attribute", "Value", "Type"].map(HTML.column),
        rows: entity.entity.attributes.map { attribute in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(attribute.name) }
            HTML.element("td", .style("whole")) {
              DataValue(values.value(attribute.name, ofRow: 0), of: attribute).whole
            }
            HTML.element("td", .style("note")) { HTML.name(attribute.type) }
          }
        })
    }
  }

  @HTMLBuilder
  private var relationships: HTML {
    HTML.element("h2") { "Relationships" }
    let rows = relationshipRows
    if rows.isEmpty {
      HTML.element("p") { "It has none." }
    } else {
      HTML.table(
        "Relationships of \(entity.name) \(number)",
        columns: ["Relationship", "Leads to", "Entity"].map(HTML.column), rows: rows)
    }
  }

  private var relationshipRows: [HTML] {
    let own = entity.entity.relationships.map { relationship in
      row(relationship.name, relationship.entity, relationship.isToMany ? many(relationship) : one(relationship))
    }
    let others = entity.oneWayReferences.map { reference in
      row(
        "\(reference.relationship.name) of \(reference.entity)", reference.entity,
        objects(
          of: reference.entity, entity.predicate(of: reference.relationship, to: number),
          title: "those that refer to it"))
    }
    return own + others
  }

  private func row(_ name: String, _ entity: String, _ content: HTML) -> HTML {
    HTML.element("tr") {
      HTML.element("th", .other("scope", "row")) { HTML.name(name) }
      HTML.element("td") { content }
      HTML.element("td", .style("note")) { HTML.name(entity) }
    }
  }

  private func one(_ relationship: Store.Relationship) -> HTML {
    let value = values.value(relationship.name, ofRow: 0)
    guard let column = entity.numberColumn(of: relationship.name), let other = values.number(column, ofRow: 0) else {
      return DataValue(value).short
    }
    return HTML.element("a", .link(.object(store, relationship.entity, other))) {
      value == .null ? HTML("\(other)") : DataValue(value).short
    }
  }

  /// The other objects as a table, where a relationship leads back; otherwise how many there are.
  private func many(_ relationship: Store.Relationship) -> HTML {
    let count = numbers.number(relationship.name + ".@count", ofRow: 0)
    let title = count.map { Quantity.count($0, "object") }
    guard count != 0, let predicate = entity.predicate(ofInverse: relationship, to: number) else {
      return HTML(title ?? "–")
    }
    return objects(of: relationship.entity, predicate, title: title ?? "all of them")
  }

  private func objects(of entity: String, _ predicate: String, title: String) -> HTML {
    var view = DataTableView()
    view.predicate = predicate
    return HTML.element("a", .link(.objects(store, entity, view.query))) { title }
  }

  @HTMLBuilder
  private var origin: HTML {
    HTML.element("h2") { "Where it comes from" }
    if let unknownOrigin {
      HTML.element("p", .style("problem")) { HTML.name(unknownOrigin.detail) }
    } else if steps.isEmpty {
      HTML.element("p") {
        "Nothing was recorded. A recipe, or the user info of an entity, that says "
        HTML.command("lineage: true")
        " has recorded from then on which job and which line of which file objects come from."
      }
    } else {
      HTML.element("ol", .style("timeline")) {
        for step in steps { HTML.element("li") { DataOriginStep(step: step).content } }
      }
    }
  }
}

/// What one job did to an object, in words.
struct DataOriginStep {
  let step: OriginStep

  @HTMLBuilder
  var content: HTML {
    HTML.element("strong") { HTML.name(step.event) }
    " by job "
    HTML.job(step.job)
    HTML.element("span", .style("note")) {
      " "
      HTML.name(step.kind)
      if let recipe = step.recipe {
        ", recipe "
        HTML.name(recipe)
      }
    }
    if let file = step.file {
      ", of "
      HTML.name(file)
      if let member = step.member {
        ", member "
        HTML.name(member)
      }
      if let line = step.line { ", line \(line)" }
      if let byte = step.byte { ", byte \(byte)" }
      if let record = step.record { ", record \(record)" }
    }
    ", submitted by "
    HTML.name(step.submittedBy)
    " "
    HTML.time(step.submittedAt)
    if let ended = step.endedAt {
      ", ended "
      HTML.time(ended)
    }
    if let other = step.undoes {
      ", to undo job "
      HTML.job(other)
    }
    if let other = step.undoneBy {
      ", undone by job "
      HTML.job(other)
    }
    if let digest = step.sha256 {
      HTML.element("div", .style("note")) {
        "SHA-256 "
        HTML.name(digest)
      }
    }
  }
}
