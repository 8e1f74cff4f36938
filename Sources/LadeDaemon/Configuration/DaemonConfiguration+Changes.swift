extension DaemonConfiguration {
  /// The keys by which another configuration differs.
  struct Changes: Sendable, Equatable {
    /// Those that a daemon can take up while it runs.
    var now: [String] = []
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
    ])
    changes.now += Self.names(lanes.map { ($0.name, $0) }, new.lanes.map { ($0.name, $0) }).map { "lanes.\($0)" }
    changes.now += Self.names(recipes.map { ($0.name, $0) }, new.recipes.map { ($0.name, $0) }).map { "recipes.\($0)" }
    changes.now += Self.names(schedules.map { ($0.name, $0) }, new.schedules.map { ($0.name, $0) })
      .map { "schedules.\($0)" }
    // The default folder of exports moves with the state folder that it is in.
    let exportsFollow = exports == state + "/exports" && new.exports == new.state + "/exports"
    changes.atStart = keys([
      (.spool, spool == new.spool), (.state, state == new.state), (.exports, exports == new.exports || exportsFollow),
      (.socket, socket == new.socket), (.metrics, metrics == new.metrics),
    ])
    changes.atStart += Self.names(stores.map { ($0.name, $0) }, new.stores.map { ($0.name, $0) }).map { "stores.\($0)" }
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
    inForce.stores = started.stores
    return inForce
  }

  /// The names of added, removed and changed values.
  private static func names<Part: Equatable>(_ old: [(String, Part)], _ new: [(String, Part)]) -> [String] {
    let before = Dictionary(old) { first, _ in first }
    let after = Dictionary(new) { first, _ in first }
    return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
  }
}
