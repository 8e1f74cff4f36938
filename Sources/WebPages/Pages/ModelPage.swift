import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// The model of a store, as a diagram.
  func addModelPages(to router: Router<ControlContext>) {
    page(router, "/model/{store}") { visit in
      try visit.query().refuseNames(otherThan: [])
      let store = try await backend.store(visit.name("store"), StoreCountQuery(counts: false))
      return .page(ModelPage(store: store).page)
    }
    page(router, "/model/{store}/versions") { visit in
      let query = try ModelVersionQuery(visit.query())
      return .page(ModelVersionsPage(versions: try await backend.modelVersions(of: visit.name("store"), query)).page)
    }
  }
}

/// The entities of a store's model and their relationships: drawn, and as a list for who doesn't see the drawing.
struct ModelPage {
  let store: Store

  var page: Page {
    Page("Model of \(store.name)", .data) {
      HTML.element("p") {
        HTML.element("a", .link(.data)) { "Data" }
        " of "
        HTML.name(store.path)
        ", by the model "
        HTML.name(store.model)
        "; "
        HTML.element("a", .link(.modelVersions(store.name))) { "its versions" }
      }
      if store.entities.isEmpty {
        HTML.element("p") { "The model has no entity." }
      } else {
        HTML.element(
          "div", .style("scroll"), .other("role", "group"), .other("tabindex", "0"), .label("Diagram of the model")
        ) { ModelDiagram(store: store).svg }
        HTML.element("section", .label("Relationships")) { relationships }
      }
    }
  }

  @HTMLBuilder
  private var relationships: HTML {
    HTML.element("h2") { "Relationships" }
    let all = store.entities.flatMap { entity in entity.relationships.map { (entity: entity, relationship: $0) } }
    if all.isEmpty {
      HTML.element("p") { "None." }
    } else {
      HTML.table(
        "Relationships", columns: ["Entity", "Relationship", "Leads to", "Back by"].map(HTML.column),
        rows: all.map { entity, relationship in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) {
              HTML.element("a", .link(.objects(store.name, entity.name))) { HTML.name(entity.name) }
            }
            HTML.element("td") { HTML.name(relationship.name) }
            HTML.element("td") {
              relationship.isToMany ? "many " : "one "
              HTML.name(relationship.entity)
            }
            HTML.element("td") { HTML.name(relationship.inverse ?? "–") }
          }
        })
    }
  }
}

/// Boxes for entities in columns, by how many relationships lie between them and the entity that has most, and a line for
/// each relationship and its inverse.
struct ModelDiagram {
  private static let width = 210
  private static let lineHeight = 18
  private static let gap = (x: 90, y: 30)
  private static let mostAttributes = 12
  /// Names are cut, for text in a drawing doesn't wrap.
  private static let longestName = 26

  private struct Box {
    let entity: Store.Entity
    var x = 0
    var y = 0
    let lines: [String]

    var height: Int { ModelDiagram.lineHeight * (lines.count + 1) + 12 }
    var middle: Int { y + height / 2 }
  }

  private let store: Store
  private var boxes: [String: Box] = [:]
  private var size = (width: 0, height: 0)

  init(store: Store) {
    self.store = store
    for entity in store.entities {
      var lines = entity.attributes.prefix(Self.mostAttributes).map { "\($0.name): \($0.type)" }
      if entity.attributes.count > Self.mostAttributes {
        lines.append("and \(entity.attributes.count - Self.mostAttributes) others")
      }
      boxes[entity.name] = Box(entity: entity, lines: lines)
    }
    place()
  }

  /// Puts the entities of each column below each other, those first whose neighbours in the column before are.
  private mutating func place() {
    var x = 10
    for column in columns() {
      var y = 10
      for name in column {
        boxes[name]?.x = x
        boxes[name]?.y = y
        y += (boxes[name]?.height ?? 0) + Self.gap.y
        size.height = max(size.height, y)
      }
      x += Self.width + Self.gap.x
    }
    size.width = x
  }

  /// The names by their distance from the entity with most relationships, then from that of the rest, and so on.
  private func columns() -> [[String]] {
    let neighbours = self.neighbours
    var columns: [[String]] = []
    var rest = store.entities.map(\.name).sorted { first, second in
      let counts = (neighbours[first, default: []].count, neighbours[second, default: []].count)
      return counts.0 == counts.1 ? first < second : counts.0 > counts.1
    }
    while !rest.isEmpty {
      var level = [rest.removeFirst()]
      var distance = 0
      while !level.isEmpty {
        if distance < columns.count { columns[distance] += level } else { columns.append(level) }
        distance += 1
        var next: [String] = []
        for name in level {
          for other in neighbours[name, default: []] where rest.contains(other) && !next.contains(other) {
            next.append(other)
          }
        }
        rest.removeAll { next.contains($0) }
        level = next
      }
    }
    return columns
  }

  private var neighbours: [String: [String]] {
    var found: [String: [String]] = [:]
    for entity in store.entities {
      for relationship in entity.relationships where relationship.entity != entity.name {
        if !found[entity.name, default: []].contains(relationship.entity) {
          found[entity.name, default: []].append(relationship.entity)
        }
        if !found[relationship.entity, default: []].contains(entity.name) {
          found[relationship.entity, default: []].append(entity.name)
        }
      }
    }
    return found
  }

  /// The drawing.
  var svg: HTML {
    HTML.element(
      "svg", .style("diagram"), .other("role", "img"),
      .label("The model of \(store.name), drawn. The table below says it in words."),
      .other("width", size.width), .other("height", size.height)
    ) {
      for entity in store.entities {
        for relationship in entity.relationships where isDrawn(relationship, of: entity) {
          line(relationship, of: entity)
        }
      }
      for entity in store.entities { boxes[entity.name].map(drawn) }
    }
  }

  /// A relationship and its inverse are one line.
  private func isDrawn(_ relationship: Store.Relationship, of entity: Store.Entity) -> Bool {
    guard relationship.inverse != nil, relationship.entity != entity.name else {
      return relationship.entity != entity.name
    }
    return entity.name < relationship.entity
  }

  @HTMLBuilder
  private func line(_ relationship: Store.Relationship, of entity: Store.Entity) -> HTML {
    if let from = boxes[entity.name], let to = boxes[relationship.entity] {
      let isForward = from.x <= to.x
      let start = isForward && from.x != to.x ? from.x + Self.width : from.x
      let end = from.x == to.x ? to.x : (isForward ? to.x : to.x + Self.width)
      HTML.element(
        "line", .other("x1", start), .other("y1", from.middle), .other("x2", end), .other("y2", to.middle)
      ) { HTML.element("title") { "\(entity.name).\(relationship.name)" } }
      if relationship.isToMany {
        HTML.element("circle", .other("cx", end), .other("cy", to.middle), .other("r", 5)) { HTML.empty }
      }
      if leadsBackToMany(relationship) {
        HTML.element("circle", .other("cx", start), .other("cy", from.middle), .other("r", 5)) { HTML.empty }
      }
    }
  }

  private func leadsBackToMany(_ relationship: Store.Relationship) -> Bool {
    store.entities.first { $0.name == relationship.entity }?
      .relationships.contains { $0.name == relationship.inverse && $0.isToMany } ?? false
  }

  private func drawn(_ box: Box) -> HTML {
    HTML.element("g") {
      HTML.element("title") { box.entity.name }
      HTML.element(
        "rect", .other("x", box.x), .other("y", box.y), .other("width", Self.width), .other("height", box.height),
        .other("rx", 4)
      ) { HTML.empty }
      HTML.element(
        "text", .style("entity"), .other("x", box.x + 10), .other("y", box.y + Self.lineHeight)
      ) { Self.cut(box.entity.name) }
      for (place, line) in box.lines.enumerated() {
        HTML.element("text", .other("x", box.x + 10), .other("y", box.y + Self.lineHeight * (place + 2))) {
          Self.cut(line)
        }
      }
    }
  }

  private static func cut(_ text: String) -> String {
    text.count > longestName ? text.prefix(longestName - 1) + "…" : text
  }
}
