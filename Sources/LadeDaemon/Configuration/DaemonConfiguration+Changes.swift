extension DaemonConfiguration {
  /// The keys by which another configuration differs.
  struct Changes: Sendable, Equatable {
    /// Those that a daemon can take up while it runs.
    var now: [String] = []
    /// The lanes, recipes and schedules that are gone, which a daemon can do without while it runs.
    var removed: [String] = []
    /// The keys that take effect only at a start.
    var atStart: [String] = []
  }

  /// What is different in a new configuration.
  func changes(to new: DaemonConfiguration) -> Changes {
    func keys(_ pairs: [(Key, Bool)]) -> [String] { pairs.filter { !$0.1 }.map(\.0.rawValue) }
    var changes = Changes()
    changes.now = keys([
      (.allowedFolders, allowedFolders == new.allowedFolders), (.operators, operators == new.operators),
      (.logLevel, logLevel == new.logLevel), (.drainTimeout, drainTimeout == new.drainTimeout),
      (.rescanInterval, rescanInterval == new.rescanInterval), (.intake, intake == new.intake),
      (.timeZone, timeZone == new.timeZone), (.retry, retry == new.retry), (.keep, keep == new.keep),
      (.queries, queries == new.queries), (.saveRecipes, savesRecipes == new.savesRecipes),
    ])
    func add(_ kind: Key, _ names: (all: [String], gone: Set<String>)) {
      changes.now += names.all.filter { !names.gone.contains($0) }.map { "\(kind.rawValue).\($0)" }
      changes.removed += names.all.filter(names.gone.contains).map { "\(kind.rawValue).\($0)" }
    }
    add(.lanes, Self.names(lanes.map { ($0.name, $0) }, new.lanes.map { ($0.name, $0) }))
    add(.recipes, Self.names(recipes.map { ($0.name, $0) }, new.recipes.map { ($0.name, $0) }))
    add(.schedules, Self.names(schedules.map { ($0.name, $0) }, new.schedules.map { ($0.name, $0) }))
    // The default folder of exports moves with the state folder that it is in.
    let exportsFollow = exports == state + "/exports" && new.exports == new.state + "/exports"
    changes.atStart = keys([
      (.spool, spool == new.spool), (.state, state == new.state), (.exports, exports == new.exports || exportsFollow),
      (.socket, socket == new.socket), (.metrics, metrics == new.metrics),
      (.web, web == new.web), (.queue, queue == new.queue),
    ])
    changes.atStart += Self.names(stores.map { ($0.name, $0) }, new.stores.map { ($0.name, $0) }).all.map {
      "stores.\($0)"
    }
    return changes
  }

  /// The configuration as a daemon can work by it that was started with another one.
  func inForce(since started: DaemonConfiguration) -> DaemonConfiguration {
    var inForce = self
    inForce.spool = started.spool
    inForce.state = started.state
    inForce.exports = started.exports
    inForce.socket = started.socket
    inForce.metrics = started.metrics
    inForce.web = started.web
    inForce.stores = started.stores
    inForce.queue = started.queue
    return inForce
  }

  /// The names of added, removed and changed values, and which of them were removed.
  private static func names<Part: Equatable>(
    _ old: [(String, Part)], _ new: [(String, Part)]
  ) -> (all: [String], gone: Set<String>) {
    let before = Dictionary(old) { first, _ in first }
    let after = Dictionary(new) { first, _ in first }
    let all = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    return (all, Set(before.keys).subtracting(after.keys))
  }
}
