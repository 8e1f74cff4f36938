import ControlAPI

/// The daemon's status as text and tables.
struct StatusSheet: Sendable {
  let status: Status

  func rendered(_ terminal: Terminal) -> String {
    rendered(width: terminal.width, style: terminal.style)
  }

  func rendered(width: Int?, style: Style) -> String {
    var text = style("laded \(status.version.printable)", .bold)
    text += ", process \(status.pid), up since \(Quantity.time(status.startedAt))\n"
    text += "spool \(status.spool.printable)\n"
    if let trouble = status.spoolTrouble { text += style("spool: \(trouble.printable)", .yellow) + "\n" }
    text += "jobs  \(jobs)\n"
    for lane in status.lanes {
      if let standing = lane.standing { text += style("lane \(lane.name.printable): \(standing)", .yellow) + "\n" }
    }
    for recipe in status.recipes ?? [] {
      guard recipe.state != .fresh, let reason = recipe.reason else { continue }
      let line = "recipe \(recipe.recipe.printable) is \(recipe.state.rawValue): \(reason.printable)"
      text += style(line, .yellow) + "\n"
    }
    for set in status.sets ?? [] {
      let name = set.key.isEmpty ? "" : " " + set.key.printable
      let line =
        "recipe \(set.recipe.printable): set\(name) waits for \(set.missing.map(\.printable).joined(separator: ", "))"
        + " since \(Quantity.time(set.since))" + (set.isOverdue ? ", overdue" : "")
      text += (set.isOverdue ? style(line, .yellow) : line) + "\n"
    }
    if status.version != LadeVersion.current {
      text += style("This is ladectl \(LadeVersion.current): not the daemon's version.", .yellow) + "\n"
    }
    let contexts = status.stores.compactMap { store in store.mainContext.map { (store.name, $0) } }
    let tables =
      [lanes] + ((status.recipes ?? []).isEmpty ? [] : [recipes]) + [stores]
      + (contexts.isEmpty ? [] : [TextTable(mainContexts: contexts)])
    return text + "\n" + tables.map { $0.rendered(width: width, style: style) }.joined(separator: "\n")
  }

  private var jobs: String {
    let counts = JobState.allCases.compactMap { state in
      status.counts[state.rawValue].flatMap { $0 > 0 ? "\(Quantity.count($0)) \(state.rawValue)" : nil }
    }
    return counts.isEmpty ? "none" : counts.joined(separator: ", ")
  }

  var lanes: TextTable {
    TextTable(
      columns: [
        .init("LANE"), .init("AT ONCE", .right), .init("RUNNING", .right), .init("AVAILABLE", .right),
        .init("SCHEDULED", .right), .init("RETRYABLE", .right),
      ],
      rows: status.lanes.map { lane in
        [
          lane.cell,
          "\(lane.concurrency)", "\(lane.running)", .init(Quantity.count(lane.available)),
          .init(Quantity.count(lane.scheduled)), .init(Quantity.count(lane.retryable)),
        ]
      })
  }

  private var recipes: TextTable {
    TextTable(
      columns: [
        .init("RECIPE"), .init("STATE"), .init("LAST IMPORT"), .init("RECORDS", .right), .init("EXPECTED BY"),
      ],
      rows: (status.recipes ?? []).map { recipe in
        [
          .init(recipe.recipe), .init(recipe.state.rawValue, recipe.state == .fresh ? nil : .yellow),
          .init(recipe.lastSuccess.map { Quantity.time($0) } ?? ""),
          .init(recipe.lastRecords.map { Quantity.count($0) } ?? ""),
          .init(recipe.expectedBy.map { Quantity.time($0) } ?? ""),
        ]
      })
  }

  /// The entities of a store that are named; `ladectl store show` names all.
  private static let namedEntities = 8

  private var stores: TextTable {
    TextTable(
      columns: [.init("STORE"), .init("PATH"), .init("ENTITIES")],
      rows: status.stores.map { store in
        let others = store.entities.count - Self.namedEntities
        let entities = store.entities.prefix(Self.namedEntities).joined(separator: ", ")
        return [.init(store.name), .init(store.path), .init(others > 0 ? "\(entities) and \(others) more" : entities)]
      })
  }
}

extension LaneStatus {
  /// Its name, with what keeps its jobs from starting.
  fileprivate var cell: TextTable.Cell {
    if isPaused == true { return .init(name + ", paused", .yellow) }
    return nextStart == nil ? .init(name) : .init(name + ", rate limit", .yellow)
  }

  /// `paused by anna, 2026-03-01 12:00:05`; nil where its jobs start.
  fileprivate var standing: String? {
    if isPaused == true { return LaneStanding.paused(by: pausedBy, at: pausedAt) }
    return nextStart.map(LaneStanding.limited)
  }
}
