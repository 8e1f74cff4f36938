import FoundationEssentials

/// An event of a standing query, in this order: the result once, then changes, and at last the reason for its end, unless
/// the client leaves or the daemon stops.
package enum WatchEvent: Sendable, Hashable {
  case result(WatchResult)
  case changes(WatchChanges)
  /// So much changed while the client didn't read that some was left out. Ask again.
  case lagged
  /// It can't go on: the result has outgrown what a standing query may have.
  case problem(Problem)

  /// The event as it is sent.
  package func serverSentEvent() throws -> ServerSentEvent {
    switch self {
    case .result(let result): try ServerSentEvent(name: "result", json: result)
    case .changes(let changes): try ServerSentEvent(name: "changes", json: changes)
    case .lagged: ServerSentEvent(name: "lagged", data: "{}")
    case .problem(let problem): try ServerSentEvent(name: "problem", json: problem)
    }
  }

  /// The event that was sent; nil for a type that this version doesn't know, which a client passes over.
  /// - Throws: `DecodingError`.
  package init?(_ event: ServerSentEvent) throws {
    let data = Data(event.data.utf8)
    switch event.name {
    case "result": self = .result(try WireFormat.decode(WatchResult.self, from: data))
    case "changes": self = .changes(try WireFormat.decode(WatchChanges.self, from: data))
    case "lagged": self = .lagged
    case "problem": self = .problem(try WireFormat.decode(Problem.self, from: data))
    default: return nil
    }
  }
}

/// One object of a standing query.
package struct WatchRow: Codable, Sendable, Hashable {
  /// The object's number, which is its own as long as it is there.
  package var id: Int64
  /// A value for each column.
  package var values: [JSONValue]

  package init(id: Int64, values: [JSONValue]) {
    self.id = id
    self.values = values
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case id, values }
}

/// What a standing query finds when it begins.
package struct WatchResult: Codable, Sendable, Hashable {
  package var entity: String
  /// Key paths, one a column.
  package var columns: [String]
  package var rows: [WatchRow]

  package init(entity: String, columns: [String], rows: [WatchRow]) {
    self.entity = entity
    self.columns = columns
    self.rows = rows
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case entity, columns, rows }
}

/// What became of a standing query's result by one merge.
package struct WatchChanges: Codable, Sendable, Hashable {
  package enum Kind: String, Codable, Sendable, Hashable, CaseIterable { case insert, update, delete, move }

  /// One difference.
  package struct Change: Codable, Sendable, Hashable {
    package var kind: Kind
    /// Where it was before all of these changes, from 0; nil if it came.
    package var from: Int?
    /// Where it is after all of these changes, from 0; nil if it left.
    package var to: Int?
    /// The object's number.
    package var id: Int64
    /// Its values now, one a column; nil if it left.
    package var values: [JSONValue]?

    package init(kind: Kind, from: Int?, to: Int?, id: Int64, values: [JSONValue]?) {
      self.kind = kind
      self.from = from
      self.to = to
      self.id = id
      self.values = values
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case kind, from, to, id, values }
  }

  /// Take out what left or moved, the last place first; put in what came or moved, the first place first; then put the
  /// values of what was updated in their place.
  package var changes: [Change]

  package init(changes: [Change]) { self.changes = changes }

  package enum CodingKeys: String, CodingKey, CaseIterable { case changes }

  /// The rows after the changes. Rows and changes that don't belong together leave out what doesn't fit.
  package func applied(to rows: [WatchRow]) -> [WatchRow] {
    var rows = rows
    for place in changes.filter({ $0.kind != .update && $0.from != nil }).compactMap(\.from).sorted(by: >)
    where rows.indices.contains(place) {
      rows.remove(at: place)
    }
    let arriving = changes.filter { $0.kind != .update && $0.to != nil }.sorted { ($0.to ?? 0) < ($1.to ?? 0) }
    for change in arriving {
      guard let place = change.to, place >= 0, let values = change.values else { continue }
      rows.insert(WatchRow(id: change.id, values: values), at: min(place, rows.count))
    }
    for change in changes where change.kind == .update {
      guard let place = change.to, rows.indices.contains(place), let values = change.values else { continue }
      rows[place] = WatchRow(id: change.id, values: values)
    }
    return rows
  }
}
