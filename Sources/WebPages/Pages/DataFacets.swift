import ControlAPI
import ControlServer
import LadeTypes

/// The most frequent values of one property of a table's objects, as links that narrow it.
struct DataFacet: Sendable {
  /// How many values are shown.
  static let shown = 8

  enum Content: Sendable {
    case counted(ObjectGroups)
    /// Counting took longer than a page waits for it.
    case late
    case refused(Problem)
  }

  let keyPath: String
  let end: DataEntity.End
  let content: Content

  /// Whether objects can be counted by what a key path leads to, and the table narrowed by it.
  static func isOffered(_ end: DataEntity.End) -> Bool {
    switch end {
    case .attribute(let attribute): attribute.type == "String" || attribute.type == "Boolean" || attribute.isNumber
    case .relationship(let relationship): !relationship.isToMany
    case .count, .unknown: false
    }
  }

  /// The predicate of the objects in a group; nil where the value has no literal.
  func predicate(_ group: ObjectGroups.Group, of entity: DataEntity) -> String? {
    let path = DataPredicate.keyPath(keyPath)
    if group.value == .null, group.number == nil { return "\(path) == NIL" }
    if case .relationship(let relationship) = end {
      let other = DataEntity(relationship.entity, in: entity.store)
      return group.number.map { "\(path).\(other?.numberName ?? "objectID") == \($0)" }
    }
    switch group.value {
    case .bool(let flag): return "\(path) == \(flag ? "TRUE" : "FALSE")"
    case .int(let number): return "\(path) == \(number)"
    case .double(let number): return "\(path) == \(number)"
    case .string(let text):
      // Decimals come as texts.
      if case .attribute(let attribute) = end, attribute.isNumber { return "\(path) == \(text)" }
      return "\(path) == \(DataPredicate.literal(text))"
    case .null, .array, .object: return nil
    }
  }
}

/// The facets beside a table.
struct DataFacets {
  let entity: DataEntity
  let view: DataTableView
  let facets: [DataFacet]

  /// Those that are counted without being asked for: there are few values, as a rule.
  static func usual(_ entity: DataEntity) -> [String] {
    entity.entity.attributes.filter { $0.type == "Boolean" }.map(\.name)
      + entity.entity.relationships.filter { !$0.isToMany }.map(\.name)
  }

  private func link(_ view: DataTableView) -> PageLink { .objects(entity.store.name, entity.name, view.query) }

  private var others: [String] {
    let shown = Set(facets.map(\.keyPath))
    return entity.allColumns.filter { !shown.contains($0) && DataFacet.isOffered(entity.end(of: $0)) }
  }

  @HTMLBuilder
  var content: HTML {
    if !facets.isEmpty || !others.isEmpty {
      HTML.element("nav", .label("Narrow the table"), .style("facets")) {
        for facet in facets {
          HTML.element("div") {
            HTML.name(facet.keyPath)
            ": "
            values(of: facet)
          }
        }
        if !others.isEmpty {
          HTML.element("details") {
            HTML.element("summary") { "Count by another property" }
            for name in others {
              HTML.element("a", .link(link(view.with { $0.facets.append(name) })), .label("Count by \(name)")) {
                HTML.name(name)
              }
              " "
            }
          }
        }
      }
    }
  }

  @HTMLBuilder
  private func values(of facet: DataFacet) -> HTML {
    switch facet.content {
    case .refused(let problem):
      HTML.element("span", .style("note")) {
        HTML.name(problem.detail)
        problem.hint.map { HTML.name(" " + $0) }
      }
    case .late:
      if case .attribute(let attribute) = facet.end, attribute.type == "Boolean" {
        for value in [JSONValue.bool(true), .bool(false), .null] {
          narrowing(facet, ObjectGroups.Group(value: value, count: 0), isCounted: false)
        }
      }
      HTML.element("a", .link(link(view.with { $0.facets.append(facet.keyPath) }))) { "count them" }
      HTML.element("span", .style("note")) { " (takes longer)" }
    case .counted(let groups):
      for group in groups.groups { narrowing(facet, group, isCounted: true) }
      if groups.groups.isEmpty { HTML.element("span", .style("note")) { "no objects" } }
      if groups.hasMore { HTML.element("span", .style("note")) { "and others" } }
    }
  }

  @HTMLBuilder
  private func narrowing(_ facet: DataFacet, _ group: ObjectGroups.Group, isCounted: Bool) -> HTML {
    let title = Self.title(group)
    if let further = facet.predicate(group, of: entity) {
      HTML.element(
        "a", .link(link(view.narrowed(by: further))), .label("\(facet.keyPath): \(title)"),
        .current(view.predicate == further)
      ) { HTML.name(title) }
    } else {
      HTML.name(title)
    }
    if isCounted { HTML.element("span", .style("count")) { " \(Quantity.count(group.count))" } }
    " "
  }

  private static func title(_ group: ObjectGroups.Group) -> String {
    guard let text = DataEditForm.text(of: group.value) else { return group.number.map { "\($0)" } ?? "none" }
    if text.isEmpty { return "“”" }
    return text.count > 40 ? text.prefix(40) + "…" : text
  }
}

extension PageRoutes {
  /// How long a page waits for all facets that nobody has asked for.
  private static var patience: Duration { .milliseconds(250) }

  /// Counts what is beside a table: first what was asked for, as long as the user may; then the usual, if it is quick.
  func facets(of entity: DataEntity, _ view: DataTableView, by peer: Peer) async throws -> [DataFacet] {
    var facets: [DataFacet] = []
    for name in view.facets {
      let end = entity.end(of: name)
      do {
        facets.append(DataFacet(keyPath: name, end: end, content: .counted(try await groups(entity, view, name, peer))))
      } catch let error as ControlError {
        facets.append(DataFacet(keyPath: name, end: end, content: .refused(error.problem)))
      }
    }
    let deadline = ContinuousClock.now + Self.patience
    for name in DataFacets.usual(entity) where !view.facets.contains(name) {
      var content = DataFacet.Content.late
      do {
        if let found = try await before(deadline, { try await groups(entity, view, name, peer) }) {
          content = .counted(found)
        }
      } catch let error as ControlError {
        content = .refused(error.problem)
      }
      facets.append(DataFacet(keyPath: name, end: entity.end(of: name), content: content))
    }
    return facets
  }

  private func groups(
    _ entity: DataEntity, _ view: DataTableView, _ name: String, _ peer: Peer
  ) async throws -> ObjectGroups {
    try await backend.groups(
      GroupQuery(
        entity: entity.name, store: entity.store.name, predicate: view.predicate.isEmpty ? nil : view.predicate,
        by: name, limit: DataFacet.shown),
      by: peer)
  }

  /// What `body` returns, if it does so in time; otherwise it is cancelled, and ends at its next statement.
  private func before<T: Sendable>(
    _ deadline: ContinuousClock.Instant, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T? {
    guard ContinuousClock.now < deadline else { return nil }
    return try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(until: deadline, clock: .continuous)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next().flatMap { $0 }
    }
  }
}
